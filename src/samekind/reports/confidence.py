"""How sure a classifier is of one class, at every point of a plane, a circle or a sphere.

Kim, "Distance-Ratio-Based Formulation for Metric Learning", 2022: a softmax of squared distances or of
cosines is surest somewhere away from the prototype of the class; a ratio of distances is surest at it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.errors import SettingError, nearest
from samekind.losses.arc_face import widen_angle
from samekind.losses.sphere_face import multiply_angle
from samekind.similarities import Angle, Cosine, Euclidean, LogAngle, LogDistance

#: What the softmax is taken of, by name.
FORMS = {
    "normface": "softmax of cosines (NormFace)",
    "cosface": "cosine less 0.35 (CosFace)",
    "arcface": "angle plus 0.5 (ArcFace)",
    "sphereface": "angle times 2 (SphereFace)",
    "squared": "softmax of squared distances",
    "distance": "softmax of distances",
    "ratio": "ratio of distances (DR)",
}
#: How each loss with a margin changes the cosine of the first class, which it trains an item for.
MARGINS: dict[str, Callable[[Tensor], Tensor]] = {
    "cosface": lambda cosines: cosines - 0.35,
    "arcface": lambda cosines: widen_angle(cosines, torch.full_like(cosines, 0.5)),
    "sphereface": lambda cosines: multiply_angle(cosines, 2, beyond="falling"),
}
#: Forms that compare directions alone.
OF_DIRECTIONS = ("normface", *MARGINS)
#: Half the side of the square of the plane; prototypes are at distance 1 from its centre.
REACH = 2.5
MOST_CLASSES = {"plane": 7, "sphere": 3}


@dataclass(frozen=True)
class Confidence:
    """The probability of the first class under softmax(scale x score), the score being of one of FORMS. With
    a margin it is the one that the loss has in training, for an item of the first class.

    On the ``plane`` the prototypes are spread evenly around a circle. On the ``sphere`` they are the axes, so
    two classes make it a circle. There ``angle`` measures distances along the surface, not straight through.
    """

    form: str
    classes: int = 3
    scale: float = 2.0
    surface: str = "plane"
    angle: bool = False

    def __post_init__(self) -> None:
        if self.form not in FORMS:
            raise SettingError(f'there is no form "{self.form}"; {nearest(self.form, FORMS)}')
        if self.surface not in MOST_CLASSES:
            raise SettingError(f'the surface is "plane" or "sphere"; got "{self.surface}"')
        if self.surface == "plane" and (self.form in OF_DIRECTIONS or self.angle):
            what = "an angle" if self.angle else self.form
            raise SettingError(f"{what} compares directions, so it is drawn on the sphere, not on the plane")
        if not 2 <= self.classes <= MOST_CLASSES[self.surface]:
            expected = f"2 to {MOST_CLASSES[self.surface]} classes on the {self.surface}"
            raise SettingError(f"expected {expected}, got {self.classes}")
        if not 0 < self.scale < torch.inf:
            raise SettingError(f"a scale must be a positive number, got {self.scale}")

    @classmethod
    def of_all_forms(
        cls, classes: int = 3, scale: float = 2.0, surface: str = "plane", angle: bool = False
    ) -> list["Confidence"]:
        """One for each form that there is on a surface; with ``angle`` those that have distances."""
        left_out = OF_DIRECTIONS if angle or surface == "plane" else ()
        return [cls(form, classes, scale, surface, angle) for form in FORMS if form not in left_out]

    @property
    def dimension(self) -> int:
        """Of the points: 2 on the plane and the circle, 3 on the sphere."""
        return self.classes if self.surface == "sphere" else 2

    @property
    def prototypes(self) -> Tensor:
        """One for each class, (classes, dimension)."""
        if self.surface == "sphere":
            return torch.eye(self.classes, dtype=torch.double).flip(0)
        angles = torch.arange(self.classes, dtype=torch.double) * (2 * torch.pi / self.classes)
        return torch.stack([angles.sin(), angles.cos()], dim=1)

    def log_odds(self, points: Tensor) -> Tensor:
        """ln(p / (1 - p)) of the first class, (n, dimension) -> (n,): exact where p would be rounded to 1."""
        logits = self.scale * self._scores(points)
        return logits[:, 0] - logits[:, 1:].logsumexp(1)

    def probability(self, points: Tensor) -> Tensor:
        """p of the first class, (n, dimension) -> (n,)."""
        return self.log_odds(points).sigmoid()

    def onto(self, points: Tensor) -> Tensor:
        """The nearest points of the surface."""
        return points.clamp(-REACH, REACH) if self.surface == "plane" else F.normalize(points, dim=-1)

    def at_edge(self, point: Tensor) -> bool:
        """Whether a point (dimension,) lies on the edge of the square."""
        return self.surface == "plane" and bool((point.abs() >= REACH).any())

    def surest(self) -> Tensor:
        """The point of the surface with the highest probability, (dimension,).

        On the plane, of the square: the softmax of squared distances rises without end, so its surest point
        lies on the edge. Of equally sure points it is the one nearest to the prototype of the class.
        """
        # An even number, to avoid the centre of the sphere.
        axis = torch.linspace(-REACH, REACH, 40, dtype=torch.double)
        grid = self.onto(torch.cartesian_prod(*[axis] * self.dimension))
        starts = torch.cat([self.prototypes, grid])
        best, step = starts[self.log_odds(starts).argmax()], 0.1
        # A step to the best of all neighbours as long as it helps, then shorter ones.
        while step > 1e-9:
            around = self._around(best, step)
            odds = self.log_odds(around)
            if odds.max() - odds[0] > _rounding(odds[0]):
                best = around[odds.argmax()]
            else:
                step /= 2
        nearest = self._nearest_as_sure(best)
        # Near a single maximum the difference is rounding.
        return nearest if (nearest - best).norm() > 1e-3 else best

    def _nearest_as_sure(self, point: Tensor) -> Tensor:
        """From a point (dimension,) towards the prototype of the class, as long as nothing is lost."""
        sure, step = self.log_odds(point[None])[0], 0.1
        while step > 1e-9:
            around = self._around(point, step)
            around = around[(self.log_odds(around) >= sure - _rounding(sure)).nonzero().flatten()]
            distances = (around - self.prototypes[0]).norm(dim=1)
            if len(around) and distances.min() < (point - self.prototypes[0]).norm() - 1e-12:
                point = around[distances.argmin()]
            else:
                step /= 2
        return point

    def _around(self, point: Tensor, step: float) -> Tensor:
        """A point and its neighbours on the surface, (n, dimension)."""
        ways = torch.cartesian_prod(*[torch.tensor([0.0, 1.0, -1.0])] * self.dimension).double()
        return self.onto(point + step * ways)

    def _scores(self, points: Tensor) -> Tensor:
        match self.form:
            case "normface":
                return Cosine().score_all(self.prototypes, points).T
            case "cosface" | "arcface" | "sphereface":
                own, *others = Cosine().score_all(self.prototypes, points).clamp(-1, 1)
                return torch.stack([MARGINS[self.form](own), *others], dim=1)
            case "ratio":
                ratio = LogAngle() if self.angle else LogDistance()
                return ratio.score_all(self.prototypes, points).T
        negative_distances = (Angle() if self.angle else Euclidean()).score_all(self.prototypes, points).T
        return negative_distances if self.form == "distance" else -negative_distances.square()


def _rounding(odds: Tensor) -> Tensor:
    """The difference below which log-odds are equal."""
    return 1e-13 * odds.abs().clamp(min=1)
