"""samekind cluster: what groups are here?"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import (
    LARGEST_SEED,
    AsJson,
    Device,
    IdColumn,
    LabelColumn,
    SkipUnreadable,
    Sources,
    SpaceFolder,
)
from samekind.errors import SettingError

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.inference.cluster import Groups
    from samekind.reports import Grouped


def cluster(
    data: Sources,
    space: SpaceFolder,
    out: Annotated[
        Path,
        typer.Option(help="A table (.csv or .parquet), or a folder for copies of the pictures by group."),
    ],
    groups: Annotated[
        int | None,
        typer.Option(help="How many groups.", show_default="chosen by the silhouette", min=1),
    ] = None,
    most: Annotated[int, typer.Option(help="The most groups to try where the number is chosen.", min=2)] = 20,
    report: Annotated[Path | None, typer.Option(help="Write a page about the groups here as well.")] = None,
    seed: Annotated[int, typer.Option(help="Fixes the starts of k-means.", min=0, max=LARGEST_SEED)] = 0,
    label: LabelColumn = None,
    named_by: IdColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Sort items into groups of what is alike, without labels, and show what stands for each group."""
    from samekind.cli.asking import collected, embedded, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.experiments import say_trained_on
    from samekind.cli.output import print_json
    from samekind.inference.cluster import as_compared
    from samekind.reports import Grouped

    is_table = _is_table(out)
    loaded = open_space(space, device)
    columns = columns_of(space, label)
    items = collected(loaded, data, skip_unreadable=skip_unreadable, columns=columns, named_by=named_by)
    if groups is not None and groups > len(items.ids):
        raise SettingError(f"asked for {groups} groups of {len(items.ids)} items; ask for fewer")
    z = as_compared(loaded, embedded(loaded, items.inputs, title="cluster"))
    divided, quality = _divide(z, groups, most, seed)
    agreement = _agreement(divided, items.labels)
    found = Grouped(items.inputs, z, items.ids, items.labels, divided, quality, agreement)
    page = _write(found, out, report, is_table=is_table, title=f"Groups in {_in_short(data)}")
    if agreement:
        say_trained_on(space, data)
    if as_json:
        print_json(_answer(found, out, page) | {"skipped": items.skipped})
        return
    _print(found, out, page)


def _is_table(out: Path) -> bool:
    """Whether the answer is to be a table and not a folder; either is refused now if it cannot be."""
    from samekind.cli.group_files import check_folder
    from samekind.cli.tables import check_ending

    # A folder has no ending: one that is misspelt should not become a folder.
    if out.suffix and not out.is_dir():
        check_ending(out)
        return True
    check_folder(out)
    return False


def _write(found: "Grouped", out: Path, report: Path | None, *, is_table: bool, title: str) -> Path | None:
    """Write all that was asked for, and give back where the page is, if there is one."""
    from samekind.cli.group_files import PAGE, group_columns, write_groups
    from samekind.cli.tables import write_table
    from samekind.reports import write_groups_page

    if is_table:
        write_table(out, group_columns(found))
    else:
        write_groups(out, found, title=title)
    if report is not None:
        write_groups_page(report, found, title=title)
    return report or (None if is_table else out / PAGE)


def _in_short(sources: Sequence[str]) -> str:
    more = f" and {len(sources) - 3} more" if len(sources) > 3 else ""
    return ", ".join(sources[:3]) + more


def _divide(z: "Tensor", groups: int | None, most: int, seed: int) -> "tuple[Groups, Mapping[int, float]]":
    """The groups, the largest first, and the silhouette of each number that was tried."""
    from samekind.inference import cluster as divide
    from samekind.inference.cluster import choose_groups
    from samekind.inference.representatives import largest_first

    if groups is not None:
        return largest_first(divide(z, groups=groups, seed=seed)), {}
    choice = choose_groups(z, candidates=range(2, most + 1), seed=seed)
    return largest_first(divide(z, groups=choice.groups, seed=seed)), choice.silhouettes


def _agreement(groups: "Groups", labels: Sequence[str | None]) -> dict[str, float]:
    """How far the groups agree with the labels of the items that have one; empty where none has."""
    import torch

    from samekind import measures

    known = [place for place, label in enumerate(labels) if label is not None]
    if not known:
        return {}
    numbers = {name: number for number, name in enumerate(sorted({str(labels[place]) for place in known}))}
    truth = torch.tensor([numbers[str(labels[place])] for place in known])
    assigned = groups.assigned[torch.tensor(known)]
    return {
        "NMI": measures.normalised_mutual_information(assigned, truth),
        "AMI": measures.adjusted_mutual_information(assigned, truth),
        "purity": measures.purity(assigned, truth),
    }


def _answer(found: "Grouped", out: Path, page: Path | None) -> dict[str, Any]:
    sizes = [len(found.members(group)) for group in range(len(found.groups.centres))]
    return {
        "out": str(out),
        "report": str(page) if page else None,
        "items": len(found.ids),
        "groups": len(sizes),
        "sizes": sizes,
        "silhouettes": {str(number): value for number, value in found.quality.items()},
        "agreement": found.agreement,
    }


def _print(found: "Grouped", out: Path, page: Path | None) -> None:
    from samekind.cli.output import print_table, print_text, table
    from samekind.inference.representatives import representatives

    nearest = representatives(found.z, found.groups, count=1)
    lines = [
        [str(group + 1), found.ids[int(chosen[0])] if len(chosen) else "", f"{len(found.members(group)):,}"]
        for group, chosen in enumerate(nearest)
    ]
    print_table(table("Groups", ["group", "in its middle", "items"], lines, texts=2))
    told = ", ".join(f"{name} {value:.3f}" for name, value in found.agreement.items())
    print_text(f"\nAgreement with the labels: {told}." if told else "")
    print_text(f"The groups are in {out}" + (f", the page about them in {page}." if page else "."))
