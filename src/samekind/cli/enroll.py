"""samekind enroll: a new class from a few examples."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, SkipUnreadable, SpaceFolder
from samekind.cli.output import print_messages, print_text, render
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import changed_space
from samekind.errors import SettingError

if TYPE_CHECKING:
    from samekind.questions.enroll import Enrolled, EnrolledClasses

Name = Annotated[str | None, Argument(metavar="NAME", help="The name of the class.")]
Files = Annotated[
    list[str] | None, Argument(metavar="FILES…", help="Its examples: files, folders or tables.")
]
Out = Annotated[Path | None, Option(help="Save the space here.", show_default="the same folder")]
Under = Annotated[
    str | None,
    Option(
        "--under",
        metavar="NODE",
        help="The node of the tree that the class stands under.",
        show_default="above the classes most like it",
    ),
]
Classes = Annotated[
    str | None,
    Option(
        "--classes",
        metavar="DATA",
        help="Add every class of these items instead: a folder of class folders, or a table with labels.",
        show_default="one class",
    ),
]


def enroll(
    space: SpaceFolder,
    name: Name = None,
    files: Files = None,
    out: Out = None,
    replace: Annotated[bool, Option("--replace", help="Replace a known class.")] = False,
    remove: Annotated[bool, Option("--remove", help="Remove the class instead.")] = False,
    under: Under = None,
    classes: Classes = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Add a class to a space from a few examples, or with --classes many; nothing is trained and no other
    class changes.
    """
    from samekind.questions.enroll import enroll, enroll_classes, remove_class, spelt_name

    _check_options(name, files, classes, replace=replace, remove=remove, under=under)
    answer: Enrolled | EnrolledClasses
    with changed_space(space, device, out) as opened:
        folder, name = out or opened.space_folder, name or ""
        if remove:
            answer = remove_class(opened.space, name)
        elif classes is not None:
            items = opened.read([classes], skip_unreadable=skip_unreadable)
            answer = enroll_classes(opened.space, items, replace=replace, progress=bar)
        else:
            spelt_name(opened.space, name, replace=replace)  # a mistake is reported before anything is read
            items = opened.read(files or [], skip_unreadable=skip_unreadable)
            answer = enroll(opened.space, name, items, replace=replace, under=under, progress=bar)
    render({"space": folder, **answer.to_json()}, lambda: _print(answer, folder), as_json=as_json)


def _check_options(
    name: str | None,
    files: list[str] | None,
    classes: str | None,
    *,
    replace: bool,
    remove: bool,
    under: str | None,
) -> None:
    if classes is not None:
        if name is not None or remove or under:
            raise SettingError(
                "--classes names the classes itself: leave out the name, the files, --remove and --under"
            )
        return
    if name is None:
        raise SettingError("name the class and give a few examples of it, or many classes by --classes DATA")
    if remove and (files or replace or under):
        raise SettingError("--remove forgets a class: give its name, no files, no --replace and no --under")
    if not remove and not files:
        raise SettingError(f'to enrol "{name}" give a few examples of it: files, folders or tables')


def _print(answer: "Enrolled | EnrolledClasses", folder: Path) -> None:
    from samekind.questions.enroll import Enrolled
    from samekind.questions.unheard import about_unheard

    if isinstance(answer, Enrolled):
        count = answer.examples
        source = "" if answer.done == "removed" else f" from {count:,} example{'s' if count != 1 else ''}"
        done, known = f'The class "{answer.name}" is {answer.done}{source}', len(answer.classes)
    else:
        replaced = f", {len(answer.replaced):,} of them known before" if answer.replaced else ""
        done, known = f"{len(answer.examples):,} classes are enrolled{replaced}", answer.classes
    print_text(f"{done}; the space in {folder} knows {known:,}.")
    if isinstance(answer, Enrolled) and answer.under is not None:
        print_text(f'In the tree it stands under "{answer.under}".')
    if isinstance(answer, Enrolled) and answer.several is not None:
        print_messages(f"careful: {answer.several}")
    if nothing := about_unheard(answer.unheard):
        print_messages(f"careful: {nothing}")
    if answer.stale is not None:
        print_messages(f"careful: {answer.stale}: samekind calibrate {folder} DATA --open-set")
