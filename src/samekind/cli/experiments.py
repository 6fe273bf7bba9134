"""What the commands share: named data, runs by name or file, and the folders of runs."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.cli.options import LARGEST_SEED
from samekind.errors import DataError, SettingError, SpaceError, nearest

if TYPE_CHECKING:
    from samekind.data import Items, Sets
    from samekind.training import Run

DATA = ("digits",)


def open_data(name: str) -> "Items":
    """The items of a named data set."""
    from samekind.data import digits

    if name not in DATA:
        raise DataError(f'there is no data "{name}"; {nearest(name, DATA)}')
    return digits()


def run_named(name: str, shape: Sequence[int], changes: Sequence[str], *, seed: int | None = None) -> "Run":
    """A recipe's run, or that of a TOML file, which names a recipe and lays its settings over it.

    A ``seed`` goes before the file's, and ``changes`` before both.
    """
    from samekind import recipes

    table: dict[str, Any] = {"recipe": name}
    if name.endswith(".toml"):
        table = _read_toml(Path(name))
        if "recipe" not in table:
            known = ", ".join(recipes.RECIPES)
            raise SettingError(
                f'{name} names no recipe; add a line such as recipe = "triplet" (one of {known})'
            )
    recipe = table["recipe"]
    if recipe not in recipes.RECIPES:
        raise SettingError(f'there is no recipe "{recipe}"; {nearest(str(recipe), recipes.RECIPES)}')
    run: Run = getattr(recipes, recipe)(shape)
    run = run.update(table if seed is None else {**table, "seed": seed}).override(changes)
    if run.recipe != recipe:
        raise SettingError(f'--set recipe={run.recipe} would only rename the run; say "{run.recipe}" instead')
    if not 0 <= run.seed <= LARGEST_SEED:
        raise SettingError(f"run.seed: expected a whole number from 0 to {LARGEST_SEED}, got {run.seed}")
    return run


def begin_folder(folder: Path, *, data: str, unseen: Sequence[str], seed: int) -> "Sets":
    """The sets of a run; the folder of a run on others is refused."""
    from samekind.data import prepare

    known = _read_data(folder)
    if known is not None and known != _data(data, unseen, seed):
        raise SettingError(f"{folder} holds a run on other data or another split; choose another folder")
    return prepare(open_data(data), unseen=unseen, seed=seed)


def finish_folder(folder: Path, *, data: str, unseen: Sequence[str], seed: int) -> None:
    """Write down what a run that is done was trained on, so that it can be tested.

    Not before: a command that is refused leaves nothing that would stand in the way of the next.
    """
    from samekind import storage

    storage.write_text(folder / "data.json", json.dumps(_data(data, unseen, seed)) + "\n")


def sets_of(folder: Path) -> "Sets":
    """The sets a run was trained and is to be tested on, as its folder says."""
    from samekind.data import Split, divide

    known = _read_data(folder)
    if known is None:
        raise SpaceError(
            f"{folder} is not the folder of a finished run: it has no data.json; samekind train makes one"
        )
    items = open_data(known["data"])
    return divide(items, Split.load(folder / "split.json", items))


def space_folder(folder: Path) -> Path:
    """The folder of the space itself, given it or the folder of its run."""
    inside = folder / "space"
    return inside if (inside / "space.json").is_file() else folder


def _data(data: str, unseen: Sequence[str], seed: int) -> dict[str, Any]:
    return {"data": data, "unseen": list(unseen), "seed": seed}


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
    if not isinstance(content, dict) or not isinstance(content.get("data"), str):
        raise SpaceError(f"{path} was not written by samekind; choose another folder")
    return content


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingError(f"cannot read the run file {path}: {error.strerror or error}") from error
    # What is not UTF-8 is a ValueError too.
    except ValueError as error:
        raise SettingError(f"the run file {path} is not valid TOML: {error}") from error
