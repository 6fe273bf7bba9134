"""samekind attention: where a network looks, drawn over pictures."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.options import AsJson, Device, SkipUnreadable, SpaceArgument
from samekind.cli.output import print_text, render
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space

if TYPE_CHECKING:
    from samekind.questions.attention_files import DrawnAttention

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
    from samekind.questions.attention_files import draw_attention

    answer = draw_attention(
        open_space(space, device),
        files,
        out,
        like=like,
        layer=layer,
        skip_unreadable=skip_unreadable,
        progress=bar,
    )
    render({"out": out, **answer.to_json()}, lambda: _print(answer), as_json=as_json)


def _print(answer: "DrawnAttention") -> None:
    for id, path, looked in answer.drawings:
        what = f"like {looked.like}" if looked.like else f'nearest to "{looked.name}"'
        print_text(f"{id}: {what} (score {looked.score:.3f}), drawn in {path}")
