"""samekind novelty: how new is each item to the space?"""

from collections.abc import Sequence
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
from samekind.errors import SettingError, nearest

if TYPE_CHECKING:
    from torch import Tensor

    from samekind.data import Collection
    from samekind.decisions import Kind
    from samekind.space import MetricSpace

METHODS = ("prototypes", "neighbours", "svm")

Score = Annotated[
    str | None,
    typer.Option(
        help="The score: similarity, cosine or fused.",
        show_default="similarity; with prototypes that of the threshold for none of these, if any",
    ),
]
Method = Annotated[
    str | None,
    typer.Option(
        help="What an item is held against: prototypes (the best class), neighbours (the most alike "
        "known item) or svm (the region of the known items).",
        show_default="svm with --known, else prototypes",
    ),
]
MostKnown = Annotated[
    int, typer.Option(help="svm: use at most this many known items, drawn at random.", min=2)
]
KnownSeed = Annotated[int, typer.Option(help="Fixes which known items are drawn.", min=0, max=LARGEST_SEED)]


def novelty(
    data: Sources,
    space: SpaceFolder,
    known: Annotated[
        list[str] | None,
        typer.Option(metavar="DATA", help="Items that are not new; may be given several times."),
    ] = None,
    method: Method = None,
    kind: Score = None,
    outliers: Annotated[
        float, typer.Option(help="svm: the share of known items that may lie outside their region.")
    ] = 0.1,
    most_known: MostKnown = 2000,
    seed: KnownSeed = 0,
    csv: Annotated[Path | None, typer.Option(help="Write all items as a table here as well.")] = None,
    show: Annotated[int, typer.Option(help="How many of the newest items to show.", min=0)] = 10,
    device: Device = "auto",
    label: LabelColumn = None,
    named_by: IdColumn = None,
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Say how new each item is, newest first; with labels, also how well new and known are told apart."""
    from samekind.cli.asking import collected, embedded, known_kind, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.experiments import say_trained_on
    from samekind.cli.output import print_json
    from samekind.cli.tables import check_ending, write_table

    chosen = _method(method, known)
    if csv is not None:
        check_ending(csv)
    loaded = open_space(space, device)
    score = _kind(loaded, chosen) if kind is None else known_kind(loaded, kind)
    read_by = columns_of(space, label)
    items = collected(loaded, data, skip_unreadable=skip_unreadable, columns=read_by, named_by=named_by)
    references = collected(loaded, known, skip_unreadable=skip_unreadable, columns=read_by) if known else None
    z = embedded(loaded, items.inputs, title="embed")
    reference = embedded(loaded, references.inputs, title="embed known") if references else None
    svm = {"outliers": outliers, "most_items": most_known, "seed": seed}
    newness = _newness(loaded, z, reference, method=chosen, kind=score, svm=svm)
    columns = _columns(loaded, items, z, newness, _outside(loaded, newness, chosen, score))
    if csv is not None:
        write_table(csv, columns)
    auroc = _auroc(newness, items.labels, _known_names(loaded, references))
    if auroc is not None:
        say_trained_on(space, data)
    answer = {
        "method": chosen,
        "kind": score,
        "known": len(references.ids) if references else None,
        "auroc": auroc,
        "warning": None if auroc is None else _warning(auroc, score),
        "skipped": [*items.skipped, *(references.skipped if references else ())],
    }
    if as_json:
        print_json({**answer, "items": _rows(columns)})
    else:
        _print(answer, columns, show, csv)


def _method(method: str | None, known: list[str] | None) -> str:
    if method is None:
        return "svm" if known else "prototypes"
    if method not in METHODS:
        raise SettingError(f'there is no method "{method}"; {nearest(method, METHODS)}')
    if method != "prototypes" and not known:
        raise SettingError(f"the method {method} needs items that are known; name them with --known")
    if method == "prototypes" and known:
        raise SettingError("the method prototypes looks at classes alone; leave out --known, or take another")
    return method


def _kind(space: "MetricSpace", method: str) -> "Kind":
    """The score to ask where none is named: the one that decides whether it is none of these."""
    return space.open_set.kind if method == "prototypes" and space.open_set else "similarity"


def _newness(
    space: "MetricSpace",
    z: "Tensor",
    known: "Tensor | None",
    *,
    method: str,
    kind: "Kind",
    svm: dict[str, Any],
) -> "Tensor":
    from samekind.inference import neighbour_novelty, one_class_novelty, prototype_novelty

    if known is None or method == "prototypes":
        return prototype_novelty(space, z, kind=kind)
    if method == "neighbours":
        return neighbour_novelty(space, z, known, kind=kind)
    return one_class_novelty(space, z, known, kind=kind, **svm)


def _outside(space: "MetricSpace", newness: "Tensor", method: str, kind: str) -> list[bool] | None:
    """Whether each item is called new, where there is a threshold: of the region, or of the best class."""
    if method == "svm":
        return [bool(each) for each in (newness > 0).tolist()]
    decision = space.open_set
    if method == "prototypes" and decision is not None and decision.kind == kind:
        return [not each for each in decision.accepts(-newness).tolist()]
    return None


def _columns(
    space: "MetricSpace", items: "Collection", z: "Tensor", newness: "Tensor", outside: list[bool] | None
) -> dict[str, list[Any]]:
    """One row an item, newest first; what nothing is known of has no column."""
    from samekind.inference import asking
    from samekind.inference.embed import device_of

    order = newness.argsort(descending=True, stable=True).tolist()
    columns: dict[str, Sequence[Any]] = {"id": items.ids, "novelty": newness.tolist()}
    if outside is not None:
        columns["new"] = outside
    if space.classes:
        with asking(space):
            columns["class"] = space.classify(z.to(device_of(space))).classes
    if any(each is not None for each in items.labels):
        columns["label"] = items.labels
    return {name: [values[place] for place in order] for name, values in columns.items()}


def _rows(columns: dict[str, list[Any]]) -> list[dict[str, Any]]:
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _known_names(space: "MetricSpace", known: "Collection | None") -> set[str]:
    """The classes that are not new: those of the known items where they have labels, else of the space."""
    named = {each for each in known.labels if each is not None} if known else set()
    return named or set(space.classes)


def _auroc(newness: "Tensor", labels: Sequence[str | None], known: set[str]) -> dict[str, Any] | None:
    """How well novelty tells items of classes that are not known; nothing where labels do not say."""
    import torch

    from samekind.measures import novelty_auroc

    judged = [place for place, label in enumerate(labels) if label is not None]
    is_new = torch.tensor([labels[place] not in known for place in judged], dtype=torch.bool)
    if not is_new.any() or is_new.all():
        return None
    found = novelty_auroc(newness[judged], is_new)
    counts = {"new": int(is_new.sum()), "known": int((~is_new).sum())}
    return {"value": found.mean, "low": found.low, "high": found.high, **counts}


def _warning(auroc: dict[str, Any], kind: str) -> str | None:
    """What to say of an order that is upside down; nothing of any other."""
    from samekind.evaluation import Row, upside_down

    ends = (auroc["value"], auroc["low"], auroc["high"])
    said = upside_down([Row("novelty", "known, new", "AUROC", kind, *ends)])
    return f"{said}; another --kind or --method may do better" if said else None


def _print(answer: dict[str, Any], columns: dict[str, list[Any]], show: int, csv: Path | None) -> None:
    from samekind.cli.output import messages, print_table, print_text, table

    count = len(columns["id"])
    if show:
        texts = [name for name in ("id", "label", "class") if name in columns]
        numbers = [name for name in ("novelty", "new") if name in columns]
        lines = [
            [*(columns[name][row] or "" for name in texts), *(_cell(columns[name][row]) for name in numbers)]
            for row in range(min(show, count))
        ]
        title = f"The newest of {count:,} items ({answer['method']}, {answer['kind']})"
        heads = ["most like" if name == "class" else name for name in texts]
        print_table(table(title, [*heads, *numbers], lines, texts=len(texts)))
    if "new" in columns:
        print_text(f"\n{sum(columns['new']):,} of {count:,} items are called new.")
    if answer["auroc"] is not None:
        told = answer["auroc"]
        print_text(
            f"AUROC {told['value']:.3f} (95 %: {told['low']:.3f} to {told['high']:.3f}): {told['new']:,} "
            f"items of classes that are not known against {told['known']:,} of known ones."
        )
    if answer["warning"] is not None:
        messages().print(f"careful: {answer['warning']}", soft_wrap=True)
    if csv is not None:
        print_text(f"All {count:,} items are in {csv}")


def _cell(value: float | bool) -> str:
    return ("yes" if value else "no") if isinstance(value, bool) else f"{value:.4f}"
