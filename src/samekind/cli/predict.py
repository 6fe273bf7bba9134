"""samekind predict: the class of every item, in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, LabelColumn, SkipUnreadable, Sources, SpaceFolder
from samekind.errors import SpaceError, nearest

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.space import Head, MetricSpace


def predict(
    data: Sources,
    space: SpaceFolder,
    out: Annotated[Path, typer.Option(help="The table to write: .csv or .parquet.")],
    head: Annotated[
        str, typer.Option(help="What answers: similarity, or where it was trained auxiliary or fused.")
    ] = "similarity",
    label: LabelColumn = "label",
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Write the class of every item with its probability and the runner-up."""
    from samekind.cli.asking import collected, embedded, open_space
    from samekind.cli.output import print_json, print_text
    from samekind.cli.tables import check_ending, write_table

    check_ending(out)
    loaded = open_space(space, device)
    chosen = _known_head(loaded, head)
    items = collected(loaded, data, skip_unreadable=skip_unreadable, label=label)
    told = _columns(loaded, embedded(loaded, items.inputs, title="predict"), chosen)
    labelled = any(each is not None for each in items.labels)
    write_table(out, {"id": items.ids, **({"label": items.labels} if labelled else {}), **told})
    right = _right(items.labels, told["class"], loaded.classes)
    accuracy = sum(right) / len(right) if right else None
    if as_json:
        answer = {"out": str(out), "items": len(items.ids), "classes": loaded.classes}
        print_json({**answer, "judged": len(right), "accuracy": accuracy, "skipped": items.skipped})
        return
    print_text(f"The classes of {len(items.ids):,} items are in {out}.")
    if accuracy is not None:
        print_text(f"Of {len(right):,} with a label the space knows, {accuracy:.2%} are named rightly.")


def _known_head(space: "MetricSpace", head: str) -> "Head":
    """A head that knows all classes of the space; any other is answered with the nearest."""
    from samekind.evaluation.classification import heads

    for each in heads(space):
        if each == head:
            return each
    raise SpaceError(f'this space has no head "{head}"; {nearest(head, heads(space))}')


def _columns(space: "MetricSpace", z: "Tensor", head: "Head") -> dict[str, Sequence[Any]]:
    """What is written of embeddings (n, d); a space of one class has no runner-up."""
    from samekind.inference import asking, device_of

    with asking(space):
        probabilities = space.classify(z.to(device_of(space)), head=head).probabilities.cpu()
    values, places = probabilities.sort(dim=1, descending=True, stable=True)
    columns: dict[str, Sequence[Any]] = {}
    for rank, name in enumerate(("class", "runner_up")):
        there = rank < values.shape[1]
        names = [space.classes[place] for place in places[:, rank].tolist()] if there else [None] * len(z)
        columns[name] = names
        columns["probability" if rank == 0 else "runner_up_probability"] = (
            values[:, rank].tolist() if there else [None] * len(z)
        )
    return columns


def _right(labels: Sequence[str | None], named: Sequence[str], classes: Sequence[str]) -> list[bool]:
    """Whether each item with a label the space knows is named rightly."""
    known = set(classes)
    return [label == name for label, name in zip(labels, named, strict=True) if label in known]
