"""Are these two the same kind?"""

from dataclasses import asdict, dataclass, replace
from typing import Any

import torch
from torch import Tensor

from samekind.decisions import Decision
from samekind.errors import SpaceError, nearest
from samekind.inference import asking, device_of, embed
from samekind.questions.unheard import about_unheard, unheard_places
from samekind.space import MetricSpace


@dataclass(frozen=True)
class Comparison:
    """Whether two items are the same kind: the score, the threshold at its operating point, and the
    probability. The error rates are those of the threshold on the trials that it was fitted on. ``unheard``
    says which of the two, "first" or "second", hold nothing to know them by.
    """

    same: bool
    score: float
    threshold: float
    probability: float
    kind: str
    point: str
    false_accepts: float
    false_accept_interval: tuple[float, float] | None
    false_rejects: float
    unheard: tuple[str, ...] = ()

    @property
    def warnings(self) -> tuple[str, ...]:
        return tuple(filter(None, (about_unheard([f"the {one}" for one in self.unheard]),)))

    def to_json(self) -> dict[str, Any]:
        content = asdict(self)
        return content if self.unheard else {key: content[key] for key in content if key != "unheard"}


def compare(
    space: MetricSpace, first: Tensor, second: Tensor, *, kind: str | None = None, prior: float = 0.5
) -> Comparison:
    """Compare two items by a kind of score that the space has a threshold for; None is its choice for pairs.

    ``prior`` is how often two items are the same where this is asked.
    """
    # Sounds are of unequal length; their medium pads them.
    together = torch.stack if space.reader is None else space.reader.medium.batch
    _decision(space, kind)  # an unknown kind is refused before the items are embedded
    x = together([first, second])
    answer = compare_embedded(space, embed(space, x), kind=kind, prior=prior)
    return replace(answer, unheard=tuple(("first", "second")[place] for place in unheard_places(space, x)))


def compare_embedded(
    space: MetricSpace, z: Tensor, *, kind: str | None = None, prior: float = 0.5
) -> Comparison:
    """The same for the embeddings (2, d) of the two."""
    decision = _decision(space, kind)
    z = z.to(device_of(space))
    with asking(space):
        score = space.score(z[:1], z[1:], kind=decision.kind).cpu()
    return Comparison(
        same=bool(decision.accepts(score)),
        score=float(score),
        threshold=decision.threshold,
        probability=float(decision.probability(score, prior=prior)),
        kind=decision.kind,
        point=decision.point,
        false_accepts=decision.false_accepts,
        false_accept_interval=decision.false_accept_interval,
        false_rejects=decision.false_rejects,
    )


def _decision(space: MetricSpace, kind: str | None) -> Decision:
    name = space.kind_for("pairs") if kind is None else kind
    if name not in space.decisions:
        raise SpaceError(
            f'this space has no threshold for the score "{name}"; {nearest(name, space.decisions)}'
        )
    return space.decisions[name]
