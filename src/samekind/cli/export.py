"""samekind export: a space as files that run without PyTorch."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli.options import AsJson, SpaceArgument
from samekind.cli.output import print_messages, print_table, print_text, render, table
from samekind.cli.spaces import open_space

if TYPE_CHECKING:
    from samekind.questions.export import Exported

Out = Annotated[Path, Option("--out", metavar="FOLDER", help="The folder to write.")]
Data = Annotated[
    str | None,
    Option(
        "--data",
        metavar="DATA",
        help="Items to compare PyTorch and onnxruntime on: a file, folder or table.",
        show_default="noise",
    ),
]
Gallery = Annotated[
    Path | None,
    Option("--index", metavar="INDEX", help="The folder of an index, to be searched by the server."),
]


def export(
    space: SpaceArgument, out: Out, data: Data = None, index: Gallery = None, as_json: AsJson = False
) -> None:
    """Write a space as ONNX files that run without PyTorch, and compare both: numbers, size and time.

    samekind serve FOLDER --onnx serves them.
    """
    from samekind import questions
    from samekind.exporting.writing import expect_replaceable
    from samekind.questions.export import kept_with
    from samekind.questions.galleries import open_gallery

    opened = open_space(space, "cpu")
    items = None if data is None else opened.read([data])
    gallery = None if index is None else open_gallery(index, opened.space)
    expect_replaceable(out)  # before anything that takes long
    tradeoffs, measures = kept_with(opened, gallery)
    answer = questions.export(
        opened.space,
        out,
        name=opened.name,
        items=items,
        gallery=gallery,
        tradeoffs=tradeoffs,
        measures=measures,
    )
    render({"folder": out, **answer.to_json()}, lambda: _print(answer, out), as_json=as_json)


def _print(answer: "Exported", folder: Path) -> None:
    sizes = [[name, f"{size:,}"] for name, size in answer.files.items()]
    print_table(
        table("Files", ["file", "bytes"], [*sizes, ["all", f"{sum(answer.files.values()):,}"]], texts=1)
    )
    parity = [[row.what, f"{row.difference:.1e}", f"{row.largest:.3g}"] for row in answer.parity]
    title = f"Largest difference between PyTorch and onnxruntime ({answer.compared_on})"
    print_table(table(title, ["numbers", "difference", "largest number"], parity, texts=1))
    times = [
        [str(row.batch), f"{row.torch:.2f}", f"{row.onnxruntime:.2f}", f"{row.ratio:.2f}"]
        for row in answer.latency
    ]
    heads = ["items at once", "PyTorch", "onnxruntime", "times as quick"]
    print_table(table("Milliseconds from items to embeddings (median)", heads, times, texts=0))
    print_messages(*(f"careful: {sentence}" for sentence in answer.warnings))
    gallery = "" if answer.gallery is None else f", with a gallery of {answer.gallery:,} items"
    print_text(f"The space is in {folder}{gallery}. Serve it: samekind serve {folder} --onnx")
