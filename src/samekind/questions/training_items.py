"""The items of an experiment, opened: what is wrong with them, and how much memory they take."""

from collections.abc import Callable
from pathlib import Path

from samekind.data import Items, memory_needed, open_data, whole_branches
from samekind.data.problems import problems_of
from samekind.data.sources import is_named
from samekind.errors import DataError, SettingError
from samekind.recipes.plans import Plan

#: Items of this many bytes or more: their size is reported.
WORTH_SAYING = 64 * 2**20

#: Gets a sentence that a person should read.
Tell = Callable[[str], None]


def ignored(_sentence: str) -> None:
    """Do nothing about a sentence."""


def open_items(plan: Plan, *, warn: Tell = ignored) -> Items:
    """The items of a plan. ``warn`` gets their memory, notes and warnings, a sentence each; DataError is
    raised if training would be pointless.
    """
    if (size := _about_size(plan)) is not None:
        warn(size)
    items = open_data(plan.source, settings=plan.data)
    _expect_several_unseen(plan, items)
    problems = problems_of(items)
    errors = [problem.sentence for problem in problems if problem.severity == "error"]
    if errors:
        raise DataError(f"{items.name}: {'; '.join(errors)}")
    for sentence in (*items.notes, *(problem.sentence for problem in problems)):
        warn(f"{items.name}: {sentence}")
    return items


def _expect_several_unseen(plan: Plan, items: Items) -> None:
    """Raise SettingError for a single unseen class; a branch of several may be named alone."""
    names = plan.split.get("unseen", ())
    if not isinstance(names, str) and len(whole_branches(names, items.classes)) == 1:
        raise SettingError(f"--unseen needs two classes or more, to compare with each other; got {names[0]}")


def _about_size(plan: Plan) -> str | None:
    """The memory of large data before it is decoded; or that a folder has the name of known data."""
    data, source = plan.data, plan.source
    if is_named(source):
        note = f'"{source}" is the data of that name; for the one in this folder say ./{source}'
        return note if Path(source).exists() else None
    needed = memory_needed(source, settings=data)
    if needed < WORTH_SAYING:
        return None
    size = f"{needed / 2**20:,.0f} MiB"
    if data.memory == "always" or (data.memory == "auto" and needed <= data.memory_limit):
        return f"decoding into memory: {size}"
    stored = f"{size} once decoded: the pictures stay on the disk and are decoded anew in every epoch"
    if data.memory == "never":
        return stored
    return f"{stored}, or once onto a GPU with enough memory; --set data.memory=always keeps them in memory"
