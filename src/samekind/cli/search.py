"""samekind search: what is most like this?"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, LabelColumn, SkipUnreadable, SpaceFolder

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.index import Exact, Found
    from samekind.space import Decision, MetricSpace


def search(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY…", help="What to look for: files, folders or tables.")
    ],
    gallery: Annotated[
        list[str],
        typer.Option(help="Where to look: files, folders, tables, or the folder of a saved index."),
    ],
    space: SpaceFolder,
    k: Annotated[int, typer.Option("-k", "--nearest", help="How many to find for each query.", min=1)] = 5,
    kind: Annotated[
        str, typer.Option(help="The score to go by: similarity, cosine or fused.")
    ] = "similarity",
    save_index: Annotated[
        Path | None, typer.Option(help="Keep the gallery's vectors in this folder, for the next search.")
    ] = None,
    label: LabelColumn = "label",
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Find the items of a gallery that are most like each query; a query does not find its own file."""
    from samekind.cli.asking import collected, embedded, known_kind, open_space
    from samekind.cli.output import console, print_json
    from samekind.inference import asking, device_of

    loaded = open_space(space, device)
    score = known_kind(loaded, kind)
    asked = collected(loaded, queries, skip_unreadable=skip_unreadable, label=label)
    index, skipped = _gallery(loaded, gallery, skip_unreadable=skip_unreadable, label=label)
    if save_index is not None:
        index.save(save_index)
    z = embedded(loaded, asked.inputs, title="queries").to(device_of(loaded))
    with asking(loaded):
        # One more than asked for, because the query itself may be among them.
        found = index.search(z, k + 1, scorer=loaded.scorer(score))
    decision = loaded.decisions.get(score)
    answers = [
        {"id": id, "label": known, "found": _others(index, id, found, place, k, decision)}
        for place, (id, known) in enumerate(zip(asked.ids, asked.labels, strict=True))
    ]
    if as_json:
        answer = {"kind": score, "gallery": len(index), "queries": answers}
        print_json({**answer, "skipped": [*asked.skipped, *skipped]})
        return
    for each in answers:
        console().print(_table(each))


def _gallery(
    space: "MetricSpace", sources: Sequence[str], *, skip_unreadable: bool, label: str
) -> "tuple[Exact, Sequence[tuple[str, str]]]":
    """The index a folder holds, or one made of items, and what had to be skipped."""
    from samekind.cli.asking import collected, embedded
    from samekind.index import Exact, space_fingerprint
    from samekind.index.folder import is_index

    fingerprint = space_fingerprint(space)
    if len(sources) == 1 and is_index(Path(sources[0])):
        return Exact.open(sources[0], fingerprint=fingerprint), ()
    items = collected(space, sources, skip_unreadable=skip_unreadable, label=label)
    z = embedded(space, items.inputs, title="gallery")
    index = Exact(z.shape[1], fingerprint=fingerprint)
    # An item that two sources name is in the gallery once.
    first = {id: place for place, id in reversed(list(enumerate(items.ids)))}
    places = sorted(first.values())
    index.add(
        [items.ids[each] for each in places], z[places], [{"label": items.labels[each]} for each in places]
    )
    return index, items.skipped


def _others(
    index: "Exact", query: str, found: "Found", place: int, k: int, decision: "Decision | None"
) -> list[dict[str, Any]]:
    """The k best for one query without the query itself: id, label, score and probability of "same"."""
    rows = []
    for id, score in zip(found.ids[place], found.scores[place], strict=True):
        if os.path.realpath(id) == os.path.realpath(query):
            continue
        row = {"id": id, "label": index.metadata(id).get("label"), "score": float(score)}
        if decision is not None and decision.calibration is not None:
            row["probability"] = float(decision.probability(score))
        rows.append(row)
    return rows[:k]


def _table(answer: dict[str, Any]) -> "Table":
    """What was found for one query; labels and probabilities where there are any."""
    from samekind.cli.output import table

    rows = answer["found"]
    labelled = any(row["label"] is not None for row in rows)
    calibrated = any("probability" in row for row in rows)
    lines = [
        [
            row["id"],
            *([row["label"] or ""] if labelled else []),
            f"{row['score']:.4f}",
            *([f"{row['probability']:.3f}"] if calibrated else []),
        ]
        for row in rows
    ]
    columns = ["item", *(["label"] if labelled else []), "score"]
    columns += ["probability of same"] if calibrated else []
    known = f" ({answer['label']})" if answer["label"] is not None else ""
    return table(f"Most like {answer['id']}{known}", columns, lines, texts=1 + labelled)
