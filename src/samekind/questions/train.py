"""Training: a plan carried out in a folder, by the house recipe or one of a paper."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind import recipes
from samekind.data import Items, Sets
from samekind.decisions import Ladder
from samekind.encoders.wrapping import network_of
from samekind.errors import SettingError
from samekind.measures.catalogue import write_epoch
from samekind.questions.choices import choices_in_words
from samekind.questions.evaluate import cautions
from samekind.questions.training_items import Tell, ignored, open_items
from samekind.recipes.plans import Plan, because_few, chosen_in_words
from samekind.settings import write
from samekind.space import MetricSpace
from samekind.training import Part, Run, RunFolder, Watcher
from samekind.training.estimate import in_words, seconds_of_training
from samekind.training.health import verdict
from samekind.training.own_encoder import GIVEN

#: The recipe that measures what training gives.
HOUSE = "house"

#: A training that takes so many seconds is announced before it begins.
WORTH_SAYING = 60

#: The watcher of a training, by its title and a note to show before the first step.
Watched = Callable[[str, str], Watcher | None]


@dataclass(frozen=True)
class BestEpoch:
    """The epoch that was kept: its entry in the record, its validation in words, and whether it is the last
    one and better than all before, so that more epochs may help.
    """

    entry: Mapping[str, Any]
    validation: str
    is_last_and_best: bool

    @property
    def number(self) -> int:
        return int(self.entry["epoch"])


@dataclass(frozen=True)
class TrainingAnswer:
    """The result of a training: its recipe, the numbers of items and classes, its folder and its measures.
    ``classes`` are those that the space knows. ``ladder`` is that of the house recipe, ``trouble`` what went
    wrong, ``choices`` the sentences about kinds of score.
    """

    recipe: str
    epochs: int
    items: int
    trained_classes: int
    folder: Path
    saved: Path
    best: BestEpoch | None
    ladder: Ladder | None
    trouble: str | None
    choices: tuple[str, ...]
    classes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "folder": str(self.folder),
            "space": str(self.saved),
            "best": None if self.best is None else self.best.entry,
            **({} if self.ladder is None else {"ladder": write(self.ladder)}),
            "classes": self.classes,
        }


@dataclass(frozen=True)
class TrainingReports:
    """Callbacks of a training: ``warn`` gets warnings, ``tell`` a line about each rung of the house recipe,
    ``watched`` makes a watcher.
    """

    warn: Tell = ignored
    tell: Tell = ignored
    watched: Watched = lambda _title, _note: None


def train(
    plan: Plan,
    folder: Path | None = None,
    *,
    start: Path | None = None,
    minutes: float | None = None,
    point: str = "eer",
    device: str = "auto",
    reports: TrainingReports | None = None,
) -> TrainingAnswer:
    """Carry out a plan in a folder, by default that of its recipe in ``runs``. The same call goes on where it
    was stopped. ``start`` is the folder of a space whose weights a paper's recipe starts from; ``minutes`` is
    the time of the house recipe.
    """
    _expect_together(plan, minutes=minutes, start=start)
    reports = reports or TrainingReports()
    items = open_items(plan, warn=reports.warn)
    space, encoder = _start(start, plan.recipe, items)
    seed = plan.run(items, encoder=encoder).seed
    place = RunFolder(folder or Path("runs") / plan.recipe)
    with place.lock():
        sets = plan.sets(place, items, seed=seed)
        for sentence in cautions(sets):
            reports.warn(f"careful: {sentence}")
        if plan.recipe == HOUSE:
            run = plan.run(sets.train)
            space = recipes.climb(
                sets,
                run=run,
                folder=place.path,
                device=device,
                point=point,
                minutes=minutes,
                watcher=reports.watched(HOUSE, ""),
                tell=reports.tell,
            )
        else:
            planned = plan.run(sets.train, encoder=encoder)
            run = plan.suited(planned, items, items=len(sets.train), encoder=encoder)
            watcher = reports.watched(run.recipe, because_few(chosen_in_words(planned, run)))
            if (time := _time_of(run, sets, place, device=device)) is not None:
                reports.warn(time)
            space = recipes.fit(
                run, sets, folder=place.path, device=device, point=point, start=space, watcher=watcher
            )
    return _answer(place, sets, space, run)


def _expect_together(plan: Plan, *, minutes: float | None, start: Path | None) -> None:
    """Raises SettingError for options that do not go together."""
    if plan.recipe != HOUSE and minutes is not None:
        raise SettingError(f"--minutes is for the house recipe; {plan.recipe} trains for its epochs")
    if plan.recipe == HOUSE and start is not None:
        raise SettingError("--from goes on with the training of a paper's recipe; name that recipe")


def _start(folder: Path | None, recipe: str, items: Items) -> tuple[MetricSpace | None, Part | None]:
    """The space that training starts from, and the encoder for its weights, however many items there are now.

    The encoder is that of the run of the space, if it has the same recipe. For a space without its run it is
    the recipe's own, if the space has such a network. None otherwise: then the new run decides.
    """
    if folder is None:
        return None, None
    space, run = RunFolder(folder).space(), RunFolder.around(folder).run()
    if run is not None:
        usable = run.recipe == recipe and run.space.encoder.name != GIVEN
        return space, run.space.encoder if usable else None
    own: Part = recipes.RECIPES[recipe](items).space.encoder
    return space, own if own.name == type(network_of(space.encoder)).__name__ else None


def _time_of(run: Run, sets: Sets, folder: RunFolder, *, device: str) -> str | None:
    """About how long a new training will take, if that is more than a minute."""
    if folder.last.exists() or not len(sets.train):
        return None
    seconds = seconds_of_training(run, sets.train, device=device)
    if seconds < WORTH_SAYING:
        return None
    return (
        f"{run.epochs} epochs of {len(sets.train):,} items, about {in_words(seconds)} here; without a "
        "recipe, samekind train --data DATA has a first answer when it has looked at every item once"
    )


def _answer(folder: RunFolder, sets: Sets, space: MetricSpace, run: Run) -> TrainingAnswer:
    lines, on_ladder = folder.record.lines(), space.ladder is not None
    return TrainingAnswer(
        recipe=run.recipe,
        epochs=run.epochs,
        items=len(sets.train),
        trained_classes=len(sets.train.classes),
        folder=folder.path,
        saved=folder.space_folder(),
        best=_best_epoch(run, lines),
        ladder=space.ladder,
        trouble=None if on_ladder else verdict(run, lines),
        choices=choices_in_words(space),
        classes=tuple(space.classes),
    )


def _best_epoch(run: Run, lines: Sequence[Mapping[str, Any]]) -> BestEpoch | None:
    """The last entry of a record that was the best so far; None where no epoch was validated."""
    entry = next((line for line in reversed(lines) if line["best"]), None)
    if entry is None:
        return None
    value = entry["validation"][run.watch]
    # Of equal epochs the last is taken: that is no sign that more of them help.
    before = [line["validation"][run.watch] for line in lines if line["epoch"] < run.epochs]
    perfect = 0 if run.direction == "lower" else 1
    rising = entry["epoch"] == run.epochs and value not in (*before, perfect)
    return BestEpoch(entry, write_epoch(run.watch, value), rising)
