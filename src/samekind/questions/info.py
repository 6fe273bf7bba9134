"""What is a space made of, and what does it know?"""

from dataclasses import asdict, dataclass
from typing import Any

from samekind.decisions import Balance, Choices, Decision, Ladder, Standing, Temperature
from samekind.parts import describe
from samekind.questions.choices import choices_in_words
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
    choices: Choices | None
    choices_in_words: tuple[str, ...]
    balances: dict[str, Balance]
    enrolled: tuple[str, ...]
    ladder: Ladder | None

    def to_json(self) -> dict[str, Any]:
        content = {name.replace("_", " "): value for name, value in asdict(self).items()}
        del content["choices in words"]
        return content


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
        choices=space.choices,
        choices_in_words=choices_in_words(space),
        balances=dict(space.balances),
        enrolled=tuple(space.enrolled),
        ladder=space.ladder,
    )


def _parts(space: MetricSpace) -> dict[str, dict[str, Any]]:
    """The parts of a space by name, without its classes, which are listed once."""
    parts = {"encoder": space.encoder, "similarity": space.similarity, "prototypes": space.prototypes}
    described: dict[str, dict[str, Any]] = {name: describe(part) for name, part in parts.items()}
    for kind in ("fitted", "normalised"):
        if (similarity := getattr(space, kind)) is not None:
            described[kind] = describe(similarity)
    for name in ("auxiliary", "discriminant"):
        if getattr(space, name) is not None:
            described[name] = {"name": "AuxiliaryHead", "arguments": getattr(space, name).describe()}
            described[name]["arguments"]["prototypes"]["arguments"].pop("classes")
    described["prototypes"]["arguments"].pop("classes")
    return described
