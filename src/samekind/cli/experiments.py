"""What the commands share: named data, runs by name or file, and the folders of runs."""

import json
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

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


def run_named(name: str, shape: Sequence[int], changes: Sequence[str], *, seed: int) -> "Run":
    """A recipe's run, or that of a TOML file, which names a recipe and lays its settings over it."""
    from samekind import recipes

    table: dict[str, Any] = {"recipe": name}
    if name.endswith(".toml"):
        table = _read_toml(Path(name))
    recipe = table.get("recipe")
    if recipe not in recipes.RECIPES:
        raise SettingError(f'there is no recipe "{recipe}"; {nearest(str(recipe), recipes.RECIPES)}')
    run: Run = getattr(recipes, recipe)(shape)
    return run.update({**table, "seed": table.get("seed", seed)}).override(changes)


def begin_folder(folder: Path, *, data: str, unseen: Sequence[str], seed: int) -> "Sets":
    """The sets of a run, its data written down beside it; a folder of another experiment is refused."""
    from samekind import storage
    from samekind.data import prepare

    wanted = {"data": data, "unseen": list(unseen), "seed": seed}
    path = folder / "data.json"
    if path.exists() and json.loads(path.read_text()) != wanted:
        raise SettingError(f"{folder} holds a run on other data or another split; choose another folder")
    sets = prepare(open_data(data), unseen=unseen, seed=seed)
    storage.write_text(path, json.dumps(wanted) + "\n")
    return sets


def sets_of(folder: Path) -> "Sets":
    """The sets a run was trained and is to be tested on, as its folder says."""
    from samekind.data import Split, divide

    path = folder / "data.json"
    if not path.is_file():
        raise SpaceError(f"{folder} is not the folder of a run: it has no data.json; train one first")
    items = open_data(json.loads(path.read_text())["data"])
    return divide(items, Split.load(folder / "split.json", items))


def space_folder(folder: Path) -> Path:
    """The folder of the space itself, given it or the folder of its run."""
    inside = folder / "space"
    return inside if (inside / "space.json").is_file() else folder


def _read_toml(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_text())
    except OSError as error:
        raise SettingError(f"cannot read the run file {path}: {error.strerror or error}") from error
    except tomllib.TOMLDecodeError as error:
        raise SettingError(f"the run file {path} is not valid TOML: {error}") from error
