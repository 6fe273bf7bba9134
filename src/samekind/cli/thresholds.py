"""Thresholds as people read them: with the error rates they have, and how sure those are."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from samekind.cli.output import table

if TYPE_CHECKING:
    from rich.table import Table

    from samekind.space import Decision


def thresholds_table(decisions: Mapping[str, "Decision"]) -> "Table":
    """One line for each decision by the name of its score."""
    lines = [
        [
            name,
            f"{each.threshold:.4f}",
            each.point,
            rate_with_interval(each.false_accepts, each.false_accept_interval),
            rate_with_interval(each.false_rejects, each.false_reject_interval),
        ]
        for name, each in decisions.items()
    ]
    return table("Thresholds", ["score", "threshold", "point", "false accepts", "false rejects"], lines)


def rate_with_interval(rate: float, interval: tuple[float, float] | None) -> str:
    """A rate in per cent, and between which it lies: 1.30% (0.90 to 1.80)."""
    if interval is None:
        return f"{rate:.2%}"
    return f"{rate:.2%} ({100 * interval[0]:.2f} to {100 * interval[1]:.2f})"
