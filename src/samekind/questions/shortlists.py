"""Shortlists in words: what a shortlist finds or, where everything is compared, why; and advice what to do.

``held`` is the number of vectors in the index now.
"""

from dataclasses import asdict, dataclass
from typing import Any, Literal

from samekind.decisions import Kind
from samekind.index import Index
from samekind.inference.shortlist import Shortlist
from samekind.inference.shortlist_fitting import longest, most_promised, small_up_to, why_everything
from samekind.questions.galleries import GROWN

#: The recall that an index is built for unless another is asked for.
USUAL_RECALL = 0.95


@dataclass(frozen=True)
class Advice:
    """Advice that makes a search quicker, or finds more; the renderer adds commands and options.

    - "add": once the index has grown by a quarter, adding items measures again.
    - "lower recall": build it again with a lower recall, ``recall`` or less.
    - "rebuild": the same, or with one of the ``structures``, or distilled if ``distil``.
    - "measure": measure a shortlist for the score ``kind``; "measure recall": what the index itself finds.
    - "exhaustive": a search of everything finds all.
    """

    what: Literal["add", "lower recall", "rebuild", "measure", "measure recall", "exhaustive"]
    recall: float | None = None
    structures: tuple[str, ...] = ()
    distil: bool = False
    kind: Kind | None = None


def to_json(shortlist: Shortlist, index: Index, *, held: int) -> dict[str, Any]:
    """A shortlist as plain values, without the weights of its map."""
    known = advice(shortlist, index, held=held)
    return shortlist.to_note() | {
        "query_map": shortlist.query_map is not None,
        "why": why_everything(shortlist),
        "warning": warning(shortlist, held=held),
        "advice": None if known is None else asdict(known),
    }


def sentence(shortlist: Shortlist, *, held: int) -> str:
    """A shortlist in a sentence, without what `warning` says."""
    if shortlist.size is None:
        return f"{shortlist.kind}: everything is compared: {reason(shortlist, held=held)}"
    low, high = shortlist.interval
    recall = f"{shortlist.recall:.1%} ({100 * low:.1f} to {100 * high:.1f})"
    text = (
        f"{shortlist.kind}: a shortlist of {shortlist.size:,} of {shortlist.count:,} finds {recall} "
        f"of the {shortlist.k} best (wanted {shortlist.wanted:.1%}; {shortlist.sample} queries)"
    )
    if shortlist.query_map is None:
        return text
    plain = f"{shortlist.plain_size:,}" if shortlist.plain_size is not None else "more than is worth it"
    return f"{text}; distilled, without that {plain}"


def warning(shortlist: Shortlist, *, held: int) -> str | None:
    """That searches are slow because no shortlist could be found; None in any other case."""
    if why_everything(shortlist) not in ("too long", "too few queries") or _is_outgrown(shortlist, held):
        return None
    return f"every search compares all {held:,} vectors, which is slow"


def reason(shortlist: Shortlist, *, held: int) -> str:
    """Why everything is compared."""
    if _is_outgrown(shortlist, held):
        return f"the index held {shortlist.count:,} when that was measured, and holds {held:,} now"
    return {
        None: "there is a shortlist",
        "small": f"with up to {small_up_to(shortlist.k):,} vectors that is quick, and needs no shortlist",
        "all wanted": "a recall of 1 was asked for",
        "too few queries": f"{shortlist.sample:,} vectors are too few to promise a recall of "
        f"{shortlist.wanted:g}",
        "too long": f"no shortlist of up to {longest(shortlist.count):,} finds {shortlist.wanted:.1%} "
        f"of the {shortlist.k} best",
    }[why_everything(shortlist)]


def advice(shortlist: Shortlist, index: Index, *, held: int) -> Advice | None:
    """Advice about a shortlist; None if nothing has to be done."""
    if _is_outgrown(shortlist, held):
        return Advice("add")
    match why_everything(shortlist):
        case "all wanted":
            return Advice("lower recall", recall=USUAL_RECALL)
        case "too few queries":
            return Advice("lower recall", recall=int(1000 * most_promised(shortlist.sample)) / 1000)
        case "too long":
            # Structures whose candidates are better than those of this index, so that a shorter list does.
            structure = "ivf" if index.built == "pq" else str(index.built)
            better = {"hnsw": ("flat",), "ivf": ("hnsw", "flat")}.get(structure, ())
            return Advice("rebuild", structures=better, distil=not shortlist.distilled)
    return None


def _is_outgrown(shortlist: Shortlist, held: int) -> bool:
    """Whether the index has grown so much that the reason may no longer hold."""
    why = why_everything(shortlist)
    if why == "small":
        return held > small_up_to(shortlist.k)
    return why in ("too few queries", "too long") and held > GROWN * shortlist.count
