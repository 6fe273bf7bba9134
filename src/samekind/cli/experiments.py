"""What the commands share about experiments: data looked at before it is used, and the folders of runs."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import DataError, SettingError, SpaceError

if TYPE_CHECKING:
    from samekind.cli.plans import Plan
    from samekind.data import DataSettings, Items, Sets, Split, SplitSettings
    from samekind.space import MetricSpace
    from samekind.training import Part

#: Below this many bytes nobody needs to be told what the items take.
WORTH_SAYING = 64 * 2**20

KNOWS = (
    "careful: {data} holds the items this space was trained on, and those it knows better than any others: "
    "of new ones expect less; samekind evaluate asks about the test items of the run"
)
UNFINISHED = (
    "{folder} holds a training that has not ended: {done} of {epochs} epochs are done; the same samekind "
    "train command goes on with it"
)

BEGUN_OTHERWISE = (
    "{folder} holds a training that was stopped, on other items than it would go on with: the data have "
    "changed, or it was begun when groups were dealt to the parts in another way; choose another folder, or "
    "remove this one to begin anew"
)


def open_items(plan: "Plan") -> "Items":
    """The items of a plan. What they take in memory, what was left out and what looks wrong is said on the
    standard error; what makes training pointless is refused.
    """
    from samekind.cli.output import messages
    from samekind.data import open_data
    from samekind.data.problems import problems_of

    def say(sentence: str) -> None:
        messages().print(sentence, soft_wrap=True)

    _say_size(plan, say)
    items = open_data(plan.source, settings=plan.data)
    problems = problems_of(items)
    errors = [each.sentence for each in problems if each.severity == "error"]
    if errors:
        raise DataError(f"{items.name}: {'; '.join(errors)}")
    for sentence in [*items.notes, *(each.sentence for each in problems)]:
        say(f"{items.name}: {sentence}")
    return items


def as_begun(plan: "Plan", folder: Path, items: "Items") -> "Plan":
    """The plan, split as the run in the folder was where the plan leaves that open: before groups were kept
    together items were split at random, and such a run goes on so.
    """
    from dataclasses import replace

    from samekind.data import prepare

    if "by" in plan.split or items.groups is None or items.parts is not None:
        return plan
    at_random = replace(plan, split={**plan.split, "by": "random"})
    known, begun = _read_data(folder), begun_split(folder, items)
    if known is not None or (begun is not None and begun.settings is not None):
        settings = known["split"] if known is not None else begun and begun.settings
        return at_random if settings and settings.get("by") == "random" else plan
    trained = _trained_on(folder)
    if trained is None:
        return plan
    # A training that was stopped before splits were written says what it trains on, and not how it was split.
    sets = prepare(items, at_random.splitting(items, seed=plan.run(items.shape).seed))
    return at_random if trained == sets.train.fingerprint() else plan


def begin_folder(folder: Path, plan: "Plan", items: "Items", *, seed: int) -> "Sets":
    """The sets of a run, as its folder has them if it is begun; the folder of a run on others is refused."""
    from samekind.data import DataSettings, divide, prepare

    split = plan.splitting(items, seed=seed)
    known = _read_data(folder)
    if known is not None:  # a setting that came after the run was made has its default there
        known = {**known, "data": DataSettings.from_dict(known["data"]).to_dict()}
    begun = begun_split(folder, items)
    another = begun is not None and begun.settings not in (None, split.to_dict())
    if another or (known is not None and known != _data(plan, split)):
        raise SettingError(f"{folder} holds a run on other data or another split; choose another folder")
    # A split that does not say how it was made is of a run from before, and counts where that is done.
    if begun is not None and (known is not None or begun.settings is not None):
        return divide(items, begun)
    sets = prepare(items, split)
    # Items that have changed are the training's to refuse.
    if (
        begun is None
        and items.groups is not None
        and _trained_on(folder) not in (None, sets.train.fingerprint())
    ):
        raise SettingError(BEGUN_OTHERWISE.format(folder=folder))
    return sets


def begun_split(folder: Path, items: "Items") -> "Split | None":
    """The split of the run that was begun in a folder; None where there is none, or of other items."""
    from samekind.data import Split

    if not ((folder / "last.pt").is_file() or (folder / "data.json").is_file()):
        return None  # what a command left that was refused
    try:
        return Split.load(folder / "split.json", items)
    except DataError:
        return None


def _trained_on(folder: Path) -> str | None:
    """The fingerprint of the items that a training in a folder goes on with, where there is one."""
    from samekind.training.checkpoints import load_checkpoint

    path = folder / "last.pt"
    return str(load_checkpoint(path)["data"]) if path.is_file() else None


def finish_folder(folder: Path, plan: "Plan", items: "Items", *, seed: int) -> None:
    """Write down what a run that is done was trained on, so that it can be tested.

    Not before: a command that is refused leaves nothing that would stand in the way of the next.
    """
    from samekind import storage

    content = _data(plan, plan.splitting(items, seed=seed))
    storage.write_text(folder / "data.json", json.dumps(content, indent=2) + "\n")


def sets_of(folder: Path) -> "Sets":
    """The sets a run was trained and is to be tested on, as its folder says."""
    from samekind.data import DataSettings, Split, divide, open_data

    known = _read_data(folder)
    if known is None:
        _refuse_unfinished(folder)
        raise SpaceError(
            f"{folder} is not the folder of a finished run: it has no data.json; samekind train makes one"
        )
    try:
        items = open_data(known["source"], settings=DataSettings.from_dict(known["data"]))
    except DataError as error:
        raise DataError(f"the data that {folder} was trained on cannot be opened: {error}") from error
    return divide(items, Split.load(folder / "split.json", items))


def trained_on(folder: Path, source: str) -> bool:
    """Whether a source is the whole data, training items and all, of the run that a folder, or a space in it,
    is of; False for a space alone.
    """
    known = _read_data(_run_of(folder))
    if known is None:
        return False
    return known["source"] == source or Path(known["source"]).resolve() == Path(source).resolve()


def say_trained_on(folder: Path, sources: Sequence[str]) -> None:
    """Say on the standard error which of the sources were trained on, where a figure is told of them."""
    from samekind.cli.output import messages

    if seen := [each for each in sources if trained_on(folder, each)]:
        messages().print(KNOWS.format(data=", ".join(seen)), soft_wrap=True)


def read_of(folder: Path) -> "DataSettings":
    """How the data of the run was read that a folder, or a space in it, is of; the usual way for a space
    alone.
    """
    from samekind.data import DataSettings

    run = _run_of(folder)
    known = _read_data(run) if (run / "run.json").is_file() else None
    return DataSettings() if known is None else DataSettings.from_dict(known["data"])


def encoder_of(folder: Path, space: "MetricSpace", *, recipe: str, shape: Sequence[int]) -> "Part | None":
    """The encoder of a trained space, for a run of this recipe that begins with its weights: as the run it
    is of says, if that is one of the recipe too; of a space alone the recipe's own, if that is what it has.
    """
    from samekind import recipes
    from samekind.encoders import Standardised
    from samekind.errors import SamekindError
    from samekind.training import Run
    from samekind.training.own_encoder import GIVEN

    try:
        run = Run.from_dict(json.loads((_run_of(folder) / "run.json").read_text(encoding="utf-8")))
    except (OSError, ValueError, SamekindError):  # a space alone, or damaged: it is there all the same
        own: Part = recipes.RECIPES[recipe](shape).space.encoder
        network = space.encoder.encoder if isinstance(space.encoder, Standardised) else space.encoder
        return own if own.name == type(network).__name__ else None
    return run.space.encoder if run.recipe == recipe and run.space.encoder.name != GIVEN else None


def space_folder(folder: Path) -> Path:
    """The folder of the space itself, given it or the folder of its run; one whose last save was cut short
    is there again. The folder of a training that has not ended is refused.
    """
    if (found := _space_in(folder)) is not None:
        return found
    _refuse_unfinished(folder)
    return folder


def _space_in(folder: Path) -> Path | None:
    """The folder of the space in that of its run."""
    from samekind import storage

    inside = folder / "space"
    storage.recover_folder(inside)
    return inside if (inside / "space.json").is_file() else None


def _refuse_unfinished(folder: Path) -> None:
    """Refuse a folder in which a training was stopped, or is at work: its space comes when it ends."""
    from samekind.training import Record

    if not (folder / "run.json").is_file() or (folder / "space.json").is_file() or _space_in(folder):
        return
    try:
        epochs = int(json.loads((folder / "run.json").read_text(encoding="utf-8"))["epochs"])
    except (OSError, ValueError, TypeError, KeyError):
        return  # not one of ours, or damaged
    done = max((int(each.get("epoch", 0)) for each in Record(folder / "record.jsonl").lines()), default=0)
    raise SpaceError(UNFINISHED.format(folder=folder, done=done, epochs=epochs))


def _run_of(folder: Path) -> Path:
    """The folder of the run that a space lies in; any other folder as it is."""
    run = folder.resolve()
    return run.parent if run == _space_in(run.parent) and (run.parent / "run.json").is_file() else run


def _say_size(plan: "Plan", say: Any) -> None:
    """Tell what pictures will take in memory, before they are decoded; and which of two data is meant."""
    from samekind.data import memory_needed
    from samekind.data.sources import NAMED

    if plan.source in NAMED:
        if Path(plan.source).exists():
            say(f'"{plan.source}" is the data of that name; for the one in this folder say ./{plan.source}')
        return
    needed = memory_needed(plan.source, settings=plan.data)
    if needed < WORTH_SAYING:
        return
    kept = plan.data.memory == "always" or (plan.data.memory == "auto" and needed <= plan.data.memory_limit)
    size = f"{needed / 2**20:,.0f} MiB"
    if kept:
        say(f"decoding into memory: {size}")
        return
    otherwise = ", or once onto a GPU that has room for them; --set data.memory=always keeps them in memory"
    say(
        f"{size} once decoded: the pictures stay on the disk and are decoded anew in every epoch"
        f"{'' if plan.data.memory == 'never' else otherwise}"
    )


def _data(plan: "Plan", split: "SplitSettings") -> dict[str, Any]:
    return {"source": plan.source, "data": plan.data.to_dict(), "split": split.to_dict()}


def _read_data(folder: Path) -> dict[str, Any] | None:
    """What ``data.json`` says, or nothing where there is none."""
    path = folder / "data.json"
    if not path.is_file():
        return None
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise SpaceError(
            f"{path} is damaged ({error}); restore it or train again in another folder"
        ) from error
    kinds = {"source": str, "data": dict, "split": dict}
    if not isinstance(content, dict) or not all(
        isinstance(content.get(name), kind) for name, kind in kinds.items()
    ):
        raise SpaceError(f"{path} was not written by this samekind; choose another folder")
    return content
