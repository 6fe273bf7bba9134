"""The angle between two embeddings, turned into scores: -θ and -ln θ.

Softmax over -ln θ is the distance-ratio classifier on the angle, the scale its exponent. Kim, "On the
Significance of Distance in Machine Learning", 2023.

θ = 2 atan2(|a - b|, |a + b|) of the normalised embeddings keeps its digits at 0 and at π, where the arccosine
of a cosine loses half of them and has an infinite slope. Kahan, "How Futile are Mindless Assessments of
Roundoff in Floating-Point Computation?", 2006.
"""

import torch
from torch import Tensor, nn

from samekind.similarities.distances import check_epsilon, crossed, paired
from samekind.similarities.scale import FixedScale, Scale


class Angle(nn.Module):
    """The negative angle, from -π to 0; the gradient is 0 for items in the same or in opposite directions.

    A zero vector is at a right angle to everything, but at an angle of 0 to another zero vector.
    """

    quantity = "negative distance"
    symmetric = True
    chords = False

    def __init__(self, *, scale: Scale | None = None) -> None:
        super().__init__()
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return -_paired_angles(a, b).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return -_crossed_angles(a, b).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (three numbers a pair, whatever the dimension)
        return 12


class LogAngle(nn.Module):
    """-ln θ, as -½ ln(θ² + epsilon): where two directions meet the score is -½ ln(epsilon), its gradient 0.

    Like `LogDistance(normalise=True)`, with the arc in place of the chord.
    """

    quantity = "log-distance"
    symmetric = True
    chords = False

    def __init__(self, *, epsilon: float = 1e-10, scale: Scale | None = None) -> None:
        super().__init__()
        check_epsilon(epsilon)
        self.epsilon = epsilon
        self.scale = scale or FixedScale()

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return self._score(_paired_angles(a, b)).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return self._score(_crossed_angles(a, b)).to(a.dtype)

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (three numbers a pair, whatever the dimension)
        return 12

    def _score(self, angles: Tensor) -> Tensor:
        return -0.5 * (angles.square() + self.epsilon).log()


def _paired_angles(a: Tensor, b: Tensor) -> Tensor:
    return _angles(paired(a, b, normalise=True), paired(a, -b, normalise=True))


def _crossed_angles(a: Tensor, b: Tensor) -> Tensor:
    return _angles(crossed(a, b, normalise=True), crossed(a, -b, normalise=True))


def _angles(apart: Tensor, opposite: Tensor) -> Tensor:
    """From |a - b| and |a + b|."""
    # Both are 0 for two zero vectors, and atan2 has no slope there.
    return 2 * torch.atan2(apart, opposite.clamp(min=1e-18))
