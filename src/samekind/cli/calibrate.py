"""samekind calibrate: thresholds fitted on held-out items, and what they can promise."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, LabelColumn, SkipUnreadable

if TYPE_CHECKING:
    from samekind.data import Items
    from samekind.space import Decision, MetricSpace

#: All pairs of this many items are 12 million trials; of more, so many are drawn.
MOST_ITEMS = 5000


def calibrate(
    space: Annotated[Path, typer.Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")],
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="[DATA]",
            help="Labelled items that were not trained on: a folder, table, archive or name, or the folder "
            "of a run, whose validation items are taken. Not needed where SPACE is the folder of a run.",
        ),
    ] = None,
    at: Annotated[
        str, typer.Option(help="The operating point: eer, far=0.001, frr=0.01, cost=0.01 or cost=0.01:10:1.")
    ] = "eer",
    kind: Annotated[
        str | None, typer.Option(help="The score: similarity, cosine or fused.", show_default="all there are")
    ] = None,
    open_set: Annotated[
        bool,
        typer.Option(
            "--open-set",
            help="Fit the threshold for none of these; DATA then has known and other classes.",
        ),
    ] = False,
    label: LabelColumn = "label",
    most_items: Annotated[
        int, typer.Option(help="Of more items, draw so many at random for the pairs.", min=2)
    ] = MOST_ITEMS,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Fit the thresholds of a space, store them in it, and say how far they can be trusted."""
    from samekind.cli.asking import known_kind, labelled, open_space
    from samekind.cli.experiments import sets_of, space_folder
    from samekind.inference import operating_point

    operating_point(at)  # a mistake is told before anything is read
    loaded = open_space(space, device)
    kinds = [known_kind(loaded, kind)] if kind is not None else loaded.kinds
    if data is None:
        items = sets_of(space).validation
    else:
        items = labelled(loaded, data, label=label, skip_unreadable=skip_unreadable)
    if open_set:
        found = {"open set": _fit_open_set(loaded, items, at)}
        loaded.open_set = found["open set"]
    else:
        found = _fit_decisions(loaded, _drawn(items, most_items), kinds, at)
        loaded.decisions.update(found)
    loaded.save(space_folder(space))
    _tell(found, space, as_json=as_json)


def _drawn(items: "Items", most: int) -> "Items":
    """The items, or so many drawn from them; the name says so."""
    from dataclasses import replace

    from samekind.data import draw

    if len(items) <= most:
        return items
    return replace(draw(items, most=most), name=f"{most:,} items drawn from {items.name}")


def _fit_decisions(
    space: "MetricSpace", items: "Items", kinds: list[Any], point: str
) -> dict[str, "Decision"]:
    import torch

    from samekind.cli.asking import embedded
    from samekind.errors import DataError
    from samekind.inference import all_trials, fit_decision

    sizes = torch.bincount(items.labels)
    if int((sizes > 0).sum()) < 2 or int(sizes.max()) < 2:
        raise DataError(
            f"{items.name}: expected two classes at least and two items of some class, to make pairs of one "
            f"and of two classes; got {len(items)} items of {int((sizes > 0).sum())} classes"
        )
    z = embedded(space, items.inputs, title="calibrate")
    return {
        kind: fit_decision(
            all_trials(space, z, items.labels, kind=kind), kind=kind, point=point, description=items.name
        )
        for kind in kinds
    }


def _fit_open_set(space: "MetricSpace", items: "Items", point: str) -> "Decision":
    from samekind.errors import DataError
    from samekind.inference import divided, fit_open_set

    known, unknown = divided(space, items)
    if not len(known) or not len(unknown):
        which = "only classes that" if len(known) else "no class that"
        raise DataError(
            f"{items.name} has {which} this space knows; a threshold for none of these needs held-out items "
            "of classes it knows and of others, the classes named as in the space (see samekind info)"
        )
    return fit_open_set(space, known, unknown, point=point)


def _tell(found: dict[str, "Decision"], folder: Path, *, as_json: bool) -> None:
    from dataclasses import asdict

    from samekind.cli.output import console, messages, print_json, print_text
    from samekind.cli.thresholds import thresholds_table
    from samekind.inference import support

    warnings = {name: support(each, open_set=name == "open set") for name, each in found.items()}
    if as_json:
        told = {name: {**asdict(each), "warning": warnings[name]} for name, each in found.items()}
        print_json({"space": str(folder), "decisions": told})
        return
    print_text(f"Fitted on {next(iter(found.values())).trials}")
    console().print(thresholds_table(found))
    for name, warning in warnings.items():
        if warning is not None:
            messages().print(f"careful ({name}): {warning}", soft_wrap=True)
