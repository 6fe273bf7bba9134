"""What is said about a shortlist: what it finds or, where there is none, why not and what to do."""

from typing import TYPE_CHECKING, Any

from samekind.cli.galleries import GROWN

if TYPE_CHECKING:
    from samekind.index import Index
    from samekind.inference import Shortlist


def noted(index: "Index") -> "list[Shortlist]":
    """All shortlists an index holds, whatever they were measured for."""
    from samekind.inference.shortlist import shortlists_in

    return shortlists_in(index)


def as_json(shortlist: "Shortlist", index: "Index", *, held: int) -> dict[str, Any]:
    """A shortlist for programs, without the weights of its map; ``held`` is the length of the index."""
    from samekind.inference.shortlist_fitting import why_everything

    return shortlist.to_note() | {
        "query_map": shortlist.query_map is not None,
        "why": why_everything(shortlist),
        "warning": warning(shortlist, index, held=held),
    }


def sentence(shortlist: "Shortlist", index: "Index", *, held: int) -> str:
    """A shortlist for people; what a `warning` says is left to it."""
    if shortlist.size is None:
        said = [f"{shortlist.kind}: everything is compared: {reason(shortlist, held=held)}"]
        if warning(shortlist, index, held=held) is None:
            said.append(advice(shortlist, index, held=held))
        return "; ".join(filter(None, said))
    low, high = shortlist.interval
    found = f"{shortlist.recall:.1%} ({100 * low:.1f} to {100 * high:.1f})"
    text = (
        f"{shortlist.kind}: a shortlist of {shortlist.size:,} of {shortlist.count:,} finds {found} "
        f"of the {shortlist.k} best (wanted {shortlist.wanted:.1%}; {shortlist.sample} queries)"
    )
    if shortlist.query_map is None:
        return text
    plain = f"{shortlist.plain_size:,}" if shortlist.plain_size is not None else "more than is worth it"
    return f"{text}; distilled, without that {plain}"


def warning(shortlist: "Shortlist", index: "Index", *, held: int) -> str | None:
    """What is to be known before an index is used, in which no list could be found; None for any other."""
    from samekind.inference.shortlist_fitting import why_everything

    if why_everything(shortlist) not in ("too long", "too few queries") or _is_outgrown(shortlist, held):
        return None
    slow = f"every search compares all {held:,} vectors, which is slow"
    return f"{slow}; {advice(shortlist, index, held=held)}"


def reason(shortlist: "Shortlist", *, held: int) -> str:
    """Why everything is compared in an index of ``held`` vectors."""
    from samekind.inference.shortlist_fitting import longest, small_up_to, why_everything

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


def advice(shortlist: "Shortlist", index: "Index", *, held: int) -> str:
    """What to do about it; empty where nothing has to be done."""
    from samekind.inference.shortlist_fitting import most_promised, why_everything

    if _is_outgrown(shortlist, held):
        return "once it has grown by a quarter, samekind index add measures again"
    most = int(1000 * most_promised(shortlist.sample)) / 1000
    return {
        None: "",
        "small": "",
        "all wanted": "built again with a lower --recall, such as 0.95, it is quicker",
        "too few queries": f"build it again with --recall {most:g} or less",
        "too long": f"build it again with {_other_ways(shortlist, index)}a lower --recall",
    }[why_everything(shortlist)]


def _is_outgrown(shortlist: "Shortlist", held: int) -> bool:
    """Whether the reason for comparing everything may have gone since."""
    from samekind.inference.shortlist_fitting import small_up_to, why_everything

    why = why_everything(shortlist)
    if why == "small":
        return held > small_up_to(shortlist.k)
    return why in ("too few queries", "too long") and held > GROWN * shortlist.count


def _other_ways(shortlist: "Shortlist", index: "Index") -> str:
    """What else than a lower recall may make a list shorter: better candidates, or a map of the query."""
    ways = []
    if not index.remote:
        ways += {"hnsw": ["--kind flat"], "ivf": ["--kind hnsw", "--kind flat"]}.get(_structure(index), [])
    if not shortlist.distilled:
        ways.append("--distil")
    return f"{', '.join(ways)} or " if ways else ""


def _structure(index: "Index") -> str:
    """How an index finds its candidates; codes are lists."""
    return "ivf" if index.built == "pq" else str(index.built)
