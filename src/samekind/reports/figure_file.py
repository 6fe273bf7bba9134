"""A figure as a file: .svg, .png or .pdf."""

import io
from collections.abc import Callable
from pathlib import Path

from samekind.errors import SettingError
from samekind.reports.panels import Figure
from samekind.reports.style import PAPER
from samekind.storage import write_bytes

#: What a file says about its making, by its ending. Without the date the same picture is the same file.
METADATA = {"pdf": {"CreationDate": None}, "png": {}, "svg": {"Date": None}}


def write_figure(draw: Callable[[], Figure], path: Path, *, dots_per_inch: int = 192) -> None:
    """Write a picture on white paper, whole or not at all; nothing is drawn for an unknown ending."""
    import matplotlib

    ending = path.suffix.lower().removeprefix(".")
    if ending not in METADATA:
        raise SettingError(f"a picture ends in .{', .'.join(METADATA)}; got {path.name}")
    content, figure = io.BytesIO(), draw()
    with matplotlib.rc_context({"svg.hashsalt": "samekind"}):  # the same identifiers every time
        figure.savefig(content, format=ending, dpi=dots_per_inch, facecolor=PAPER, metadata=METADATA[ending])
    write_bytes(path, content.getvalue())
