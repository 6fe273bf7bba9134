"""The section of a report about thresholds: promised and measured error rates."""

from collections.abc import Mapping

from samekind.evaluation import RatePromise, promise_row
from samekind.reports.measured import Measured, System, notes
from samekind.reports.page import Section, ruled_table


def promises_section(systems: Mapping[str, System], sets: Mapping[str, Measured]) -> Section | None:
    """A line for each threshold and set of items that has pairs of both kinds; None without any."""
    rows = [
        (name, promise_row(decision, trials, name=words))
        for name, system in systems.items()
        for words, measured in sets.items()
        for kind, trials in measured.trials[name].items()
        if (decision := system.space.decisions.get(kind)) is not None
        if trials.same.any() and not trials.same.all()
    ]
    if not rows:
        return None
    caption = (
        "A threshold is fixed on validation items and stored with the error rates to expect. Here it is "
        "checked on other items. A promise does not hold if the measured rate is higher than promised by "
        "more than chance explains (the 95 % intervals over classes of both taken together). It holds if the "
        "rate is at most 1.5 times the promise. Anything between is undecided. Fewer than three classes have "
        f"no interval, and break no promise.{notes(sets)}"
    )
    lines = [[name, *row[:3], *_rate(row.false_accepts), *_rate(row.false_rejects)] for name, row in rows]
    return Section("What the thresholds promised", caption, html=_table(lines))


def _rate(rate: RatePromise) -> list[str]:
    """The promised rate, the measured rate with its interval, and whether the promise holds."""
    promised, measured, low, high = (100 * number for number in rate[:4])
    return [f"{promised:.2f}", f"{measured:.2f} ({low:.1f}\u2013{high:.1f})", rate.verdict.partition(",")[0]]


def _table(lines: list[list[str]]) -> str:
    heads = ("system", "items", "score", "point")
    rates = ("promised, %", "measured, %", "")
    top = "".join(f'<th scope="col" rowspan="2">{head}</th>' for head in heads)
    groups = "".join(
        f'<th scope="colgroup" colspan="3"><span>{word}</span></th>'
        for word in ("false accepts", "false rejects")
    )
    second = "".join(f'<th scope="col">{rate}</th>' for rate in rates * 2)
    return ruled_table(f"<tr>{top}{groups}</tr><tr>{second}</tr>", lines, strong=("does not hold",))
