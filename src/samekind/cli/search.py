"""samekind search: what is most like this?"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from samekind.cli.options import AsJson, Device, LabelColumn, SkipUnreadable, SpaceFolder
from samekind.errors import SettingError

if TYPE_CHECKING:
    from rich.table import Table
    from torch import Tensor

    from samekind.cli.columns import Columns
    from samekind.index import Found, Index
    from samekind.inference import Shortlist
    from samekind.space import Decision, Kind, MetricSpace

IndexFolder = Annotated[
    Path | None, typer.Option(help="The folder of an index to look in (samekind index build).")
]
SaveIndex = Annotated[
    Path | None, typer.Option(help="Keep the gallery's vectors in this folder, for the next search.")
]
Exhaustive = Annotated[
    bool, typer.Option("--exhaustive", help="Compare everything, even if the index has a shortlist.")
]


def search(
    queries: Annotated[
        list[str], typer.Argument(metavar="QUERY…", help="What to look for: files, folders or tables.")
    ],
    space: SpaceFolder,
    gallery: Annotated[
        list[str] | None,
        typer.Option(help="Where to look: files, folders, tables, or the folder of an index."),
    ] = None,
    index: IndexFolder = None,
    k: Annotated[int, typer.Option("-k", "--nearest", help="How many to find for each query.", min=1)] = 5,
    kind: Annotated[
        str | None,
        typer.Option(help="The score to go by: similarity, cosine or fused.", show_default="similarity"),
    ] = None,
    save_index: SaveIndex = None,
    exhaustive: Exhaustive = False,
    label: LabelColumn = None,
    device: Device = "auto",
    skip_unreadable: SkipUnreadable = False,
    as_json: AsJson = False,
) -> None:
    """Find the items of a gallery that are most like each query; a query does not find its own file."""
    from samekind.cli.asking import collected, embedded, known_kind, open_space
    from samekind.cli.columns import columns_of
    from samekind.cli.kinds import say_better_kind
    from samekind.cli.output import print_json, print_table, print_text
    from samekind.inference import device_of, shortlist_of

    _check_places(gallery or [], index, save_index)
    loaded = open_space(space, device)
    score = known_kind(loaded, "similarity" if kind is None else kind)
    columns = columns_of(space, label)
    asked = collected(loaded, queries, skip_unreadable=skip_unreadable, columns=columns)
    stored, skipped = _stored(loaded, gallery or [], index, skip_unreadable=skip_unreadable, columns=columns)
    if save_index is not None:
        stored.save(save_index)
    z = embedded(loaded, asked.inputs, title="queries").to(device_of(loaded))
    shortlist, held = None if exhaustive else shortlist_of(loaded, stored, score), len(stored)
    found, wanted = _found(loaded, stored, asked.ids, z, k, score, exhaustive=exhaustive)
    answers = [
        {"id": id, "label": known, "found": rows}
        for id, known, rows in zip(asked.ids, asked.labels, found, strict=True)
    ]
    used = _used(shortlist, held, k, wanted)
    if as_json:
        answer = {"kind": score, "gallery": held, "shortlist": used}
        print_json({**answer, "queries": answers, "skipped": [*asked.skipped, *skipped]})
        return
    if not held:
        print_text("The index is empty: there is nothing to find; samekind index add puts something in.")
        return
    if kind is None:
        say_better_kind(loaded, to="search")
    for each in answers:
        print_table(_table(each))
    # A gallery that is no index is always compared whole, and so is what was asked to be.
    if not exhaustive and _folder(gallery or [], index) is not None:
        print_text(f"\n{_how(loaded, stored, score, shortlist, used, k, held=held)}")


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
    space: "MetricSpace",
    gallery: Sequence[str],
    index: Path | None,
    *,
    skip_unreadable: bool,
    columns: "Columns",
) -> "tuple[Index, Sequence[tuple[str, str]]]":
    """The index a folder holds, or one made of items, and what had to be skipped."""
    from samekind.cli.asking import collected
    from samekind.cli.galleries import fill, open_gallery
    from samekind.index import Exact, space_fingerprint

    if (folder := _folder(gallery, index)) is not None:
        return open_gallery(folder, space), ()
    items = collected(space, gallery, skip_unreadable=skip_unreadable, columns=columns)
    made = Exact(space.prototypes.dimension, fingerprint=space_fingerprint(space))
    fill(space, made, items)
    return made, items.skipped


def _folder(gallery: Sequence[str], index: Path | None) -> Path | None:
    """The folder of the index to look in; None where the gallery is none."""
    from samekind.index.folder import is_index

    if index is None and is_index(Path(gallery[0])):
        return Path(gallery[0])
    return index


def _found(
    space: "MetricSpace",
    index: "Index",
    ids: Sequence[str],
    queries: "Tensor",
    k: int,
    score: "Kind",
    *,
    exhaustive: bool,
) -> tuple[list[list[dict[str, Any]]], int]:
    """The k best for each query without the query itself, and how many the index was asked for to have them.

    That is one more than k, because the query may be among them; and more where it is there several times,
    under ids that mean the same file.
    """
    wanted = k + 1
    while True:
        found = _best(space, index, queries, wanted, score, exhaustive=exhaustive)
        rows = _others(index, ids, found, space.decisions.get(score))
        fewest, asked = min(map(len, rows), default=k), found.scores.shape[1]
        if fewest >= k or asked < wanted:  # the second: there are no more
            return [row[:k] for row in rows], wanted
        wanted += k - fewest


def _best(
    space: "MetricSpace", index: "Index", queries: "Tensor", k: int, score: "Kind", *, exhaustive: bool
) -> "Found":
    from samekind.inference import asking, search_index

    if not exhaustive:
        return search_index(space, index, queries, k, kind=score)
    with asking(space):
        return index.search(queries, k, scorer=space.scorer(score))


def _others(
    index: "Index", queries: Sequence[str], found: "Found", decision: "Decision | None"
) -> list[list[dict[str, Any]]]:
    """What was found for each query, without the query: id, label, score and probability of "same"."""
    from samekind.cli.galleries import place_held, place_of

    # Asked for at once: for a server that is one journey.
    ids = list(dict.fromkeys(id for row in found.ids for id in row))
    held = dict(zip(ids, index.metadata(ids), strict=True))
    places = {id: place_held(id, held[id]) for id in ids}
    answers = []
    for query, names, scores in zip(queries, found.ids, found.scores, strict=True):
        itself, rows = place_of(query), []
        for id, score in zip(names, scores, strict=True):
            if places[id] == itself:
                continue
            row = {"id": id, "label": held[id].get("label"), "score": float(score)}
            if decision is not None and decision.calibration is not None:
                row["probability"] = float(decision.probability(score))
            rows.append(row)
        answers.append(rows)
    return answers


def _used(shortlist: "Shortlist | None", held: int, k: int, wanted: int) -> dict[str, Any] | None:
    """How the shortlist was used, for programs; None where everything was compared, or the index's own score.

    Its recall is None where nobody measured it: for more nearest than it was fitted for, or in an index that
    has grown much since (by others than `samekind index add`, which measures again).
    """
    from samekind.cli.galleries import GROWN

    size = shortlist.size_for(wanted, held) if shortlist is not None else None
    if shortlist is None or size is None:
        return None
    measured = k <= shortlist.k and held <= GROWN * shortlist.count
    return {
        "size": size,
        "k": shortlist.k,
        "recall": shortlist.recall if measured else None,
        "interval": list(shortlist.interval) if measured else None,
    }


def _how(
    space: "MetricSpace",
    index: "Index",
    score: "Kind",
    shortlist: "Shortlist | None",
    used: dict[str, Any] | None,
    k: int,
    *,
    held: int,
) -> str:
    """For people: how it was found and, where everything was compared, why and what to do."""
    from samekind.cli.shortlists import advice, reason
    from samekind.inference.shortlist import is_own
    from samekind.inference.shortlist_fitting import small_up_to

    if used is not None:
        found = (
            f"it finds {used['recall']:.1%} of the {used['k']} best"
            if used["recall"] is not None
            else f"what it finds was measured for the {used['k']} best, and not for this"
        )
        return f"Chosen from a shortlist of {used['size']:,} a query; {found} (--exhaustive finds all)."
    whole = "Everything was compared: "
    if shortlist is not None and shortlist.size is None:
        said = reason(shortlist, held=held), advice(shortlist, index, held=held)
        return f"{whole}{'; '.join(filter(None, said))}."
    if shortlist is not None:
        return f"{whole}a shortlist for the {k} nearest would be more than half of the index."
    unmeasured = f"no shortlist was measured for {score} with this space"
    measures = f"samekind index build --score {score} measures"
    if is_own(space.scorer(score), index):
        if index.exact:
            return f"{whole}the index itself goes by {index.score}, and is exact."
        return f"Found by the index itself, which goes by {index.score}; {measures} how much it finds."
    if held <= small_up_to(k):
        return f"{whole}{unmeasured}, and with so few vectors none is needed."
    return f"{whole}{unmeasured}; {measures} one."


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
