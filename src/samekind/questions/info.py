"""What is a space made of, and what does it know?"""

from dataclasses import asdict, dataclass
from typing import Any

from samekind.decisions import Decision, Standing, Temperature
from samekind.parts import describe
from samekind.space import MetricSpace


@dataclass(frozen=True)
class SpaceInfo:
    """The parts of a space with their parameters, its classes, and what was fitted for its scores."""

    parts: dict[str, dict[str, Any]]
    parameters: dict[str, int]
    classes: tuple[str, ...]
    decisions: dict[str, Decision]
    open_set: Decision | None
    temperatures: dict[str, Temperature]
    standings: dict[str, Standing]

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return {
            "parts": self.parts,
            "parameters": self.parameters,
            "classes": self.classes,
            "decisions": {kind: asdict(decision) for kind, decision in self.decisions.items()},
            "open set": asdict(self.open_set) if self.open_set else None,
            "temperatures": {head: asdict(fitted) for head, fitted in self.temperatures.items()},
            "standings": {kind: asdict(standing) for kind, standing in self.standings.items()},
        }


def info(space: MetricSpace) -> SpaceInfo:
    """Describe a space."""
    parts = _parts(space)
    sizes = {name: sum(tensor.numel() for tensor in getattr(space, name).parameters()) for name in parts}
    return SpaceInfo(
        parts=parts,
        parameters=sizes,
        classes=tuple(space.classes),
        decisions=dict(space.decisions),
        open_set=space.open_set,
        temperatures=dict(space.temperatures),
        standings=dict(space.standings),
    )


def _parts(space: MetricSpace) -> dict[str, dict[str, Any]]:
    """The parts of a space by name, without its classes, which are listed once."""
    parts = {"encoder": space.encoder, "similarity": space.similarity, "prototypes": space.prototypes}
    described: dict[str, dict[str, Any]] = {name: describe(part) for name, part in parts.items()}
    if space.auxiliary is not None:
        described["auxiliary"] = {"name": "AuxiliaryHead", "arguments": space.auxiliary.describe()}
        described["auxiliary"]["arguments"]["prototypes"]["arguments"].pop("classes")
    described["prototypes"]["arguments"].pop("classes")
    return described
