"""Advice about a search, with commands and options."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from samekind.questions.shortlists import Advice


def advice_in_words(advice: "Advice") -> str:
    """Advice as a part of a sentence."""
    match advice.what:
        case "add":
            return "once it has grown by a quarter, samekind index add measures again"
        case "lower recall":
            return f"build it again with --recall {advice.recall:g} or less"
        case "rebuild":
            ways = [*(f"--type {structure}" for structure in advice.structures)]
            ways += ["--distil"] if advice.distil else []
            return f"build it again with {', '.join(ways)}{' or ' if ways else ''}a lower --recall"
        case "measure":
            return f"samekind index build --kind {advice.kind} measures one"
        case "measure recall":
            return f"samekind index build --kind {advice.kind} measures how much it finds"
    return "--exhaustive finds all"
