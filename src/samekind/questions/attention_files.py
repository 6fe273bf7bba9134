"""Where does the network look in the pictures of files? A drawing for each."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePath
from typing import Any, NamedTuple

from torch import Tensor

from samekind.data.media.pictures import picture_stem
from samekind.inference import device_of, embed_files
from samekind.questions.attention import Looked, attention, drawable_layer
from samekind.questions.opening import OpenSpace
from samekind.questions.progress import Progress, silent
from samekind.reports import Overlay, attention_maps, write_figure
from samekind.reports.names import shortened

LONGEST_NAME = 16
#: Bytes of a picture's name that the name of its drawing keeps; file systems allow 255.
LONGEST_STEM = 200
DOTS_PER_INCH = 160


class Drawing(NamedTuple):
    """The id of a picture, the file of its drawing, and the answer about it."""

    id: str
    path: Path
    answer: Looked


@dataclass(frozen=True)
class DrawnAttention:
    """The drawings of pictures, the layer that Grad-CAM looked at, and the files that were skipped."""

    layer: str
    drawings: tuple[Drawing, ...]
    skipped: tuple[tuple[str, str], ...]

    def to_json(self) -> dict[str, Any]:
        pictures = [
            {"id": drawing.id, "picture": str(drawing.path), **drawing.answer.to_json()}
            for drawing in self.drawings
        ]
        return {"layer": self.layer, "pictures": pictures, "skipped": self.skipped}


def draw_attention(
    opened: OpenSpace,
    files: Sequence[str],
    out: Path,
    *,
    like: Path | None = None,
    layer: str | None = None,
    skip_unreadable: bool = False,
    progress: Progress = silent,
) -> DrawnAttention:
    """Draw each picture of the files into the folder ``out``: what speaks for its nearest class, or for its
    likeness to the picture ``like``.
    """
    space = opened.space
    layer = drawable_layer(space, layer, like=like is not None)
    other = None if like is None else embed_files(space, [like]).to(device_of(space))
    items = opened.read(files, skip_unreadable=skip_unreadable)
    drawings = []
    with progress("attention", len(items.ids)) as advance:
        for place, name in enumerate(_file_names(items.ids)):
            image = items.inputs[place : place + 1][0]
            answer = attention(space, image, layer, other=other, like=None if like is None else str(like))
            figure = partial(attention_maps, image, _overlays(answer, layer))
            write_figure(figure, out / name, dots_per_inch=DOTS_PER_INCH)
            drawings.append(Drawing(items.ids[place], out / name, answer))
            advance(1)
    return DrawnAttention(layer, tuple(drawings), items.skipped)


def _overlays(answer: Looked, layer: str) -> list[Overlay]:
    """The maps to draw: the attention of each layer, then the evidence."""
    maps = [
        Overlay(
            f"attention in {name}",
            f"{_places(weights)}; 1 is an even share",
            weights.float() * weights.numel(),
        )
        for name, weights in answer.attention.items()
    ]
    [name] = shortened([answer.name or Path(answer.like or "").name], LONGEST_NAME)
    whom = f"speaks for “{name}”" if answer.like is None else f"makes it like {name}"
    most = float(answer.evidence.max())
    title = f"{'what' if most > 0 else 'nothing'} {whom}"
    about = f"Grad-CAM on {layer}, {_places(answer.evidence)}"
    return [*maps, Overlay(title, about, answer.evidence / most if most > 0 else answer.evidence)]


def _places(values: Tensor) -> str:
    height, width = values.shape
    return f"{width} x {height} places"


def _file_names(ids: Sequence[str]) -> Iterator[str]:
    """A name for each drawing, after its picture and never that of any picture; no two alike."""
    taken = {PurePath(id).name.lower() for id in ids}
    for id in ids:
        stem = re.sub(r"[^\w.-]+", "-", picture_stem(PurePath(id)))
        stem = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
        name, number = f"{stem}-attention.png", 2
        while name.lower() in taken:  # some file systems ignore case
            name, number = f"{stem}-{number}-attention.png", number + 1
        taken.add(name.lower())
        yield name
