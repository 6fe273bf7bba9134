"""samekind cluster: what groups are here?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from typer import Option

from samekind.cli import options
from samekind.cli.output import print_table, print_text, render, table
from samekind.cli.progress_bar import bar
from samekind.cli.spaces import open_space, warn_of_training_items
from samekind.settings import LARGEST_SEED

if TYPE_CHECKING:
    from samekind.questions.cluster import Clustered
    from samekind.reports.groups_page import Grouped

Out = Annotated[
    Path, Option(help="A table (.csv or .parquet), or a folder for copies of the files by group.")
]
Groups = Annotated[
    int | None, Option(help="How many groups.", show_default="chosen by the silhouette", min=1)
]


def cluster(
    data: options.Sources,
    space: options.SpaceFolder,
    out: Out,
    groups: Groups = None,
    kind: options.Kind = None,
    most: Annotated[int, Option(help="The largest number of groups to try.", min=2)] = 20,
    report: Annotated[Path | None, Option(help="Write a page about the groups here as well.")] = None,
    seed: Annotated[int, Option(help="Fixes the starts of k-means.", min=0, max=LARGEST_SEED)] = 0,
    label: options.LabelColumn = None,
    named_by: options.IdColumn = None,
    raw_texts: options.RawTexts = False,
    device: options.Device = "auto",
    skip_unreadable: options.SkipUnreadable = False,
    as_json: options.AsJson = False,
) -> None:
    """Sort items into groups of what is alike, without labels, and show what stands for each group."""
    from samekind import questions
    from samekind.questions.group_files import PAGE

    is_table = _is_table(out)
    opened = open_space(space, device)
    items = opened.read(data, label=label, named_by=named_by, skip_unreadable=skip_unreadable)
    answer = questions.cluster(
        opened.space, items, groups=groups, kind=kind, limit=most, seed=seed, progress=bar
    )
    page = report or (None if is_table else out / PAGE)
    _write(answer.grouped, out, report, title=f"Groups in {_in_short(data)}", raw_texts=raw_texts)
    if answer.grouped.agreement:
        warn_of_training_items(opened, data)
    content = {"out": out, "report": page, **answer.to_json()}
    render(content, lambda: _print(answer, out, page), as_json=as_json)


def _is_table(out: Path) -> bool:
    """Whether to write a table and not a folder; refused if it cannot be written."""
    from samekind.questions.group_files import check_folder
    from samekind.questions.table_files import check_ending

    # A folder has no ending: a misspelt ending should not become a folder.
    if out.suffix and not out.is_dir():
        check_ending(out)
        return True
    check_folder(out)
    return False


def _write(grouped: "Grouped", out: Path, report: Path | None, *, title: str, raw_texts: bool) -> None:
    """Write the groups as a table or a folder, and a page about them."""
    from samekind.questions.group_files import group_columns, write_groups
    from samekind.questions.table_files import write_table
    from samekind.reports import write_groups_page

    if _is_table(out):
        write_table(out, group_columns(grouped), raw_texts=raw_texts)
    else:
        write_groups(out, grouped, title=title, raw_texts=raw_texts)
    if report is not None:
        write_groups_page(report, grouped, title=title)


def _in_short(sources: Sequence[str]) -> str:
    more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
    return ", ".join(sources[:3]) + more


def _print(answer: "Clustered", out: Path, page: Path | None) -> None:
    groups = zip(answer.middles, answer.sizes, strict=True)
    lines = [[str(number), middle, f"{size:,}"] for number, (middle, size) in enumerate(groups, 1)]
    print_table(table("Groups", ["group", "in its middle", "items"], lines, texts=2))
    agreement = ", ".join(f"{name} {value:.3f}" for name, value in answer.grouped.agreement.items())
    print_text(f"\nAgreement with the labels: {agreement}." if agreement else "")
    print_text(f"The groups are in {out}" + (f", the page about them in {page}." if page else "."))
