"""A figure as part of a page: SVG, or PNG if the SVG would be too large."""

import base64
import io
import re
from html import escape

from samekind.reports.names import WHOLE
from samekind.reports.panels import Figure

#: Characters of an SVG at most: with many thousand points it is slow, and larger than a PNG.
HEAVIEST_DRAWING = 600_000
#: CSS pixels: figures up to the first shrink to any screen; wider ones not below the second, they scroll.
SHRINKS, LEAST = 720, 640
#: Two pixels for each CSS pixel.
DOTS_PER_INCH = 192


def picture(figure: Figure, *, name: str, description: str) -> str:
    """HTML of a figure; ``name`` is an identifier no other picture of the page has.

    Text stays text, in the font of the page; a shortened name has the whole one as tooltip. Nothing is loaded
    from elsewhere.
    """
    width, height = figure.get_size_inches() * 96
    style = f"max-width:{width:.0f}px" + (f";min-width:{LEAST}px" if width > SHRINKS else "")
    drawing = _drawing(figure)
    if len(drawing) > HEAVIEST_DRAWING:
        content = io.BytesIO()
        figure.savefig(content, format="png", dpi=DOTS_PER_INCH, metadata={"Software": None})
        return (
            f'<img style="{style}" width="{width:.0f}" height="{height:.0f}" alt="{escape(description)}" '
            f'src="data:image/png;base64,{base64.b64encode(content.getvalue()).decode()}">'
        )
    # A title is the tooltip of a text; it has been escaped already.
    drawing = re.sub(rf"""<g id=(["']){WHOLE}(.*?)\1>""", r"<g><title>\2</title>", drawing, flags=re.DOTALL)
    # Identifiers are unique within a figure only, and this page has several.
    drawing = re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{name}-", drawing)
    # Drawn in points of 1/72 inch.
    box = f"0 0 {width * 0.75:g} {height * 0.75:g}"
    return (
        f'<svg style="{style}" viewBox="{box}" role="img" aria-label="{escape(description)}">{drawing}</svg>'
    )


def _drawing(figure: Figure) -> str:
    """The content of the SVG, without matplotlib's metadata and page-wide style."""
    import matplotlib

    # Read by matplotlib at the moment of writing only: letters as text, and the same names every time.
    with io.StringIO() as file, matplotlib.rc_context({"svg.fonttype": "none", "svg.hashsalt": "samekind"}):
        figure.savefig(file, format="svg", dpi=DOTS_PER_INCH, metadata={"Date": None})
        text = file.getvalue()
    inside = re.search(r"<svg[^>]*>(.*)</svg>", text, flags=re.DOTALL)
    assert inside is not None
    without_notes = re.sub(r"<metadata>.*?</metadata>|<style.*?</style>", "", inside[1], flags=re.DOTALL)
    return re.sub(r"\s*\n\s*", "\n", without_notes)
