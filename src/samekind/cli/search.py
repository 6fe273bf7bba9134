"""samekind search: what is most like this?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Argument, Option

from samekind.cli.advice import advice_in_words
from samekind.cli.options import AsJson, Device, Kind, LabelColumn, SkipUnreadable, SpaceFolder
from samekind.cli.output import print_json, print_table, print_text, table
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space
from samekind.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.questions.search import How, Query, Searched

IndexFolder = Annotated[Path | None, Option(help="The folder of an index to look in (samekind index build).")]
SaveIndex = Annotated[
    Path | None, Option(help="Store the gallery's vectors in this folder, for the next search.")
]
Exhaustive = Annotated[
    bool, Option("--exhaustive", help="Compare everything, even if the index has a shortlist.")
]
Cohort = Annotated[
    str | None,
    Option(
        "--cohort",
        metavar="gallery",
        help="Normalise scores by the gallery itself: an item that is close to everything is found less.",
    ),
]
Queries = Annotated[list[str], Argument(metavar="QUERY…", help="What to look for: files, folders or tables.")]
Gallery = Annotated[
    list[str] | None, Option(help="Where to look: files, folders, tables, or the folder of an index.")
]


def search(
    queries: Queries,
    space: SpaceFolder,
    gallery: Gallery = None,
    index: IndexFolder = None,
    k: Annotated[int, Option("-k", "--nearest", help="How many to find for each query.", min=1)] = 5,
    kind: Kind = None,
    cohort: Cohort = None,
    save_index: SaveIndex = None,
    exhaustive: Exhaustive = False,
    label: LabelColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Find the items of a gallery that are most like each query; a query does not find its own file."""
    from samekind.questions.search import index_among, search_files

    if cohort not in (None, "gallery"):
        raise SettingError(f'--cohort: expected gallery, the items that are searched; got "{cohort}"')
    folder = index_among(gallery or [], index, save_to=save_index)
    opened = open_space(space, device)
    answer = search_files(
        opened,
        queries,
        gallery=gallery or [],
        index=folder,
        save_to=save_index,
        k=k,
        kind=kind,
        own_cohort=cohort is not None,
        exhaustive=exhaustive,
        label=label,
        skip_unreadable=skip_unreadable,
        progress=bar,
    )
    if as_json:
        print_json(answer.to_json())
        return
    # How it was found is worth telling for an index alone: other galleries are compared whole.
    _show(answer, answer.how if folder is not None and not exhaustive else None)


def _show(answer: "Searched", how: "How | None") -> None:
    if not answer.gallery:
        print_text("The index is empty: there is nothing to find; samekind index add puts something in.")
        return
    for query in answer.queries:
        print_table(_table(query, answer.kind))
    if how is not None:
        print_text(f"\n{_in_words(how)}.")


def _in_words(how: "How") -> str:
    """How matches were found, and the option or command that helps."""
    if how.advice is None:
        return how.sentence
    words = advice_in_words(how.advice)
    return f"{how.sentence} ({words})" if how.advice.what == "exhaustive" else f"{how.sentence}; {words}"


def _table(query: "Query", kind: str) -> "Table":
    """The matches of one query; with labels and probabilities if there are any."""
    labelled = any(match.label is not None for match in query.matches)
    calibrated = any(match.probability is not None for match in query.matches)
    lines = [
        [
            match.id,
            *([match.label or ""] if labelled else []),
            f"{match.score:.4f}",
            *([f"{match.probability:.3f}"] if calibrated else []),
        ]
        for match in query.matches
    ]
    score = "score" if kind == "similarity" else f"score ({kind})"
    columns = ["item", *(["label"] if labelled else []), score]
    columns += ["probability of same"] if calibrated else []
    label = f" ({query.label})" if query.label is not None else ""
    return table(f"Most like {query.id}{label}", columns, lines, texts=1 + labelled)
