"""A run of a grid as a command: the run file of its system, and what is set in it."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import Any

from grids.tables import markdown
from samekind.training import Batches, Part, Penalty, Run, Term

#: What tells one table from another of its kind, and what the rest of it is when nothing else is said.
KINDS: dict[str, Any] = {"loss": Term, "sampler": Batches, "penalty": Penalty, "name": Part}
#: Tables of which a member is left out by the word "none"; others are then written whole.
OPEN = ("terms", "penalties")


def command(file: Path, base: Run, run: Run, *, beside: Sequence[str] = ()) -> str:
    """What makes ``run`` of the run file's own, ``base``, with what else is set ``beside``; data and seed are
    to be added.
    """
    set_each = [f"--set {quote(change)}" for change in (*changes(base.to_dict(), run.to_dict()), *beside)]
    return " ".join(["samekind train", file.as_posix(), *set_each])


def commands_table(commands: Mapping[str, str]) -> str:
    """The command of each variant, under its name."""
    rows = [[name, f"`{command}`"] for name, command in commands.items()]
    return markdown(["run", "command"], rows)


def changes(base: Mapping[str, Any], run: Mapping[str, Any], *, where: str = "") -> list[str]:
    """The ``name=value`` that turn the settings ``base`` into ``run``.

    >>> changes({"epochs": 3, "space": {"depth": 1}}, {"epochs": 3, "space": {"depth": 2}})
    ['space.depth=2']
    """
    settings = []
    for key in dict.fromkeys([*base, *run]):
        before, after, path = base.get(key), run.get(key), f"{where}{key}"
        if before == after:
            continue
        if isinstance(before, Mapping) and isinstance(after, Mapping) and _is_one(key, before, after):
            settings += changes(before, after, where=f"{path}.")
        else:
            # A word, which TOML wants in quotes, and --set does not.
            word = isinstance(after, str) and after.isalpha()
            settings.append(f"{path}={after if word else written(after)}")
    return settings


def _is_one(key: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether a table is the same one with other settings, not another in its place."""
    same_kind = all(before.get(name) == after.get(name) for name in KINDS)
    return same_kind and (key in OPEN or before.keys() <= after.keys())


def written(value: Any) -> str:
    """A value as TOML has it; what a table would be anyway is not said."""
    match value:
        case None:
            return "none"
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case Mapping():
            return "{" + ", ".join(f"{_key(key)} = {written(part)}" for key, part in _said(value)) + "}"
        case list() | tuple():
            return "[" + ", ".join(map(written, value)) + "]"
    return repr(value)


def _said(table: Mapping[str, Any]) -> list[tuple[str, Any]]:
    plain: dict[str, Any] = {}
    for name, kind in KINDS.items():
        if name in table:
            defaults = vars(kind(table[name])).items()
            # Lists, as a run file has them: a default may be an empty tuple.
            plain = {
                key: [*value] if isinstance(value, tuple) else value for key, value in defaults if key != name
            }
            break
    return [(key, value) for key, value in table.items() if key not in plain or plain[key] != value]


def _key(key: str) -> str:
    return f'"{key}"' if "." in key else key
