"""samekind identify: which class is it, or none of these?"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, SkipUnreadable, SpaceFolder

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.space import MetricSpace

NONE = "none of these"
UNDECIDED = (
    "this space has no threshold for none of these, so every item gets its best class; "
    "samekind calibrate --open-set fits one"
)


def identify(
    files: Annotated[
        list[str], typer.Argument(metavar="FILES…", help="What to name: files, folders or tables.")
    ],
    space: SpaceFolder,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Name the class of each item with its probability, or say that it is none of those the space knows.

    The score is of the kind the threshold for none of these was fitted for; without one, the similarity.
    """
    from samekind.cli.asking import collected, embedded, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.output import messages, print_json, print_table
    from samekind.inference import identify as name_classes

    loaded = open_space(space, device)
    items = collected(loaded, files, skip_unreadable=skip_unreadable, columns=columns_of(space))
    named = name_classes(loaded, embedded(loaded, items.inputs, title="identify"))
    answers = [
        {"id": id, "class": name, "probability": probability, "score": score}
        for id, (name, probability, score) in zip(items.ids, named, strict=True)
    ]
    kind = "similarity" if loaded.open_set is None else loaded.open_set.kind
    if as_json:
        decided = {"threshold": _threshold(loaded), "kind": kind}
        print_json({"items": answers, **decided, "skipped": items.skipped})
        return
    if loaded.open_set is None:
        messages().print(UNDECIDED, soft_wrap=True)
    print_table(_table(answers, kind))


def _threshold(space: "MetricSpace") -> float | None:
    return None if space.open_set is None else space.open_set.threshold


def _table(answers: list[dict[str, Any]], kind: str) -> "Table":
    from samekind.cli.output import table

    lines = [
        [each["id"], each["class"] or NONE, f"{each['probability']:.3f}", f"{each['score']:.4f}"]
        for each in answers
    ]
    score = "score" if kind == "similarity" else f"score ({kind})"
    return table("Classes", ["item", "class", "probability", score], lines, texts=2)
