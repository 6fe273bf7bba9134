"""samekind draw: pictures that explain, made without any data."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from samekind.cli.options import AsJson
from samekind.cli.output import print_text, render
from samekind.errors import SettingError, nearest

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from samekind.reports.confidence import Confidence

PICTURES = ("confidence", "voronoi")

FormOption = Annotated[
    str,
    Option(
        help="What the softmax is taken of: squared, distance or ratio; on the sphere also normface, "
        "cosface, arcface or sphereface; all draws each of them."
    ),
]
Classes = Annotated[
    int, Option(help="How many prototypes: 2 to 7 on the plane, 2 or 3 on the sphere (2 make a circle).")
]
Sphere = Annotated[
    bool | None,
    Option(
        "--sphere/--plane",
        help="Where the points lie.",
        show_default="the plane; the sphere for forms that have no plane",
    ),
]
Epsilon = Annotated[
    list[float] | None,
    Option(help="For voronoi: the size of the regions; may be repeated.", show_default="0.5, 1, 3.5"),
]


def draw(
    what: Annotated[str, Argument(metavar="WHAT", help="The picture: confidence or voronoi.")],
    out: Annotated[Path, Option(help="The file to write: .svg, .png or .pdf.")],
    form: FormOption = "ratio",
    classes: Classes = 3,
    scale: Annotated[float, Option(help="The factor of the scores.")] = 2.0,
    sphere: Sphere = None,
    angle: Annotated[bool, Option("--angle", help="Measure distances along the sphere.")] = False,
    epsilon: Epsilon = None,
    as_json: AsJson = False,
) -> None:
    """Draw what explains a classifier. confidence: where it is sure of its first class; is that the
    prototype? For a ratio of distances it is, for a softmax of squared distances or of cosines it is not.

    voronoi: the regions of attacks around a few items, as balls and as balls cut with Voronoi cells. Balls of
    two classes overlap, so no classifier is robust; cells do not, and the nearest neighbour is.
    """
    from samekind.reports.confidence import OF_DIRECTIONS

    if what not in PICTURES:
        raise SettingError(f'there is no picture "{what}"; {nearest(what, PICTURES)}')
    if what == "voronoi":
        answer, words = _voronoi(epsilon or [0.5, 1.0, 3.5], out)
    else:
        on_sphere = sphere if sphere is not None else form in OF_DIRECTIONS or angle
        answer, words = _confidence(form, classes, scale, "sphere" if on_sphere else "plane", angle, out)
    shown = f"{words}\nThe picture is in {out}"
    render({**answer, "picture": out}, lambda: print_text(shown), as_json=as_json)


def _confidence(
    form: str, classes: int, scale: float, surface: str, angle: bool, out: Path
) -> tuple[dict[str, Any], str]:
    from samekind.reports import Confidence, confidence_map

    if form == "all":
        maps = Confidence.of_all_forms(classes, scale, surface, angle)
        write_figure(lambda: confidence_map(maps), out)
        answers = [_answer(drawn) for drawn in maps]
        return {"maps": answers}, "\n".join(f"{answer['form']}: {_sentence(answer)}" for answer in answers)
    drawn = Confidence(form, classes, scale, surface, angle)
    write_figure(lambda: confidence_map([drawn]), out)
    answer = _answer(drawn)
    return answer, _sentence(answer)


def _voronoi(epsilons: list[float], out: Path) -> tuple[dict[str, Any], str]:
    """The toy set of paper III, and the adversarial accuracies of its 1-nearest-neighbour classifier."""
    from samekind.measures import smallest_distance
    from samekind.reports.voronoi_regions import (
        TOY,
        TOY_CLASSES,
        nearest_neighbour_accuracies,
        voronoi_regions,
    )

    if min(epsilons) <= 0:
        raise SettingError(f"an epsilon must be above 0, got {min(epsilons):g}")
    write_figure(lambda: voronoi_regions(TOY, TOY_CLASSES, epsilons), out)
    in_balls, in_cells = (
        nearest_neighbour_accuracies(TOY, TOY_CLASSES, epsilons, voronoi=cut) for cut in (False, True)
    )
    answer = {
        "epsilons": epsilons,
        "smallest_distance": smallest_distance(TOY),
        "standard": in_balls,
        "voronoi": in_cells,
    }
    lines = [
        f"epsilon {epsilon:g}: adversarial accuracy of the nearest neighbour {standard:.1%} in balls, "
        f"{voronoi:.1%} in Voronoi cells"
        for epsilon, standard, voronoi in zip(epsilons, in_balls, in_cells, strict=True)
    ]
    return answer, "\n".join(lines)


def write_figure(draw: "Callable[[], Figure]", out: Path, *, dots_per_inch: int = 192) -> None:
    """Write a picture on white paper, whole or not at all."""
    import io

    import matplotlib

    from samekind.reports.style import PAPER
    from samekind.storage import write_bytes

    ending, known = out.suffix.lower().removeprefix("."), ("pdf", "png", "svg")
    if ending not in known:
        raise SettingError(f"a picture ends in .{', .'.join(known)}; got {out.name}")
    content = io.BytesIO()
    # Without the date, and with the same identifiers every time: the same picture is the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    figure = draw()
    with matplotlib.rc_context({"svg.hashsalt": "samekind"}):
        figure.savefig(content, format=ending, dpi=dots_per_inch, facecolor=PAPER, metadata=metadata)
    write_bytes(out, content.getvalue())


def _answer(drawn: "Confidence") -> dict[str, Any]:
    """What was drawn, where it is surest, and how sure it is there and at the prototype."""
    prototype, surest = drawn.prototypes[:1], drawn.surest()[None]
    return {
        "form": drawn.form,
        "surface": drawn.surface,
        "classes": drawn.classes,
        "scale": drawn.scale,
        "angle": drawn.angle,
        "maximiser": surest[0].tolist(),
        "probability": drawn.probability(surest).item(),
        "at_edge": drawn.at_edge(surest[0]),
        "prototype": prototype[0].tolist(),
        "probability_at_prototype": drawn.probability(prototype).item(),
    }


def _sentence(answer: dict[str, Any]) -> str:
    place, prototype = (
        f"({', '.join(f'{number:z.4f}' for number in answer[name])})" for name in ("maximiser", "prototype")
    )
    if answer["maximiser"] == answer["prototype"]:
        return f"surest at the prototype {prototype}: probability {answer['probability']:.6f}"
    edge = ", where the picture ends" if answer["at_edge"] else ""
    return (
        f"surest at {place}{edge}: probability {answer['probability']:.6f}; "
        f"at the prototype {prototype} it is {answer['probability_at_prototype']:.6f}"
    )
