"""samekind draw: pictures that explain, made without any data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson

if TYPE_CHECKING:
    from samekind.reports.confidence import Confidence

PICTURES = ("confidence",)


def draw(
    what: Annotated[str, typer.Argument(metavar="WHAT", help="The picture: confidence.")],
    out: Annotated[Path, typer.Option(help="The file to write: .svg, .png or .pdf.")],
    form: Annotated[
        str, typer.Option(help="What the softmax is taken of: normface, squared, distance or ratio.")
    ] = "ratio",
    classes: Annotated[
        int,
        typer.Option(
            help="How many prototypes: 2 to 7 on the plane, 2 or 3 on the sphere (2 make a circle)."
        ),
    ] = 3,
    scale: Annotated[float, typer.Option(help="The factor of the scores.")] = 2.0,
    sphere: Annotated[
        bool | None,
        typer.Option(
            "--sphere/--plane",
            help="Where the points lie.",
            show_default="the sphere for normface, the plane for the others",
        ),
    ] = None,
    angle: Annotated[bool, typer.Option("--angle", help="Measure distances along the sphere.")] = False,
    as_json: AsJson = False,
) -> None:
    """Draw where a classifier is sure of its first class, and say where it is surest.

    Is that the prototype of the class? For a ratio of distances it is, for a softmax of squared distances or
    of cosines it is not.
    """
    from samekind.cli.output import print_json, print_text
    from samekind.errors import SettingError, nearest
    from samekind.reports.confidence import Confidence

    if what not in PICTURES:
        raise SettingError(f'there is no picture "{what}"; {nearest(what, PICTURES)}')
    on_sphere = sphere if sphere is not None else form == "normface" or angle
    drawn = Confidence(form, classes, scale, "sphere" if on_sphere else "plane", angle)
    _write(drawn, out)
    answer = _answer(drawn)
    if as_json:
        print_json({**answer, "picture": str(out)})
    else:
        print_text(_sentence(answer) + f"\nThe picture is in {out}")


def _write(drawn: "Confidence", out: Path) -> None:
    """Write the picture on white paper, whole or not at all."""
    import io

    import matplotlib

    from samekind.errors import SettingError
    from samekind.reports import confidence_map
    from samekind.reports.style import PAPER
    from samekind.storage import write_bytes

    ending, known = out.suffix.lower().removeprefix("."), ("pdf", "png", "svg")
    if ending not in known:
        raise SettingError(f"a picture ends in .{', .'.join(known)}; got {out.name}")
    content = io.BytesIO()
    # Without the date, and with the same identifiers every time: the same picture is the same file.
    metadata = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[ending]
    figure = confidence_map([drawn])
    with matplotlib.rc_context({"svg.hashsalt": "samekind"}):
        figure.savefig(content, format=ending, dpi=192, facecolor=PAPER, metadata=metadata)
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
