"""Which run suits the data? A commented run file to start from."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind.data import DataSettings
from samekind.data.sources.table_files import column_names, is_table
from samekind.errors import SettingError, nearest
from samekind.questions.training_items import Tell, ignored, open_items
from samekind.recipes import RECIPES
from samekind.recipes.plans import Plan
from samekind.recipes.run_file import run_file
from samekind.storage import write_text

#: The recipe for each purpose.
PURPOSES = {
    "best": "house",
    "everything": "prototypical",
    "same-or-different": "verification",
    "baseline": "triplet",
    "unseen-classes": "unseen-proxy-nca-adapt-adv",
}


@dataclass(frozen=True)
class RunFile:
    """The recipe of a run file, and the data that it is for."""

    recipe: str
    data: str
    items: int
    classes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {"recipe": self.recipe, "items": self.items, "classes": self.classes}


def write_run_file(path: Path, plan: Plan, *, warn: Tell = ignored) -> RunFile:
    """Look at the data of a plan, and write it as a commented run file."""
    items = open_items(plan, warn=warn)
    write_text(path, run_file(plan, items, path))
    return RunFile(plan.recipe, items.name, len(items), tuple(items.classes))


def expect_free(path: Path, *, replace: bool) -> None:
    """Refuse, before anything is read, a name that is not that of a run file, or is taken."""
    if path.suffix != ".toml":
        raise SettingError(f"a run file ends in .toml; got {path.name}")
    if path.exists() and not replace:
        raise SettingError(f"{path} exists already; choose another name with --out, or --force to replace it")


def recipe_for(purpose: str) -> str:
    """The recipe for a purpose, or the recipe of that name."""
    if purpose not in PURPOSES and purpose not in RECIPES:
        raise SettingError(f'--want: there is no "{purpose}"; {nearest(purpose, [*PURPOSES, *RECIPES])}')
    return PURPOSES.get(purpose, purpose)


def columns_without_label(data: str) -> tuple[str, ...]:
    """The columns of a table, if none of them has the usual name of the label; else empty."""
    columns = column_names(Path(data)) if is_table(Path(data)) else None
    return () if columns is None or DataSettings().label in columns else tuple(columns)
