"""samekind tree: which tree do my classes make?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli.draw import write_figure
from samekind.cli.options import AsJson, Device, Kind, SpaceArgument, Taxonomy, known
from samekind.cli.output import print_text, render
from samekind.cli.spaces import open_space
from samekind.errors import SettingError

if TYPE_CHECKING:
    from samekind.questions.tree import Agreement, Inferred

PICTURES = (".svg", ".png", ".pdf")
To = Annotated[
    list[Path] | None,
    Option(
        "--to",
        metavar="FILE",
        help="Where to write the tree (.nwk, .csv, .tsv, .json, .txt) or its picture (.svg, .png, .pdf); may "
        "be given again.",
    ),
]
Coloured = Annotated[
    str | None,
    Option("--data", metavar="DATA", help="Labelled items: mistakes about them colour the picture."),
]
MethodOption = Annotated[
    str, Option(help="neighbour-joining, average (UPGMA), single, complete, weighted or ward.")
]
ByConfusions = Annotated[
    bool, Option("--by-confusions", help="Classes are near that are mistaken for one another (in --data).")
]


def tree(
    space: SpaceArgument,
    method: MethodOption = "neighbour-joining",
    to: To = None,
    taxonomy: Taxonomy = None,
    data: Coloured = None,
    by_confusions: ByConfusions = False,
    radial: Annotated[bool, Option("--radial", help="Draw the tree around a circle.")] = False,
    kind: Kind = None,
    device: Device = "auto",
    as_json: AsJson = False,
) -> None:
    """Infer the tree of the classes, write and draw it, and compare it with a known one.

    The known tree is --taxonomy, or the one that the space was trained with.
    """
    from typing import get_args

    from samekind import questions
    from samekind.taxonomy import Method, read_tree

    known("method", method, get_args(Method))
    tree_known = None if taxonomy is None else read_tree(taxonomy)
    opened = open_space(space, device)
    items = None if data is None else opened.read_labelled(data)
    answer = questions.tree(
        opened.space,
        kind=kind,
        method=method,  # type: ignore[arg-type]  # checked above
        known=tree_known,
        items=items,
        by_confusions=by_confusions,
    )
    for path in to or []:
        _write(answer, path, radial=radial)
    files = to or []
    render({**answer.to_json(), "files": files}, lambda: _print(answer, files), as_json=as_json)


def _print(answer: "Inferred", files: list[Path]) -> None:
    from samekind.taxonomy.newick import newick_text

    if answer.agreement is not None:
        print_text(_sentence(answer.agreement))
    for path in files:
        print_text(f"written to {path}")
    if not files:
        print_text(newick_text(answer.tree).strip())


def _write(answer: "Inferred", path: Path, *, radial: bool) -> None:
    """Write the tree, or its picture if the file's ending says so."""
    from samekind.reports import tree_picture
    from samekind.taxonomy import write_tree

    if path.suffix.lower() not in PICTURES:
        write_tree(answer.tree, path)
        return
    try:
        figure = tree_picture(
            answer.tree, shape="radial" if radial else "dendrogram", mistakes=answer.mistakes
        )
    except ValueError as error:
        raise SettingError(f"{path.name}: {error}") from None
    write_figure(lambda: figure, path)


def _sentence(agreement: "Agreement") -> str:
    """How far the trees agree, in words, beside what chance gives."""
    splits = agreement.splits
    words = (
        f"The inferred tree has {splits.both} of the {splits.both + splits.second_only} splits of the known "
        "one. "
        f"Robinson-Foulds distance {splits.distance}, normalised {splits.normalised:.3f} "
        f"({agreement.splits_by_chance:.3f} with shuffled names)"
    )
    if agreement.correlation is None or agreement.correlation_by_chance is None:
        return words
    chance = f"{agreement.correlation_by_chance:.3f} with shuffled names"
    return f"{words}; mean correlation of the distances {agreement.correlation:.3f} ({chance})"
