"""An open space whose messages are printed."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING

from samekind.cli.output import print_messages

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.questions.opening import OpenRun, OpenSpace

TRAINING_ITEMS = (
    "careful: {data} holds this space's training items; results on them are too good. samekind evaluate "
    "without --data uses the test items of the run"
)


def open_space(folder: Path, device: str) -> "OpenSpace":
    """The space in a folder, or in that of its run; skipped files are named on the standard error."""
    from samekind.questions import opening

    return opening.open_space(folder, device, report_skipped=_name_skipped)


def changed_space(folder: Path, device: str, out: Path | None = None) -> AbstractContextManager["OpenSpace"]:
    """The space in a folder, to be changed and then saved, to ``out`` or where it was."""
    from samekind.questions import changing

    return changing.changed_space(folder, device, out=out, report_skipped=_name_skipped)


def open_run(folder: Path, device: str) -> "OpenRun":
    """The run of a folder; skipped files are named on the standard error."""
    from samekind.questions import opening

    return opening.open_run(folder, device, report_skipped=_name_skipped)


def _name_skipped(skipped: Sequence[tuple[str, str]]) -> None:
    reasons = "; ".join(" ".join(why.split()) for _, why in skipped)
    print_messages(f"skipped {len(skipped)}: {reasons}")


def warn_of_training_items(opened: "OpenSpace", sources: Sequence[str]) -> None:
    """Name the sources that the space was trained on: a figure about them is too good."""
    if seen := opened.trained_on(sources):
        print_messages(TRAINING_ITEMS.format(data=", ".join(seen)))


def items_to_attack(
    opened: "OpenSpace", data: str | None, *, label: str | None, skip_unreadable: bool
) -> "Items":
    """Items whose class is known; without data the test items of the run."""
    if data is None:
        return opened.test_items()
    warn_of_training_items(opened, [data])
    return opened.read_labelled(data, label=label, skip_unreadable=skip_unreadable)
