"""samekind attention: where a network looks, drawn over pictures."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, SkipUnreadable
from samekind.errors import SpaceError

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.reports import Overlay
    from samekind.space import MetricSpace

LONGEST_NAME = 16
#: Bytes of a picture's name that are kept in that of its drawing; disks take 255, some for a draft's ending.
LONGEST_STEM = 200
DOTS_PER_INCH = 160


def attention(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")],
    files: Annotated[
        list[str], typer.Argument(metavar="FILES…", help="Pictures, or folders and archives of them.")
    ],
    out: Annotated[Path, typer.Option(help="The folder to write to: one .png for each picture.")],
    like: Annotated[
        Path | None,
        typer.Option(help="Show what makes them like this picture.", show_default="like the nearest class"),
    ] = None,
    layer: Annotated[
        str | None,
        typer.Option(
            help="The map that Grad-CAM looks at.", show_default="the last that the features are made of"
        ),
    ] = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Draw where an encoder looks: its attention layer by layer, and what speaks for its answer (Grad-CAM).

    An encoder without attention gets Grad-CAM alone. It must have stages, as all image networks but LeNet and
    SmallConvnet do, of which small pictures get the latter: train with --set space.encoder.name=ResNet18.
    """
    from samekind.cli.asking import bar, collected, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.output import print_json, print_text
    from samekind.inference.grad_cam import layer_of

    loaded = open_space(space, device)
    _expect_pictures(loaded)
    looked_at = layer_of(loaded.encoder, layer)
    other = _embedded(loaded, like)
    items = collected(loaded, files, skip_unreadable=skip_unreadable, columns=columns_of(space))
    told: list[dict[str, Any]] = []
    with bar("attention", len(items.ids)) as advance:
        for place, name in enumerate(_file_names(items.ids)):
            image = items.inputs[place : place + 1][0]
            answer, overlays = _look(loaded, image, other, like=like, layer=looked_at)
            _write(out / name, image, overlays)
            told.append({"id": items.ids[place], "picture": str(out / name), **answer})
            advance(1)
    if as_json:
        print_json({"out": str(out), "layer": looked_at, "pictures": told, "skipped": items.skipped})
        return
    for each in told:
        what = f"like {like}" if like else f'nearest to "{each["class"]}"'
        print_text(f"{each['id']}: {what} (score {each['score']:.3f}), drawn in {each['picture']}")


def _expect_pictures(space: "MetricSpace") -> None:
    """Refuse a space that reads something else."""
    from samekind.data import PICTURES

    if space.reader is not None and space.reader.medium is not PICTURES:
        raise SpaceError(
            f"only pictures can be drawn on; this space reads items of shape {space.reader.shape}"
        )


def _embedded(space: "MetricSpace", like: Path | None) -> "Tensor | None":
    """The embedding (1, d) of the picture to be like; without one the space must know classes."""
    from samekind.inference import embed_files
    from samekind.inference.embed import device_of

    if like is not None:
        return embed_files(space, [like]).to(device_of(space))
    if not space.classes:
        raise SpaceError("this space knows no class yet; name a picture to compare with: --like FILE")
    return None


def _look(
    space: "MetricSpace", image: "Tensor", other: "Tensor | None", *, like: Path | None, layer: str
) -> tuple[dict[str, Any], list["Overlay"]]:
    """What there is to say about one picture (channels, height, width), and to draw over it."""
    from samekind.data import scaled
    from samekind.inference import asking, grad_cam
    from samekind.inference.embed import device_of

    def scores(z: "Tensor") -> "Tensor":  # (1, classes), or (1, 1) for the other picture
        return space.score_classes(z) if other is None else space.score(other, z)[:, None]

    x = scaled(image[None].to(device_of(space)))
    encoder: Any = space.encoder
    with asking(space):
        found = scores(space.embed(x))[0]
        weights = encoder.attention(x) if hasattr(encoder, "attention") else {}
    best = int(found.argmax())
    named = {"class": space.classes[best]} if like is None else {"like": str(like)}
    evidence = grad_cam(space, x, lambda z: scores(z)[:, best], layer=layer)[0]
    maps = {name: each[0].cpu() for name, each in weights.items()}
    peaks = {name: _peak(each) for name, each in maps.items()}
    answer = {"score": float(found[best]), **named, "attention": peaks, "grad_cam": _peak(evidence)}
    whom = f"speaks for “{_short(named['class'])}”" if like is None else f"makes it like {_short(like.name)}"
    return answer, [*_attention_overlays(maps), _evidence_overlay(evidence, whom, layer)]


def _short(name: str) -> str:
    from samekind.reports.names import shortened

    return shortened([name], LONGEST_NAME)[0]


def _peak(values: "Tensor") -> dict[str, Any]:
    """The size of a map, and the row and column of its most; None where it is 0 throughout."""
    row, column = divmod(int(values.argmax()), values.shape[1])
    return {"shape": list(values.shape), "most_at": [row, column] if bool(values.any()) else None}


def _attention_overlays(maps: dict[str, "Tensor"]) -> list["Overlay"]:
    from samekind.reports import Overlay

    return [
        Overlay(
            f"attention in {name}",
            f"{_places(weights)}; 1 is an even share",
            weights.float() * weights.numel(),
        )
        for name, weights in maps.items()
    ]


def _evidence_overlay(values: "Tensor", whom: str, layer: str) -> "Overlay":
    from samekind.reports import Overlay

    most = float(values.max())
    title = f"{'what' if most > 0 else 'nothing'} {whom}"
    return Overlay(title, f"Grad-CAM on {layer}, {_places(values)}", values / most if most > 0 else values)


def _places(values: "Tensor") -> str:
    height, width = values.shape
    return f"{width} x {height} places"


def _file_names(ids: Sequence[str]) -> Iterator[str]:
    """A name for each drawing, after its picture and never that of any picture; no two alike."""
    from samekind.data import PICTURES

    taken = {PurePath(each).name.lower() for each in ids}
    for each in ids:
        path = PurePath(each)
        known = PICTURES.takes(path.suffix)
        stem = re.sub(r"[^\w.-]+", "-", path.stem if known else path.name)
        stem = stem.encode()[:LONGEST_STEM].decode(errors="ignore")
        name, number = f"{stem}-attention.png", 2
        while name.lower() in taken:  # some disks do not tell A from a
            name, number = f"{stem}-{number}-attention.png", number + 1
        taken.add(name.lower())
        yield name


def _write(path: Path, image: "Tensor", overlays: Sequence["Overlay"]) -> None:
    """The drawing on white paper, as a file that is there whole or not at all."""
    import io

    from samekind.reports import attention_maps
    from samekind.reports.style import PAPER
    from samekind.storage import write_bytes

    content = io.BytesIO()
    attention_maps(image, overlays).savefig(content, format="png", dpi=DOTS_PER_INCH, facecolor=PAPER)
    write_bytes(path, content.getvalue())
