"""samekind index: the vectors of a gallery, kept to be searched again and again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Option

from samekind.cli import options
from samekind.cli.advice import advice_in_words
from samekind.cli.output import print_json, print_messages, print_text
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space
from samekind.settings import LARGEST_SEED

if TYPE_CHECKING:
    from samekind.questions.index import IndexInfo

index = typer.Typer(
    help="Keep the vectors of a gallery, to be searched again and again.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
IndexFolder = Annotated[Path, Argument(metavar="INDEX", help="The folder of an index.")]
Gallery = Annotated[
    list[str], Argument(metavar="GALLERY…", help="What searches find: files, folders or tables.")
]
Out = Annotated[Path, Option(help="The folder of the index; an older index there is replaced.")]
IndexType = Annotated[
    str,
    Option(
        "--type",
        help="How the vectors are kept: auto (by size), exact, flat, hnsw, ivf or pq; on a server postgres "
        "or milvus.",
    ),
]
Server = Annotated[
    str | None,
    Option(
        "--server",
        metavar="URL",
        help="The server of postgres or milvus; put an address with a password in SAMEKIND_INDEX_URL.",
    ),
]
Name = Annotated[str | None, Option(help="The name of the index on the server.")]
Recall = Annotated[
    float,
    Option(
        help="The share of the nearest that a search must find; 1 compares everything.", min=0.01, max=1.0
    ),
]
Nearest = Annotated[int, Option("-k", "--nearest", help="The number of nearest to measure it for.", min=1)]
Scores = Annotated[
    list[str] | None,
    Option(
        "--kind",
        "--score",
        help="A kind of score to search by: similarity, cosine, fused, fitted or normalised; can be "
        "repeated. An index for fitted or normalised alone finds by that as quickly as by the cosine.",
        show_default="the space's choice",
    ),
]
Distil = Annotated[bool, Option(help="Try to shorten the list by distilling the score.")]
SampleSeed = Annotated[int, Option(help="Fixes the sample that is measured with.", min=0, max=LARGEST_SEED)]
Thumbnails = Annotated[
    bool, Option("--thumbnails", help="Keep a small picture of every item too, as samekind serve shows them.")
]
Replace = Annotated[bool, Option("--replace", help="Replace items that are already there.")]


@index.command()
def build(
    space: options.SpaceArgument,
    gallery: Gallery,
    out: Out,
    index_type: IndexType = "auto",
    server: Server = None,
    name: Name = None,
    recall: Recall = 0.95,
    k: Nearest = 10,
    kind: Scores = None,
    distil: Distil = True,
    seed: SampleSeed = 0,
    thumbnails: Thumbnails = False,
    label: options.LabelColumn = None,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Embed a gallery, store its vectors, and measure how to search them well and quickly."""
    from samekind.questions.galleries import ShortlistSettings
    from samekind.questions.index import IndexPlace, build_gallery, refuse_types

    refuse_types(kind or ())
    place = IndexPlace(index_type, server, name)
    place.check(out)
    answer = build_gallery(
        open_space(space, device),
        gallery,
        out,
        place=place,
        scores=kind or (),
        settings=ShortlistSettings(recall, k, distilled=distil, seed=seed),
        thumbnails=thumbnails,
        label=label,
        skip_unreadable=skip_unreadable,
        progress=bar,
    )
    _show(out, answer, as_json=as_json)


@index.command()
def add(
    folder: IndexFolder,
    data: options.Sources,
    space: options.SpaceFolder,
    replace: Replace = False,
    thumbnails: Thumbnails = False,
    label: options.LabelColumn = None,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Add items to an index; they survive a crash. An index that has grown much is measured again."""
    from samekind.questions import galleries
    from samekind.questions.index import add_to_index

    opened = open_space(space, device)
    stored = galleries.open_gallery(folder, opened.space)
    items = opened.read(data, label=label, skip_unreadable=skip_unreadable)
    answer = add_to_index(
        opened.space, stored, items, folder, replace=replace, thumbnails=thumbnails, progress=bar
    )
    _show(folder, answer, as_json=as_json)


@index.command()
def remove(
    folder: IndexFolder,
    ids: Annotated[list[str], Argument(metavar="IDS…", help="The ids to remove, as search names them.")],
    as_json: options.AsJson = False,
) -> None:
    """Remove items from an index; if one is not there, none is removed."""
    from samekind.questions import galleries
    from samekind.questions.index import remove_from_index

    _show(folder, remove_from_index(galleries.open_gallery(folder), ids), as_json=as_json)


@index.command()
def info(folder: IndexFolder, as_json: options.AsJson = False) -> None:
    """Show what an index holds, where it is, and what a search of it finds."""
    from samekind.questions import galleries
    from samekind.questions.index import index_info

    _show(folder, index_info(galleries.open_gallery(folder)), as_json=as_json)


def _show(folder: Path, answer: "IndexInfo", *, as_json: bool) -> None:
    if as_json:
        print_json({"index": str(folder), **answer.to_json()})
        return
    changes = {"added": answer.added, "removed": answer.removed}
    done = "".join(f"{verb} {count:,}; " for verb, count in changes.items() if count is not None)
    structure = f" ({answer.structure})" if answer.structure else ""
    where = f', "{answer.name}" on {answer.server}' if answer.server else ""
    what = f"{answer.backend}{structure}{where}, by {answer.score}"
    if not answer.items:
        print_text(f"{folder}: {done}empty, for vectors of {answer.dimension} numbers; {what}.")
        print_text("There is nothing to find in it; samekind index add puts something in.")
        return
    print_text(f"{folder}: {done}{answer.items:,} vectors of {answer.dimension} numbers; {what}.")
    for shortlist in answer.shortlists:
        advice = f"; {advice_in_words(shortlist.advice)}" if shortlist.advice is not None else ""
        print_text(f"{shortlist.sentence}{'' if shortlist.warning else advice}.")
        if shortlist.warning:
            print_messages(f"careful ({shortlist.kind}): {shortlist.warning}{advice}.")
    if not answer.shortlists:
        print_text(
            "No shortlist was measured: any score but its own is found by comparing everything; "
            "samekind index build measures one."
        )
