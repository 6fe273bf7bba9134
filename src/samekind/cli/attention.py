"""samekind attention: where a network looks, drawn over pictures."""

import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.draw import write_figure
from samekind.cli.options import AsJson, Device, SkipUnreadable, SpaceArgument
from samekind.cli.output import print_json, print_text
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.questions.attention import Looked
    from samekind.reports import Overlay

LONGEST_NAME = 16
#: Bytes of a picture's name that the name of its drawing keeps; file systems allow 255.
LONGEST_STEM = 200
DOTS_PER_INCH = 160

Files = Annotated[list[str], Argument(metavar="FILES…", help="Pictures, or folders and archives of them.")]
Like = Annotated[
    Path | None,
    Option(help="Show what makes them similar to this picture.", show_default="like the nearest class"),
]
Layer = Annotated[
    str | None,
    Option(help="The map that Grad-CAM looks at.", show_default="the last that the features are made of"),
]


def attention(
    space: SpaceArgument,
    files: Files,
    out: Annotated[Path, Option(help="The folder to write to: one .png for each picture.")],
    like: Like = None,
    layer: Layer = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Draw where an encoder looks: its attention layer by layer, and what speaks for its answer (Grad-CAM).

    An encoder without attention gets Grad-CAM alone. It must have stages, as all image networks but LeNet and
    SmallConvnet do, of which small pictures get the latter: train with --set space.encoder.name=ResNet18.
    """
    from samekind import questions
    from samekind.inference import device_of, embed_files
    from samekind.questions.attention import drawable_layer
    from samekind.reports import attention_maps

    opened = open_space(space, device)
    loaded = opened.space
    looked_at = drawable_layer(loaded, layer, like=like is not None)
    other = None if like is None else embed_files(loaded, [like]).to(device_of(loaded))
    items = opened.read(files, skip_unreadable=skip_unreadable)
    drawn: list[tuple[str, Path, Looked]] = []
    with bar("attention", len(items.ids)) as advance:
        for place, name in enumerate(_file_names(items.ids)):
            image = items.inputs[place : place + 1][0]
            answer = questions.attention(
                loaded, image, looked_at, other=other, like=None if like is None else str(like)
            )
            write_figure(
                partial(attention_maps, image, _overlays(answer, looked_at)),
                out / name,
                dots_per_inch=DOTS_PER_INCH,
            )
            drawn.append((items.ids[place], out / name, answer))
            advance(1)
    if as_json:
        pictures = [{"id": id, "picture": path, **answer.to_json()} for id, path, answer in drawn]
        print_json({"out": out, "layer": looked_at, "pictures": pictures, "skipped": items.skipped})
        return
    for id, path, answer in drawn:
        what = f"like {answer.like}" if answer.like else f'nearest to "{answer.name}"'
        print_text(f"{id}: {what} (score {answer.score:.3f}), drawn in {path}")


def _overlays(answer: "Looked", layer: str) -> "list[Overlay]":
    """The maps to draw: the attention of each layer, then the evidence."""
    from samekind.reports import Overlay
    from samekind.reports.names import shortened

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


def _places(values: "Tensor") -> str:
    height, width = values.shape
    return f"{width} x {height} places"


def _file_names(ids: Sequence[str]) -> Iterator[str]:
    """A name for each drawing, after its picture and never that of any picture; no two alike."""
    from samekind.data.media.pictures import picture_stem

    taken = {PurePath(id).name.lower() for id in ids}
    for id in ids:
        stem = re.sub(r"[^\w.-]+", "-", picture_stem(PurePath(id)))
        stem = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
        name, number = f"{stem}-attention.png", 2
        while name.lower() in taken:  # some file systems ignore case
            name, number = f"{stem}-{number}-attention.png", number + 1
        taken.add(name.lower())
        yield name
