"""The record of a space's scores, as space.json stores it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from samekind.decisions.balance import Balance
from samekind.decisions.choices import Choices
from samekind.decisions.decision import Decision, Kind
from samekind.decisions.ladder import Ladder
from samekind.decisions.levels import Levels
from samekind.decisions.standing import Standing
from samekind.decisions.temperature import Head, Temperature
from samekind.errors import SettingError, nearest
from samekind.settings import read, write


@dataclass(frozen=True)
class Record:
    """Thresholds and standings for each kind of score, the threshold for "none of these", the temperature of
    each head, the kinds of score to answer by, the ladder of the house recipe, the classes that were
    enrolled, what balances them for each kind of score, and the thresholds for answers at inner nodes.
    """

    decisions: dict[str, Decision]
    open_set: Decision | None = None
    temperatures: dict[str, Temperature] = field(default_factory=dict)
    standings: dict[str, Standing] = field(default_factory=dict)
    choices: Choices | None = None
    ladder: Ladder | None = None
    balances: dict[str, Balance] = field(default_factory=dict)
    enrolled: tuple[str, ...] = ()
    levels: Levels | None = None

    def to_json(self) -> dict[str, Any]:
        """The entries of space.json."""
        return {name.replace("_", " "): value for name, value in write(self).items()}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "Record":
        """The record in the content of space.json. Older files may lack all but the decisions.

        Raises SettingError if an entry has the wrong type or an unknown key.
        """
        keys = {entry.name: entry.name.replace("_", " ") for entry in fields(cls)}
        stored = {name: content[key] for name, key in keys.items() if key in content}
        record = read(cls, {"decisions": content["decisions"], **stored}, where="space.json")
        for kind, decision in record.decisions.items():
            if decision.kind != kind:
                raise SettingError(f'space.json: the decision for "{kind}" is one for "{decision.kind}"')
        heads, kinds = get_args(Head), get_args(Kind)
        for entry, names, known in (
            ("temperatures", set(record.temperatures), heads),
            ("standings", set(record.standings), kinds),
            ("balances", set(record.balances), kinds),
        ):
            for name in names.difference(known):
                raise SettingError(f'space.json: {entry} has "{name}"; {nearest(name, known)}')
        return record
