"""samekind predict: the class of every item, in a file."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, IdColumn, LabelColumn, SkipUnreadable, Sources, SpaceFolder
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
    label: LabelColumn = None,
    named_by: IdColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Write the class of every item, or that it is none of those the space knows, with its probability and
    the runner-up.

    A space with a threshold for none of these answers by it as identify does, and the score that was held
    against it is written as well.
    """
    from samekind.cli.asking import collected, embedded, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.experiments import say_trained_on
    from samekind.cli.identify import NONE, UNDECIDED
    from samekind.cli.output import messages, print_json, print_text
    from samekind.cli.tables import check_ending, write_table
    from samekind.data.counting import counted

    check_ending(out)
    loaded = open_space(space, device)
    chosen = _known_head(loaded, head)
    columns = columns_of(space, label)
    items = collected(loaded, data, skip_unreadable=skip_unreadable, columns=columns, named_by=named_by)
    told = _columns(loaded, embedded(loaded, items.inputs, title="predict"), chosen)
    labelled = any(each is not None for each in items.labels)
    write_table(out, {"id": items.ids, **({"label": items.labels} if labelled else {}), **told})
    right = _right(items.labels, told["class"], loaded.classes)
    accuracy = sum(right) / len(right) if right else None
    none = None if loaded.open_set is None else list(told["class"]).count(NONE)
    if right:
        say_trained_on(space, data)
    if as_json:
        answer = {"out": str(out), "items": len(items.ids), "classes": loaded.classes, "none of these": none}
        print_json({**answer, "judged": len(right), "accuracy": accuracy, "skipped": items.skipped})
        return
    print_text(f"The classes of {len(items.ids):,} items are in {out}.")
    if none is None:
        messages().print(UNDECIDED, soft_wrap=True)
    else:
        told_of = counted(none, "of them is", "of them are")
        print_text(f"{told_of} {NONE}: of no class the space knows, by its threshold.")
    if accuracy is not None:
        print_text(f"Of {len(right):,} with a label the space knows, {accuracy:.2%} are named rightly.")


def _known_head(space: "MetricSpace", head: str) -> "Head":
    """A head that knows all classes of the space; any other is answered with the nearest."""
    from samekind.inference import heads

    for each in heads(space):
        if each == head:
            return each
    raise SpaceError(f'this space has no head "{head}"; {nearest(head, heads(space))}')


def _columns(space: "MetricSpace", z: "Tensor", head: "Head") -> dict[str, Sequence[Any]]:
    """What is written of embeddings (n, d): the answer, the best class beside it, if there is one, and with a
    threshold for none of these the score that was held against it.
    """
    import torch

    from samekind.cli.identify import NONE
    from samekind.inference import asking, device_of
    from samekind.inference.open_set import familiar

    with asking(space):
        scores, probabilities, names = space.classify(z.to(device_of(space)), head=head)
    probabilities, place = probabilities.cpu(), {name: index for index, name in enumerate(space.classes)}
    first = torch.tensor([place[name] for name in names], dtype=torch.int64)[:, None]
    answered, accepted = probabilities.gather(1, first)[:, 0], torch.ones(len(z), dtype=torch.bool)
    held: dict[str, Sequence[Any]] = {}
    if space.open_set is not None:
        stands = familiar(space, z, similarities=scores if head == "similarity" else None)
        answered, accepted = stands.answered(answered), stands.accepted
        probabilities, held = stands.probability[:, None] * probabilities, {"score": stands.score.tolist()}
    # Of a space of one class nothing is left beside it.
    values, second = probabilities.scatter(1, first, -1.0).where(accepted[:, None], probabilities).max(1)
    there = [value >= 0 for value in values.tolist()]
    return {
        "class": [name if yes else NONE for name, yes in zip(names, accepted.tolist(), strict=True)],
        "probability": answered.tolist(),
        "runner_up": [
            space.classes[index] if yes else None for index, yes in zip(second.tolist(), there, strict=True)
        ],
        "runner_up_probability": [
            value if yes else None for value, yes in zip(values.tolist(), there, strict=True)
        ],
        **held,
    }


def _right(labels: Sequence[str | None], named: Sequence[str], classes: Sequence[str]) -> list[bool]:
    """Whether each item with a label the space knows is named rightly."""
    known = set(classes)
    return [label == name for label, name in zip(labels, named, strict=True) if label in known]
