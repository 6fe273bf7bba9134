"""samekind index: the vectors of a gallery, kept to be searched again and again."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import (
    LARGEST_SEED,
    AsJson,
    Device,
    LabelColumn,
    SkipUnreadable,
    Sources,
    SpaceFolder,
)

if TYPE_CHECKING:
    from samekind.index import Index

index = typer.Typer(
    help="Keep the vectors of a gallery, to be searched again and again.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
IndexFolder = Annotated[Path, typer.Argument(metavar="INDEX", help="The folder of an index.")]
SpaceArgument = Annotated[
    Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")
]
Gallery = Annotated[
    list[str], typer.Argument(metavar="GALLERY…", help="What is to be found: files, folders or tables.")
]
Out = Annotated[Path, typer.Option(help="The folder of the index; an older index there is replaced.")]
IndexKind = Annotated[
    str,
    typer.Option(
        help="How the vectors are kept: auto (by size), exact, flat, hnsw, ivf or pq; on a server postgres "
        "or milvus. The kind of score is --score."
    ),
]
Server = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        help="The server of postgres or milvus; one with a password is better put in SAMEKIND_INDEX_URL.",
    ),
]
Name = Annotated[str | None, typer.Option(help="What the index is called on the server.")]
Recall = Annotated[
    float,
    typer.Option(
        help="The share of the nearest that a search has to find; 1 compares everything.", min=0.01, max=1.0
    ),
]
Nearest = Annotated[
    int, typer.Option("-k", "--nearest", help="For how many nearest that is measured.", min=1)
]
Scores = Annotated[
    list[str] | None,
    typer.Option(
        "--score",
        help="A score to measure for: similarity, cosine or fused; can be repeated.",
        show_default="similarity",
    ),
]
Distil = Annotated[bool, typer.Option(help="Try to shorten the list by distilling the score.")]
SampleSeed = Annotated[
    int, typer.Option(help="Fixes the sample that is measured with.", min=0, max=LARGEST_SEED)
]
Replace = Annotated[bool, typer.Option("--replace", help="Put items that are there already in anew.")]

#: What to do about a score that finds more.
MEASURED_FOR = "--score {kind} measures for it, search --kind {kind} asks by it"


@index.command()
def build(
    space: SpaceArgument,
    gallery: Gallery,
    out: Out,
    kind: IndexKind = "auto",
    server: Server = None,
    name: Name = None,
    recall: Recall = 0.95,
    k: Nearest = 10,
    scores: Scores = None,
    distil: Distil = True,
    seed: SampleSeed = 0,
    label: LabelColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Embed a gallery, keep its vectors, and measure how to search them quickly enough and well enough."""
    from samekind.cli import galleries
    from samekind.cli.asking import collected, known_kind, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.kinds import say_better_kind
    from samekind.index import space_fingerprint
    from samekind.index.folder import check_room

    galleries.check_kind(kind, server, name)
    check_room(out)
    loaded = open_space(space, device)
    kinds = [known_kind(loaded, each) for each in scores or ["similarity"]]
    columns = columns_of(space, label)
    items = collected(loaded, gallery, skip_unreadable=skip_unreadable, columns=columns)
    made = galleries.new_index(
        kind,
        loaded.prototypes.dimension,
        count=len(items.ids),
        fingerprint=space_fingerprint(loaded),
        url=server,
        name=name,
    )
    if not scores and not as_json:  # before the work, which may be long
        say_better_kind(loaded, to="search", how=MEASURED_FOR)

    def measure() -> None:
        for each in kinds:
            galleries.measure(loaded, made, each, recall=recall, k=k, distilled=distil, seed=seed)

    if made.remote:
        # What is added is there at once. If this is cut short, `add` can go on by this folder, and the note
        # of an index without a vector tells it what to measure for.
        measure()
        made.save(out)
    galleries.fill(loaded, made, items)
    if made.remote:
        made.save(out)  # a server makes its own index now: what is measured has to be searched the same way
    measure()
    made.save(out)
    made.close()
    _tell({"index": str(out), **_described(made), "skipped": items.skipped}, made, as_json=as_json)


@index.command()
def add(
    folder: IndexFolder,
    data: Sources,
    space: SpaceFolder,
    replace: Replace = False,
    label: LabelColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Add items to an index; what was added survives a crash. One that has grown much is measured again."""
    from samekind.cli import galleries
    from samekind.cli.asking import collected, open_space
    from samekind.cli.columns import columns_of

    loaded = open_space(space, device)
    opened = galleries.open_gallery(folder, loaded)
    columns = columns_of(space, label)
    items = collected(loaded, data, skip_unreadable=skip_unreadable, columns=columns)
    if not replace:
        galleries.check_new(opened, items.ids)
    before = len(opened)
    added = galleries.fill(loaded, opened, items, replace=replace)
    again = galleries.outgrown(loaded, opened)
    if again and opened.remote:
        opened.save(folder)  # as in `build`: its own index before the measurement
    for each in again:
        galleries.measure(
            loaded,
            opened,
            each.kind,
            recall=each.wanted,
            k=each.k,
            distilled=each.distilled,
            seed=each.seed,
        )
    # Otherwise the additions stay in the journal, and are read from there: a few need no new snapshot.
    if again or len(opened) > galleries.GROWN * before:
        opened.save(folder)
    opened.close()
    told = {"index": str(folder), "added": added, **_described(opened), "skipped": items.skipped}
    _tell(told, opened, as_json=as_json)


@index.command()
def remove(
    folder: IndexFolder,
    ids: Annotated[list[str], typer.Argument(metavar="IDS…", help="What to forget, as search names it.")],
    as_json: AsJson = False,
) -> None:
    """Remove items from an index, all of them or, if one is not there, none."""
    from samekind.cli import galleries

    opened = galleries.open_gallery(folder)
    wanted = list(dict.fromkeys(ids))
    opened.remove(wanted)
    opened.close()
    told = {"index": str(folder), "removed": len(wanted), **_described(opened)}
    _tell(told, opened, as_json=as_json)


@index.command()
def info(folder: IndexFolder, as_json: AsJson = False) -> None:
    """Show what an index holds, where it is kept, and what a search of it finds."""
    from samekind.cli import galleries

    opened = galleries.open_gallery(folder)
    _tell({"index": str(folder), **_described(opened)}, opened, as_json=as_json)


def _described(made: "Index") -> dict[str, Any]:
    """An index for programs: what it is, where it is, and its shortlists by their kind of score."""
    from samekind.cli.shortlists import as_json, noted

    held = len(made)
    return {
        "kind": type(made).__name__,
        "structure": made.built,
        "server": made.url,
        "name": made.name,
        "items": held,
        "dimension": made.dimension,
        "score": made.score,
        "fingerprint": made.fingerprint,
        "shortlists": {each.kind: as_json(each, made, held=held) for each in noted(made)},
    }


def _tell(told: dict[str, Any], made: "Index", *, as_json: bool) -> None:
    from samekind.cli.output import print_json, print_text

    if as_json:
        print_json(told)
        return
    done = "".join(f"{each} {told[each]:,}; " for each in ("added", "removed") if each in told)
    structure = f" ({told['structure']})" if told["structure"] else ""
    where = f', "{told["name"]}" on {told["server"]}' if told["server"] else ""
    what = f"{told['kind']}{structure}{where}, by {told['score']}"
    if not told["items"]:
        print_text(f"{told['index']}: {done}empty, for vectors of {told['dimension']} numbers; {what}.")
        print_text("There is nothing to find in it; samekind index add puts something in.")
        return
    held = f"{told['items']:,} vectors of {told['dimension']} numbers"
    print_text(f"{told['index']}: {done}{held}; {what}.")
    _tell_of_shortlists(made, held=told["items"])


def _tell_of_shortlists(made: "Index", *, held: int) -> None:
    from samekind.cli.output import messages, print_text
    from samekind.cli.shortlists import noted, sentence, warning

    known = noted(made)
    for each in known:
        print_text(f"{sentence(each, made, held=held)}.")
    if not known:
        print_text(
            "No shortlist was measured: any score but its own is found by comparing everything; "
            "samekind index build measures one."
        )
    for each in known:
        if (careful := warning(each, made, held=held)) is not None:
            messages().print(f"careful ({each.kind}): {careful}.", soft_wrap=True)
