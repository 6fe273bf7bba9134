"""Opening the items of an experiment, with warnings about them."""

from pathlib import Path
from typing import TYPE_CHECKING

from samekind.cli.output import print_messages
from samekind.errors import DataError, SettingError

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.recipes.plans import Plan

#: Bytes of items from which their size is printed.
WORTH_SAYING = 64 * 2**20


def open_items(plan: "Plan") -> "Items":
    """The items of a plan. Prints their memory, notes and warnings to the standard error; raises DataError if
    training would be pointless.
    """
    from samekind.data import open_data
    from samekind.data.problems import problems_of

    print_messages(*_about_size(plan))
    items = open_data(plan.source, settings=plan.data)
    _expect_several_unseen(plan, items)
    problems = problems_of(items)
    errors = [problem.sentence for problem in problems if problem.severity == "error"]
    if errors:
        raise DataError(f"{items.name}: {'; '.join(errors)}")
    sentences = [*items.notes, *(problem.sentence for problem in problems)]
    print_messages(*(f"{items.name}: {sentence}" for sentence in sentences))
    return items


def _expect_several_unseen(plan: "Plan", items: "Items") -> None:
    """Raise SettingError for a single unseen class; a branch of several may be named alone."""
    from samekind.data import whole_branches

    names = plan.split.get("unseen", ())
    if not isinstance(names, str) and len(whole_branches(names, items.classes)) == 1:
        raise SettingError(f"--unseen needs two classes or more, to compare with each other; got {names[0]}")


def _about_size(plan: "Plan") -> list[str]:
    """The memory of large data before it is decoded; or that a folder has the name of known data."""
    from samekind.data import memory_needed
    from samekind.data.sources import is_named

    data, source = plan.data, plan.source
    if is_named(source):
        note = f'"{source}" is the data of that name; for the one in this folder say ./{source}'
        return [note] if Path(source).exists() else []
    needed = memory_needed(source, settings=data)
    if needed < WORTH_SAYING:
        return []
    size = f"{needed / 2**20:,.0f} MiB"
    if data.memory == "always" or (data.memory == "auto" and needed <= data.memory_limit):
        return [f"decoding into memory: {size}"]
    stored = f"{size} once decoded: the pictures stay on the disk and are decoded anew in every epoch"
    if data.memory == "never":
        return [stored]
    return [f"{stored}, or once onto a GPU with enough memory; --set data.memory=always keeps them in memory"]
