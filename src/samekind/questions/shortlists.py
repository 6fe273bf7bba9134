"""Shortlists in words: what a shortlist finds or, where everything is compared, why and what to do.

``held`` is the number of vectors in the index now.
"""

from typing import Any

from samekind.index import Index
from samekind.inference.shortlist import Shortlist
from samekind.inference.shortlist_fitting import longest, most_promised, small_up_to, why_everything
from samekind.questions.galleries import GROWN


def to_json(shortlist: Shortlist, index: Index, *, held: int) -> dict[str, Any]:
    """A shortlist as plain values, without the weights of its map."""
    return shortlist.to_note() | {
        "query_map": shortlist.query_map is not None,
        "why": why_everything(shortlist),
        "warning": warning(shortlist, index, held=held),
    }


def sentence(shortlist: Shortlist, index: Index, *, held: int) -> str:
    """A shortlist in a sentence, without what `warning` says."""
    if shortlist.size is None:
        parts = [f"{shortlist.kind}: everything is compared: {reason(shortlist, held=held)}"]
        if warning(shortlist, index, held=held) is None:
            parts.append(advice(shortlist, index, held=held))
        return "; ".join(filter(None, parts))
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


def warning(shortlist: Shortlist, index: Index, *, held: int) -> str | None:
    """That searches are slow because no shortlist could be found; None in any other case."""
    if why_everything(shortlist) not in ("too long", "too few queries") or _is_outgrown(shortlist, held):
        return None
    slow = f"every search compares all {held:,} vectors, which is slow"
    return f"{slow}; {advice(shortlist, index, held=held)}"


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


def advice(shortlist: Shortlist, index: Index, *, held: int) -> str:
    """What to do about it; empty if nothing has to be done."""
    if _is_outgrown(shortlist, held):
        return "once it has grown by a quarter, samekind index add measures again"
    highest = int(1000 * most_promised(shortlist.sample)) / 1000
    return {
        None: "",
        "small": "",
        "all wanted": "built again with a lower --recall, such as 0.95, it is quicker",
        "too few queries": f"build it again with --recall {highest:g} or less",
        "too long": f"build it again with {_alternatives(shortlist, index)}a lower --recall",
    }[why_everything(shortlist)]


def _is_outgrown(shortlist: Shortlist, held: int) -> bool:
    """Whether the index has grown so much that the reason may no longer hold."""
    why = why_everything(shortlist)
    if why == "small":
        return held > small_up_to(shortlist.k)
    return why in ("too few queries", "too long") and held > GROWN * shortlist.count


def _alternatives(shortlist: Shortlist, index: Index) -> str:
    """What else than a lower recall may make a list shorter: better candidates, or a map of the query."""
    structure = "ivf" if index.built == "pq" else str(index.built)
    options = {"hnsw": ["--kind flat"], "ivf": ["--kind hnsw", "--kind flat"]}.get(structure, [])
    if not shortlist.distilled:
        options = [*options, "--distil"]
    return f"{', '.join(options)} or " if options else ""
