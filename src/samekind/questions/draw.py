"""Where is a classifier surest, and where may an attack go? Pictures that need no data."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from samekind.errors import SettingError, nearest
from samekind.measures import smallest_distance
from samekind.reports import Confidence, confidence_map, voronoi_regions, write_figure
from samekind.reports.confidence import FORMS, OF_DIRECTIONS
from samekind.reports.voronoi_regions import TOY, TOY_CLASSES, nearest_neighbour_accuracies

#: Draw every form that there is on the surface.
ALL_FORMS = "all"


@dataclass(frozen=True)
class Surest:
    """A map of the confidence in one class: where it is highest, and how high it is there and at the
    prototype.
    """

    form: str
    surface: str
    classes: int
    scale: float
    angle: bool
    maximiser: tuple[float, ...]
    probability: float
    at_edge: bool
    prototype: tuple[float, ...]
    probability_at_prototype: float

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True)
class DrawnConfidence:
    """The maps of a picture: one, or one for each form."""

    maps: tuple[Surest, ...]
    all_forms: bool

    def to_json(self) -> dict[str, Any]:
        return {"maps": [one.to_json() for one in self.maps]} if self.all_forms else self.maps[0].to_json()


@dataclass(frozen=True)
class DrawnRegions:
    """The adversarial accuracies of the nearest neighbour at each epsilon, in balls and in Voronoi cells."""

    epsilons: tuple[float, ...]
    smallest_distance: float
    standard: tuple[float, ...]
    voronoi: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def draw_confidence(
    path: Path,
    *,
    form: str = "ratio",
    classes: int = 3,
    scale: float = 2.0,
    on_sphere: bool | None = None,
    angle: bool = False,
) -> DrawnConfidence:
    """Draw how sure a classifier is of its first class. Without ``on_sphere`` the sphere is for forms that
    have no plane.
    """
    if on_sphere is None:
        on_sphere = form in OF_DIRECTIONS or angle
    surface = "sphere" if on_sphere else "plane"
    if form not in (*FORMS, ALL_FORMS):
        raise SettingError(f'there is no form "{form}"; {nearest(form, (*FORMS, ALL_FORMS))}')
    if form == ALL_FORMS:
        maps = Confidence.of_all_forms(classes, scale, surface, angle)
    else:
        maps = [Confidence(form, classes, scale, surface, angle)]
    write_figure(lambda: confidence_map(maps), path)
    return DrawnConfidence(tuple(map(_surest, maps)), form == ALL_FORMS)


def draw_regions(path: Path, epsilons: Sequence[float]) -> DrawnRegions:
    """Draw the regions of attacks around the toy set of paper III, as balls and cut with Voronoi cells."""
    if min(epsilons) <= 0:
        raise SettingError(f"an epsilon must be above 0, got {min(epsilons):g}")
    write_figure(lambda: voronoi_regions(TOY, TOY_CLASSES, epsilons), path)
    in_balls, in_cells = (
        tuple(nearest_neighbour_accuracies(TOY, TOY_CLASSES, epsilons, voronoi=cut)) for cut in (False, True)
    )
    return DrawnRegions(tuple(epsilons), smallest_distance(TOY), in_balls, in_cells)


def _surest(drawn: Confidence) -> Surest:
    prototype, surest = drawn.prototypes[:1], drawn.surest()[None]
    return Surest(
        form=drawn.form,
        surface=drawn.surface,
        classes=drawn.classes,
        scale=drawn.scale,
        angle=drawn.angle,
        maximiser=tuple(surest[0].tolist()),
        probability=drawn.probability(surest).item(),
        at_edge=drawn.at_edge(surest[0]),
        prototype=tuple(prototype[0].tolist()),
        probability_at_prototype=drawn.probability(prototype).item(),
    )
