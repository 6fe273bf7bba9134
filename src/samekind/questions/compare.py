"""Are these two the same kind?"""

from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import Tensor

from samekind.errors import SpaceError, nearest
from samekind.inference import asking, device_of, embed
from samekind.space import MetricSpace


@dataclass(frozen=True)
class Comparison:
    """Whether two items are the same kind: the score, the threshold at its operating point, and the
    probability.
    """

    same: bool
    score: float
    threshold: float
    probability: float
    kind: str
    point: str

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values."""
        return asdict(self)


def compare(
    space: MetricSpace, first: Tensor, second: Tensor, *, kind: str | None = None, prior: float = 0.5
) -> Comparison:
    """Compare two items by a kind of score that the space has a threshold for; None is its choice for pairs.

    ``prior`` is how often two items are the same where this is asked.
    """
    name = space.kind_for("pairs") if kind is None else kind
    if name not in space.decisions:
        raise SpaceError(
            f'this space has no threshold for the score "{name}"; {nearest(name, space.decisions)}'
        )
    decision = space.decisions[name]
    # Sounds are of unequal length; their medium pads them.
    together = torch.stack if space.reader is None else space.reader.medium.batch
    z = embed(space, together([first, second])).to(device_of(space))
    with asking(space):
        score = space.score(z[:1], z[1:], kind=decision.kind).cpu()
    return Comparison(
        same=bool(decision.accepts(score)),
        score=float(score),
        threshold=decision.threshold,
        probability=float(decision.probability(score, prior=prior)),
        kind=name,
        point=decision.point,
    )
