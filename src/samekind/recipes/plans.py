"""Plans: an experiment as a recipe, a run file and options describe it, before any data is opened.

A run file is TOML: ``recipe``, and the tables ``[data]`` (``source`` and how it is read), ``[split]`` and
``[training]`` (the settings of the run, which may also stand at the top). Options override the file, and
``--set name=value`` overrides both.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from samekind import recipes
from samekind.data import DataSettings, Items, Sets, SplitSettings
from samekind.data.sources import is_named
from samekind.errors import SettingError, nearest
from samekind.plain_files import read_toml
from samekind.recipes.encoder import Subject
from samekind.recipes.few_items import chosen
from samekind.settings import LARGEST_SEED
from samekind.training import Part, Run, RunFolder
from samekind.training.run import plain_value

TABLES = ("data", "split", "training")


@dataclass(frozen=True)
class Plan:
    """An experiment: the data, how it is read and split, and how it is trained on.

    ``source`` is a name or a path; ``split`` has the settings of the split that were given; ``training`` is
    laid over the recipe's run, ``changes`` over both.
    """

    recipe: str
    source: str
    data: DataSettings
    split: Mapping[str, Any]
    training: Mapping[str, Any]
    changes: tuple[str, ...]

    def splitting(self, items: Items, *, seed: int) -> SplitSettings:
        """How these items are split: as the plan says; else in the parts they came in, by their groups, or at
        random. The seed is the run's, unless the split has its own.
        """
        by = "part" if items.parts is not None else "group" if items.groups is not None else "random"
        return SplitSettings.from_dict({"by": by, "seed": seed, **self.split})

    def sets(self, folder: RunFolder, items: Items, *, seed: int) -> Sets:
        """The sets of the run in a folder: as it has begun, or else split as the plan says.

        Before groups were kept together, items with groups were split at random unless the plan said
        otherwise; such a run goes on with its split.
        """
        earlier = []
        if "by" not in self.split and items.groups is not None and items.parts is None:
            earlier = [SplitSettings.from_dict({"by": "random", "seed": seed, **self.split})]
        return folder.sets_for(items, self.splitting(items, seed=seed), earlier=earlier)

    def run(self, subject: Subject, *, encoder: Part | None = None) -> Run:
        """The run for items, or for their shape; ``encoder``, if given, replaces the recipe's."""
        run: Run = recipes.RECIPES[self.recipe](subject)
        if encoder is not None:
            run = replace(run, space=replace(run.space, encoder=encoder))
        if self.training:
            run = run.update(self.training)
        if self.changes:
            run = run.override(self.changes)
        if run.recipe != self.recipe:
            raise SettingError(
                f'--set recipe={run.recipe} would only rename the run; say "{run.recipe}" instead'
            )
        if not 0 <= run.seed <= LARGEST_SEED:
            raise SettingError(f"run.seed: expected a whole number from 0 to {LARGEST_SEED}, got {run.seed}")
        return run

    def suited(self, run: Run, subject: Subject, *, items: int, encoder: Part | None = None) -> Run:
        """The plan's `run`, with the settings that the plan leaves open as they suit so few training items.

        An ``encoder`` that was given stays.
        """
        given = self._given() | ({"encoder"} if encoder is not None else set())
        own = recipes.RECIPES[self.recipe](subject)
        return recipes.suited(run, subject, items=items, given=given, own=own)

    def _given(self) -> set[str]:
        """The settings that file, options or --set give, by their first name; of the space by its part."""
        named = {change.partition("=")[0].strip() for change in self.changes}
        for name, value in self.training.items():
            named |= {f"{name}.{key}" for key in value} if isinstance(value, Mapping) else {name}
        return {name.removeprefix("space.").partition(".")[0] for name in named}


def chosen_in_words(own: Run, run: Run) -> dict[str, list[str]]:
    """The settings that were changed because the items are few: in words, before and after."""
    pairs = chosen(own, run).items()
    return {name: [_in_words(name, value) for value in values] for name, values in pairs}


def because_few(chosen: Mapping[str, Sequence[str]]) -> str:
    """The choices for few items, as the end of a sentence; empty without choices.

    >>> because_few({"schedule": ["multi-step", "cosine"], "epochs": ["30 epochs", "40 epochs"]})
    "with few items to train on it takes cosine, 40 epochs, not the recipe's multi-step, 30 epochs"
    """
    if not chosen:
        return ""
    own, instead = (", ".join(values[place] for values in chosen.values()) for place in (0, 1))
    return f"with few items to train on it takes {instead}, not the recipe's {own}"


def _in_words(name: str, value: Any) -> str:
    match name:
        case "encoder" | "schedule":
            return str(value.name)
        case "prototypes":
            return f"averages of momentum {value.arguments.get('momentum')}"
        case "optimiser":
            return f"{value.name} at {value.rate:g}"
    return f"{value} {name}"


def read_plan(
    name: str,
    changes: Sequence[str] = (),
    *,
    source: str | None = None,
    data: Mapping[str, Any] | None = None,
    split: Mapping[str, Any] | None = None,
    training: Mapping[str, Any] | None = None,
) -> Plan:
    """The plan of a recipe or of a run file, under the given options and ``--set`` changes."""
    file = _read_file(Path(name)) if name.endswith(".toml") else {"recipe": name}
    recipe = _known_recipe(file.pop("recipe", None), name)
    tables = {table: _table(file, table, name) for table in TABLES}
    _check_names(file, name)
    # A name without a dot is a setting of the run, which checks it.
    _check_names([_table_of(change) for change in changes if "." in change.partition("=")[0]], "--set")
    _expect_once(file, tables["training"], name)
    for given, table in ((data, "data"), (split, "split"), (training, "training")):
        tables[table].update(given or {})
    of_run = []
    for change in changes:
        if _table_of(change) in ("data", "split"):
            _set(tables, change)
        else:
            of_run.append(change.removeprefix("training."))
    in_file = tables["data"].pop("source", None)
    if source is None:
        source = "digits" if in_file is None else _beside(name, in_file)
    if isinstance(tables["data"].get("taxonomy"), str) and "taxonomy" not in (data or {}):
        tables["data"]["taxonomy"] = str(Path(name).parent / tables["data"]["taxonomy"])
    SplitSettings.from_dict(tables["split"])  # refuse a mistake before the data is opened
    return Plan(
        recipe=recipe,
        source=source,
        data=DataSettings.from_dict(tables["data"]),
        split=tables["split"],
        training={**file, **tables["training"]},
        changes=tuple(of_run),
    )


def _expect_once(top: Mapping[str, Any], training: Mapping[str, Any], name: str) -> None:
    twice = sorted(top.keys() & training.keys())
    if twice:
        raise SettingError(
            f"{name}: {', '.join(twice)} stands at the top and in [training]; keep one of them"
        )


def _known_recipe(recipe: object, name: str) -> str:
    """The recipe that a plan names. Raises SettingError for none and for an unknown one."""
    if recipe is None:
        known = ", ".join(recipes.RECIPES)
        raise SettingError(f'{name} names no recipe; add a line such as recipe = "triplet" (one of {known})')
    if not isinstance(recipe, str) or recipe not in recipes.RECIPES:
        raise SettingError(f'there is no recipe "{recipe}"; {nearest(str(recipe), recipes.RECIPES)}')
    return recipe


def _read_file(path: Path) -> dict[str, Any]:
    try:
        return read_toml(path.read_bytes())
    except OSError as error:
        raise SettingError(f"cannot read the run file {path}: {error.strerror or error}") from error
    except ValueError as error:  # also of text that is not UTF-8
        raise SettingError(f"the run file {path} is not valid TOML: {error}") from error


def _table(file: dict[str, Any], table: str, name: str) -> dict[str, Any]:
    """Take a table out of a run file; a missing one is empty."""
    content = file.pop(table, {})
    if not isinstance(content, dict):
        raise SettingError(f"{name}: expected a table [{table}], got {table} = {content!r}")
    return dict(content)


def _check_names(keys: Iterable[str], name: str) -> None:
    """Raise SettingError, with the nearest name, for what is neither a table nor a setting of the run."""
    known = [*TABLES, *(field.name for field in fields(Run))]
    for key in keys:
        if key not in known:
            raise SettingError(f'{name}: there is no setting or table "{key}"; {nearest(key, known)}')


def _table_of(change: str) -> str:
    return change.partition("=")[0].partition(".")[0].strip()


def _set(tables: dict[str, dict[str, Any]], change: str) -> None:
    """Lay ``data.size=64`` over the tables."""
    name, equals, text = change.partition("=")
    table, _, key = (part.strip() for part in name.partition("."))
    if not equals or not key:
        raise SettingError(f'expected {table}.name=value, got "{change}"')
    tables[table][key] = plain_value(text.strip())


def _beside(name: str, source: Any) -> str:
    """A path in a run file, which is relative to the file; the name of known data stays a name."""
    if not isinstance(source, str):
        raise SettingError(f"{name}: expected a text for data.source, got {source!r}")
    return source if is_named(source) else str(Path(name).parent / source)
