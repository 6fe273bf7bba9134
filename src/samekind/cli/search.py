"""samekind search: what is most like this?"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, LabelColumn, SkipUnreadable, SpaceFolder
from samekind.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.index import Found, Index
    from samekind.inference import Shortlist
    from samekind.space import Decision, MetricSpace


def search(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY…", help="What to look for: files, folders or tables.")
    ],
    space: SpaceFolder,
    gallery: Annotated[
        list[str] | None,
        typer.Option(help="Where to look: files, folders, tables, or the folder of an index."),
    ] = None,
    index: Annotated[
        Path | None, typer.Option(help="The folder of an index to look in (samekind index build).")
    ] = None,
    k: Annotated[int, typer.Option("-k", "--nearest", help="How many to find for each query.", min=1)] = 5,
    kind: Annotated[
        str, typer.Option(help="The score to go by: similarity, cosine or fused.")
    ] = "similarity",
    save_index: Annotated[
        Path | None, typer.Option(help="Keep the gallery's vectors in this folder, for the next search.")
    ] = None,
    exhaustive: Annotated[
        bool, typer.Option("--exhaustive", help="Compare everything, even if the index has a shortlist.")
    ] = False,
    label: LabelColumn = "label",
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Find the items of a gallery that are most like each query; a query does not find its own file."""
    from samekind.cli.asking import collected, embedded, known_kind, open_space
    from samekind.cli.output import print_json
    from samekind.inference import asking, device_of, search_index, shortlist_of

    _check_places(gallery or [], index, save_index)
    loaded = open_space(space, device)
    score = known_kind(loaded, kind)
    asked = collected(loaded, queries, skip_unreadable=skip_unreadable, label=label)
    stored, skipped = _stored(loaded, gallery or [], index, skip_unreadable=skip_unreadable, label=label)
    if save_index is not None:
        stored.save(save_index)
    z = embedded(loaded, asked.inputs, title="queries").to(device_of(loaded))
    shortlist = None if exhaustive else shortlist_of(loaded, stored, score)
    # One more than asked for, because the query itself may be among them.
    if exhaustive:
        with asking(loaded):
            found = stored.search(z, k + 1, scorer=loaded.scorer(score))
    else:
        found = search_index(loaded, stored, z, k + 1, kind=score)
    decision = loaded.decisions.get(score)
    answers = [
        {"id": id, "label": known, "found": _others(stored, id, found, place, k, decision)}
        for place, (id, known) in enumerate(zip(asked.ids, asked.labels, strict=True))
    ]
    if as_json:
        answer = {"kind": score, "gallery": len(stored), "shortlist": _used(shortlist, stored, k)}
        print_json({**answer, "queries": answers, "skipped": [*asked.skipped, *skipped]})
        return
    _print(answers, _used(shortlist, stored, k))


def _check_places(gallery: Sequence[str], index: Path | None, save_index: Path | None) -> None:
    """Refuse to look nowhere, in two places at once, or in an index among other things; and to save where
    something else is.
    """
    from samekind.index.folder import check_room, is_index

    if bool(gallery) == (index is not None):
        raise SettingError(
            "say where to look: --index FOLDER, or --gallery with files, folders or tables; one of the two"
        )
    among = next((each for each in gallery if is_index(Path(each))), None)
    if among is not None and len(gallery) > 1:
        raise SettingError(f"{among} is an index, which is searched alone; leave out the rest of the gallery")
    if save_index is not None:
        check_room(save_index)


def _stored(
    space: "MetricSpace", gallery: Sequence[str], index: Path | None, *, skip_unreadable: bool, label: str
) -> "tuple[Index, Sequence[tuple[str, str]]]":
    """The index a folder holds, or one made of items, and what had to be skipped."""
    from samekind.cli.asking import collected
    from samekind.cli.galleries import fill, open_gallery
    from samekind.index import Exact, space_fingerprint
    from samekind.index.folder import is_index

    if index is not None or is_index(Path(gallery[0])):
        return open_gallery(index if index is not None else Path(gallery[0]), space), ()
    items = collected(space, gallery, skip_unreadable=skip_unreadable, label=label)
    made = Exact(space.prototypes.dimension, fingerprint=space_fingerprint(space))
    fill(space, made, items)
    return made, items.skipped


def _others(
    index: "Index", query: str, found: "Found", place: int, k: int, decision: "Decision | None"
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


def _used(shortlist: "Shortlist | None", index: "Index", k: int) -> dict[str, Any] | None:
    """How the shortlist was used, for programs; None where everything was compared, or the index's own score.

    Its recall is None where nobody measured it: for more nearest than it was fitted for, or in an index that
    has grown much since (by others than `samekind index add`, which measures again).
    """
    from samekind.cli.galleries import GROWN

    size = shortlist.size_for(k + 1, len(index)) if shortlist is not None else None
    if shortlist is None or size is None:
        return None
    measured = k <= shortlist.k and len(index) <= GROWN * shortlist.count
    return {
        "size": size,
        "k": shortlist.k,
        "recall": shortlist.recall if measured else None,
        "interval": list(shortlist.interval) if measured else None,
    }


def _print(answers: list[dict[str, Any]], used: dict[str, Any] | None) -> None:
    from samekind.cli.output import console, print_text

    for each in answers:
        console().print(_table(each))
    if used is None:
        return
    found = (
        f"it finds {used['recall']:.1%} of the {used['k']} best"
        if used["recall"] is not None
        else (f"what it finds was measured for the {used['k']} best, and not for this")
    )
    print_text(f"\nChosen from a shortlist of {used['size']:,} a query; {found} (--exhaustive finds all).")


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
