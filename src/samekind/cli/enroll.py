"""samekind enroll: a new class from a few examples."""

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
    from samekind.cli.changing import changing
    from samekind.cli.experiments import space_folder
    from samekind.cli.output import messages, print_json, print_text

    if remove and (files or replace):
        raise SettingError("--remove forgets a class: give its name, no files and no --replace")
    if not remove and not files:
        raise SettingError(f'to enrol "{name}" give a few examples of it: files, folders or tables')
    if not name.strip():
        raise SettingError("a class needs a name; got an empty one")
    folder = out or space_folder(space)
    with changing(folder) as save:
        loaded = open_space(space, device)
        known, examples = name in loaded.classes, 0
        if known and not replace and not remove:
            # Known before anything is read, and in the words of the command.
            raise SpaceError(
                f'the class "{name}" is already there; ask to replace it (--replace), or choose another name'
            )
        if remove:
            loaded.remove(name)
        else:
            items = collected(loaded, files or [], skip_unreadable=skip_unreadable)
            examples = len(items.ids)
            loaded.enroll(name, embedded(loaded, items.inputs, title="enrol"), replace=replace)
        save(loaded)
    done = "removed" if remove else "replaced" if known else "added"
    warning = _warning(loaded, name, done, folder)
    if as_json:
        answer = {"space": str(folder), "class": name, "done": done, "examples": examples}
        print_json(answer | {"classes": loaded.classes, "warning": warning})
        return
    source = "" if remove else f" from {examples:,} example{'s' if examples != 1 else ''}"
    print_text(f'The class "{name}" is {done}{source}; the space in {folder} knows {len(loaded.classes)}.')
    if warning is not None:
        messages().print(f"careful: {warning}", soft_wrap=True)


def _warning(space: "MetricSpace", name: str, done: str, folder: Path) -> str | None:
    """What a threshold for none of these is worth after its classes changed; nothing where there is none.

    Which classes were the strangers of the fit is not stored, so every change of the classes is told.
    """
    if space.open_set is None:
        return None
    why = ONCE_UNKNOWN if done == "added" else ""
    return STALE.format(name=name, done=done, trials=space.open_set.trials, why=why, folder=folder)
