"""samekind enroll: a new class from a few examples."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from samekind.cli.options import AsJson, Device, SkipUnreadable, SpaceFolder
from samekind.errors import SettingError, SpaceError

if TYPE_CHECKING:
    from samekind.space import MetricSpace

STALE = (
    'the threshold for none of these was fitted before the class "{name}" was {done}, on {trials}{why}; '
    "fit it again: samekind calibrate {folder} DATA --open-set"
)
ONCE_UNKNOWN = (
    "; it was made to turn away the unknown items there, those of this class too if it was among them"
)
MOST_NAMED = 5
SEVERAL = 'its examples carry several labels ({labels}), and all of them are now the class "{name}"'


def enroll(
    name: Annotated[str, typer.Argument(metavar="NAME", help="What the class is called.")],
    space: SpaceFolder,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="FILES…", help="Its examples: files, folders or tables.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="Save the space here.", show_default="where it came from")
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Let the examples take the place of a known class.")
    ] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Forget the class instead.")] = False,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Add a class to a space from a few examples; nothing is trained and no other class changes."""
    from samekind.cli.asking import collected, embedded, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.output import messages, print_json, print_text
    from samekind.data.words import spelt_as
    from samekind.questions.changing import changing
    from samekind.training import RunFolder

    _check_asked(name, files, replace=replace, remove=remove)
    folder = out or RunFolder(space).space_folder()
    with changing(folder) as save:
        loaded = open_space(space, device)
        [name] = spelt_as([name], loaded.classes)
        known, examples = name in loaded.classes, 0
        warnings = []
        if known and not replace and not remove:
            # Known before anything is read, and in the words of the command.
            raise SpaceError(
                f'the class "{name}" is already there; ask to replace it (--replace), or choose another name'
            )
        if remove:
            loaded.remove(name)
        else:
            columns = columns_of(space)
            items = collected(loaded, files or [], skip_unreadable=skip_unreadable, columns=columns)
            examples = len(items.ids)
            warnings += _several(name, items.labels)
            loaded.enroll(name, embedded(loaded, items.inputs, title="enrol"), replace=replace)
        save(loaded)
    done = "removed" if remove else "replaced" if known else "added"
    warnings += _stale(loaded, name, done, folder)
    if as_json:
        answer = {"space": str(folder), "class": name, "done": done, "examples": examples}
        print_json(answer | {"classes": loaded.classes, "warning": "; ".join(warnings) or None})
        return
    source = "" if remove else f" from {examples:,} example{'s' if examples != 1 else ''}"
    print_text(f'The class "{name}" is {done}{source}; the space in {folder} knows {len(loaded.classes)}.')
    for warning in warnings:
        messages().print(f"careful: {warning}", soft_wrap=True)


def _check_asked(name: str, files: list[str] | None, *, replace: bool, remove: bool) -> None:
    """Refuse what cannot be done to any space."""
    if remove and (files or replace):
        raise SettingError("--remove forgets a class: give its name, no files and no --replace")
    if not remove and not files:
        raise SettingError(f'to enrol "{name}" give a few examples of it: files, folders or tables')
    if not name.strip():
        raise SettingError("a class needs a name; got an empty one")


def _several(name: str, labels: Sequence[str | None]) -> list[str]:
    """What examples of more than one label make; nothing where they have one, or none."""
    counts = Counter(each for each in labels if each is not None).most_common()
    if len(counts) < 2:
        return []
    named = [f"{label} {count:,}" for label, count in counts[:MOST_NAMED]]
    named += [f"{len(counts) - MOST_NAMED} more"] if len(counts) > MOST_NAMED else []
    return [SEVERAL.format(labels=", ".join(named), name=name)]


def _stale(space: "MetricSpace", name: str, done: str, folder: Path) -> list[str]:
    """What a threshold for none of these is worth after its classes changed; nothing where there is none.

    Which classes were the strangers of the fit is not stored, so every change of the classes is told.
    """
    if space.open_set is None:
        return []
    why = ONCE_UNKNOWN if done == "added" else ""
    return [STALE.format(name=name, done=done, trials=space.open_set.trials, why=why, folder=folder)]
