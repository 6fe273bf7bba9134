"""A scale that follows training, so that the probability of the true class changes fastest at the median
angle.

Kim, "On the Significance of Distance in Machine Learning", 2023, the dynamic scale of NormFace and ProxyDR.

With θ the angle to the true class and B = Σ exp(scale x score) over the wrong ones, the probability is
p = 1/(1 + B exp(-scale x score of the true class)). |dp/dθ| is largest where ψ, which is d²p/dθ² up to a
factor that is never 0, is 0; the scale descends ψ². For a softmax over -ln(chord) the thesis prints the
formula for the angle itself as distance, and its code has the derivative by the chord and another exponent
in B; here the derivative is by θ, as for cosines, unless it is asked for ``as_published``.
"""

import math
from typing import Literal

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.adacos_scale import fixed_value, log_rivals

#: The angle at the start, and the largest that is used later.
QUARTER = math.pi / 4

#: Below LOWEST, by form, no batch has a root of ψ: it needs scale ≥ 1 / cos²(θ/2) for chords and
#: scale ≥ cos θ / sin²θ for cosines, θ at most π/4. Above HIGHEST the softmax is a maximum.
LOWEST = {"cosine": math.sqrt(2), "log-distance": 1.0, "log-angle": 1.0}
HIGHEST = 1e4

#: The distance of two directions at a right angle: the chord, and the angle itself.
RIGHT_ANGLE = {"log-distance": math.sqrt(2), "log-angle": math.pi / 2}

# The moments of Adam: their decay and the number that keeps the quotient finite.
DECAYS, TINY = (0.9, 0.999), 1e-8


class DynamicScale(nn.Module):
    """Starts at the root of ψ at π/4, the wrong classes at right angles; then one step of Adam each step.

    ``form`` says what the scores are: ``"cosine"``, ``"log-distance"``, -ln of the chord
    (`LogDistance(normalise=True)`), or ``"log-angle"``, -ln of the angle (`LogAngle`). After each step of the
    optimiser log(scale) takes one step of Adam of the given ``rate`` down ψ², where B is the mean of the
    batch and θ the median of the angles to the true classes, at most π/4. All of its state is in buffers, and
    so in the checkpoint.

    If the batch has no root (chords with wrong classes as near as the true one; cosines at small angles, or
    of few classes) the scale drifts by at most the rate in each step, from √2 (cosines) or 1 (chords) to
    10,000.

    ``as_published`` is for comparisons with the thesis's results on chords: ψ has the derivative by the
    chord, and B is Σ chord^(-2√scale) in place of Σ chord^(-scale), as the authors' code computes it.
    """

    came_later = ("as_published",)

    def __init__(
        self,
        *,
        classes: int,
        form: Literal["cosine", "log-distance", "log-angle"] = "cosine",
        rate: float = 1e-4,
        as_published: bool = False,
    ) -> None:
        super().__init__()
        if form not in LOWEST:
            known = '"cosine", "log-distance" or "log-angle"'
            raise SettingError(f'the form of a dynamic scale is {known}; got "{form}"')
        if as_published and form != "log-distance":
            raise SettingError(
                f'only the form "log-distance" was published otherwise, got "{form}"; leave out as_published'
            )
        if not rate >= 0:
            raise SettingError(f"the rate of a dynamic scale is a number from 0 up; got {rate}")
        self.classes = classes
        self.form = form
        self.rate = rate
        self.as_published = as_published
        start = initial_scale(classes, form=form, as_published=as_published)
        self.logarithm: Tensor
        self.moments: Tensor
        self.steps: Tensor
        self.register_buffer("logarithm", torch.tensor(math.log(start)))
        self.register_buffer("moments", torch.zeros(2))
        self.register_buffer("steps", torch.zeros(()))

    @property
    def reads(self) -> str:
        """The quantity it can follow."""
        return self.form

    def forward(self) -> Tensor:
        return self.logarithm.exp()

    def after_step(self, scores: Tensor, positive: Tensor) -> None:
        if not positive.any():
            return
        scores = scores.detach().to(torch.promote_types(scores.dtype, torch.float32))
        scale = self.logarithm.exp()
        rivals = log_rivals(2 * scale.sqrt() if self.as_published else scale, scores, positive)
        angle = _angles(scores[positive], self.form).median().clamp(max=QUARTER)
        with torch.enable_grad():
            logarithm = self.logarithm.detach().clone().requires_grad_()
            cost = turning(
                logarithm.exp(), rivals, angle, form=self.form, as_published=self.as_published
            ).square()
            (slope,) = torch.autograd.grad(cost, logarithm)
        self._descend(slope)

    @torch.no_grad()
    def _descend(self, slope: Tensor) -> None:
        """One step of Adam."""
        self.steps += 1
        decays = self.moments.new_tensor(DECAYS)
        self.moments.lerp_(torch.stack([slope, slope.square()]).to(self.moments), 1 - decays)
        mean, square = self.moments / (1 - decays**self.steps)
        moved = self.logarithm - self.rate * mean / (square.sqrt() + TINY)
        # A start outside the bounds, as with few classes, does not jump.
        low = self.logarithm.clamp(max=math.log(LOWEST[self.form]))
        high = self.logarithm.clamp(min=math.log(HIGHEST))
        self.logarithm.copy_(moved.clamp(low, high))


def turning(scale: Tensor, rivals: Tensor, angle: Tensor, *, form: str, as_published: bool = False) -> Tensor:
    """ψ, divided by a positive number: 0 where p has its steepest slope at the angle. ``rivals`` is ln B.

    For cosines, with E = exp(scale x cos θ), ψ = cos θ (E + B) + scale sin²θ (E - B) is divided by E + B.
    For chords d = 2 sin(θ/2), with U = B d^scale, ψ = (U (scale + 1) - scale + 1)(1 - d²/4) + (1 + U) d²/4
    is divided by 1 + U, so nothing overflows. For angles, and by the chord ``as_published``, ψ is
    U (scale + 1) - scale + 1, U having that distance. The divisor has no gradient, so the direction down ψ²
    is that of the undivided one, and Adam's steps do not depend on its size.
    """
    if form == "cosine":
        own, other = _shares(scale * angle.cos(), rivals)
        return angle.cos() * (own + other) + scale * angle.sin().square() * (own - other)
    distance = angle if form == "log-angle" else 2 * (angle / 2).sin()
    other, own = _shares(rivals + scale * distance.log(), torch.zeros_like(rivals))
    bend = (scale + 1) * other - (scale - 1) * own
    if form == "log-angle" or as_published:
        return bend
    return bend * (angle / 2).cos().square() + (own + other) * (angle / 2).sin().square()


def _shares(one: Tensor, other: Tensor) -> tuple[Tensor, Tensor]:
    """The exponentials of both, divided by their sum, which is held constant."""
    total = torch.logaddexp(one, other).detach()
    return (one - total).exp(), (other - total).exp()


def initial_scale(classes: int, *, form: str, as_published: bool = False) -> float:
    """The scale with ψ = 0 at π/4, where the wrong classes are at right angles, so B follows from the scale.

    Cosines have two roots, of which the larger is taken; up to 22 classes there is none, and √2 ln(classes
    - 1) is used, as in `AdaCosScale`. Chords and angles have one root for any number of classes from 2.
    """
    from scipy.optimize import brentq, minimize_scalar  # here, because it is slow to import

    if form == "cosine":
        # There B equals E and ψ is positive; both roots, if any, lie on either side of a minimum below.
        equal = fixed_value(classes)
        dip = minimize_scalar(_at_quarter, bounds=(0, equal), args=(classes, form), method="bounded").x
        if _at_quarter(dip, classes, form) > 0:
            return equal
        return float(brentq(_at_quarter, dip, equal, args=(classes, form)))
    if classes < 2:
        raise SettingError(f"a dynamic scale needs at least 2 classes, got {classes}")
    # Where B d^scale is 1, ψ is positive; from there on it falls without bound.
    own = QUARTER if form == "log-angle" else 2 * math.sin(QUARTER / 2)
    low = math.log(classes - 1) / math.log(RIGHT_ANGLE[form] / own)
    high, given = low + 1, (classes, form, as_published)
    while _at_quarter(high, *given) > 0:
        high *= 2
    return float(brentq(_at_quarter, low, high, args=given))


def _at_quarter(scale: float, classes: int, form: str, as_published: bool = False) -> float:
    """ψ at π/4 with the wrong classes at right angles."""
    rivals = math.log(classes - 1) - (0 if form == "cosine" else scale * math.log(RIGHT_ANGLE[form]))
    values = torch.tensor([scale, rivals, QUARTER], dtype=torch.double)
    return turning(*values, form=form, as_published=as_published).item()


def _angles(scores: Tensor, form: str) -> Tensor:
    """The angles of scores; never quite 0, where the logarithm of the chord would be infinite."""
    if form == "cosine":
        return scores.clamp(-1, 1).acos()
    if form == "log-angle":
        return (-scores).exp().clamp(1e-6, math.pi)
    return 2 * (0.5 * (-scores).exp()).clamp(1e-6, 1).asin()
