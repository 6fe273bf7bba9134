"""samekind tree: which tree do my classes make?"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli.options import AsJson, Device, Kind, SpaceArgument, Taxonomy, known
from samekind.cli.output import print_text, render
from samekind.cli.spaces import open_space

if TYPE_CHECKING:
    from samekind.questions.tree import Agreement, Inferred

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
    from samekind import questions
    from samekind.questions.tree import METHODS, write_inferred

    chosen, files = known("method", method, METHODS), to or []
    opened = open_space(space, device)
    opened.take_tree(taxonomy)
    items = None if data is None else opened.read_labelled(data)
    answer = questions.tree(opened.space, kind=kind, method=chosen, items=items, by_confusions=by_confusions)
    for path in files:
        write_inferred(path, answer, radial=radial)
    render({**answer.to_json(), "files": files}, lambda: _print(answer, files), as_json=as_json)


def _print(answer: "Inferred", files: list[Path]) -> None:
    if answer.agreement is not None:
        print_text(_sentence(answer.agreement))
    for path in files:
        print_text(f"written to {path}")
    if not files:
        print_text(answer.newick)


def _sentence(agreement: "Agreement") -> str:
    """How far the trees agree, in words, beside what chance gives."""
    splits = agreement.splits
    known = splits.both + splits.second_only
    if known:
        words = (
            f"The inferred tree has {splits.both} of the {known} splits of the known one. "
            f"Robinson-Foulds distance {splits.distance}, normalised {splits.normalised:.3f} "
            f"({agreement.splits_by_chance:.3f} with shuffled names)"
        )
    else:
        words = "The known tree has no group of classes that a tree could miss"
    if agreement.correlation is None or agreement.correlation_by_chance is None:
        return words
    chance = f"{agreement.correlation_by_chance:.3f} with shuffled names"
    return f"{words}; mean correlation of the distances {agreement.correlation:.3f} ({chance})"
