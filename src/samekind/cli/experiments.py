"""Opening the items of an experiment, with warnings about them."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.recipes.plans import Plan

#: The memory of items, in bytes, from which it is printed.
WORTH_SAYING = 64 * 2**20


def open_items(plan: "Plan") -> "Items":
    """The items of a plan. Prints their memory, notes and warnings to the standard error; raises DataError if
    training would be pointless.
    """
    from samekind.cli.output import messages
    from samekind.data import open_data
    from samekind.data.problems import problems_of

    def say(sentence: str) -> None:
        messages().print(sentence, soft_wrap=True)

    _say_size(plan, say)
    items = open_data(plan.source, settings=plan.data)
    problems = problems_of(items)
    errors = [problem.sentence for problem in problems if problem.severity == "error"]
    if errors:
        raise DataError(f"{items.name}: {'; '.join(errors)}")
    for sentence in [*items.notes, *(problem.sentence for problem in problems)]:
        say(f"{items.name}: {sentence}")
    return items


def _say_size(plan: "Plan", say: Any) -> None:
    """Print the memory of pictures before they are decoded; or that a folder has the name of known data."""
    from samekind.data import memory_needed
    from samekind.data.sources import NAMED

    if plan.source in NAMED:
        if Path(plan.source).exists():
            say(f'"{plan.source}" is the data of that name; for the one in this folder say ./{plan.source}')
        return
    needed = memory_needed(plan.source, settings=plan.data)
    if needed < WORTH_SAYING:
        return
    data, size = plan.data, f"{needed / 2**20:,.0f} MiB"
    if data.memory == "always" or (data.memory == "auto" and needed <= data.memory_limit):
        say(f"decoding into memory: {size}")
        return
    otherwise = ", or once onto a GPU with enough memory; --set data.memory=always keeps them in memory"
    say(
        f"{size} once decoded: the pictures stay on the disk and are decoded anew in every epoch"
        f"{'' if data.memory == 'never' else otherwise}"
    )
