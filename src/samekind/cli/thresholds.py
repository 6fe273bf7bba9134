"""Thresholds and temperatures as people read them."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from samekind.cli.output import print_messages, print_table, print_text, table

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.decisions import Decision, Temperature

FITS_ONE = "samekind calibrate --open-set fits one"
PLAIN = "The probabilities of classes are not calibrated: they are the softmax of the scores as they are."
AT_BOUND = (
    "careful ({head} head): the fitted temperature is at its limit; this head's scores may not predict the "
    "class"
)


def thresholds_table(decisions: Mapping[str, "Decision"]) -> "Table":
    """One line for each decision, by the name of its score."""
    lines = [
        [
            name,
            f"{decision.threshold:.4f}",
            decision.point,
            rate_with_interval(decision.false_accepts, decision.false_accept_interval),
            rate_with_interval(decision.false_rejects, decision.false_reject_interval),
        ]
        for name, decision in decisions.items()
    ]
    return table("Thresholds", ["score", "threshold", "point", "false accepts", "false rejects"], lines)


def rate_with_interval(rate: float, interval: tuple[float, float] | None) -> str:
    """A rate and its interval in per cent: 1.30% (0.90 to 1.80)."""
    if interval is None:
        return f"{rate:.2%}"
    return f"{rate:.2%} ({100 * interval[0]:.2f} to {100 * interval[1]:.2f})"


def print_temperatures(temperatures: Mapping[str, "Temperature"]) -> None:
    """A line for each head, with a warning if its temperature is at the bound; without temperatures, a line
    that says so.
    """
    if not temperatures:
        print_text(f"\n{PLAIN}")
        return
    lines = [[head, f"{fitted.value:.4g}", f"{fitted.items:,}"] for head, fitted in temperatures.items()]
    print_table(table("Probabilities of classes", ["head", "temperature", "items"], lines))
    print_messages(*(AT_BOUND.format(head=head) for head, fitted in temperatures.items() if fitted.at_bound))
