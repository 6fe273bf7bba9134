"""samekind draw: pictures that explain, made without any data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson
from samekind.cli.output import print_text, render
from samekind.errors import SettingError, nearest

if TYPE_CHECKING:
    from samekind.questions.draw import DrawnConfidence, DrawnRegions, Surest

PICTURES = ("confidence", "voronoi")
#: The sizes of the regions where none is given.
EPSILONS = (0.5, 1.0, 3.5)

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
    """Draw a picture that explains a classifier. confidence: where it is most certain of its first class, and
    whether that is at the prototype. With a ratio of distances it is; with a softmax of squared distances or
    of cosines it is not.

    voronoi: the regions of attacks around a few items, as balls and as balls cut with Voronoi cells. Balls of
    two classes overlap, so no classifier is robust; cells do not, and the nearest neighbour is.
    """
    from samekind.questions.draw import draw_confidence, draw_regions

    if what not in PICTURES:
        raise SettingError(f'there is no picture "{what}"; {nearest(what, PICTURES)}')
    if what == "voronoi":
        regions = draw_regions(out, epsilon or EPSILONS)
        content, words = regions.to_json(), _regions_in_words(regions)
    else:
        if epsilon:
            raise SettingError("--epsilon is for the picture voronoi; leave it out for confidence")
        drawn = draw_confidence(out, form=form, classes=classes, scale=scale, on_sphere=sphere, angle=angle)
        content, words = drawn.to_json(), _maps_in_words(drawn)
    shown = f"{words}\nThe picture is in {out}"
    render({**content, "picture": out}, lambda: print_text(shown), as_json=as_json)


def _regions_in_words(answer: "DrawnRegions") -> str:
    accuracies = zip(answer.epsilons, answer.standard, answer.voronoi, strict=True)
    return "\n".join(
        f"epsilon {epsilon:g}: adversarial accuracy of the nearest neighbour {standard:.1%} in balls, "
        f"{voronoi:.1%} in Voronoi cells"
        for epsilon, standard, voronoi in accuracies
    )


def _maps_in_words(answer: "DrawnConfidence") -> str:
    if not answer.all_forms:
        return _sentence(answer.maps[0])
    return "\n".join(f"{drawn.form}: {_sentence(drawn)}" for drawn in answer.maps)


def _sentence(drawn: "Surest") -> str:
    place, prototype = (
        f"({', '.join(f'{number:z.4f}' for number in point)})" for point in (drawn.maximiser, drawn.prototype)
    )
    if drawn.maximiser == drawn.prototype:
        return f"surest at the prototype {prototype}: probability {drawn.probability:.6f}"
    edge = ", where the picture ends" if drawn.at_edge else ""
    return (
        f"surest at {place}{edge}: probability {drawn.probability:.6f}; "
        f"at the prototype {prototype} it is {drawn.probability_at_prototype:.6f}"
    )
