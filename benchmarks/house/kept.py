"""Is the rung that the ladder keeps worse than the first one? What the runs say, as a table and a sentence.

A difference is that of the two rungs of one run, which had the same split, features and questions; its
interval is over seeds.
"""

from collections.abc import Callable, Sequence
from typing import Any

from grids.tables import markdown, with_interval

from samekind.measures import student_interval

#: The measures, and whether more of it is better.
MEASURES = {"accuracy": True, "Recall@1": True, "EER": False, "5-shot beside known": True}
HEADING = ("data", "seeds", *MEASURES)
NONE_WORSE = "On none of these sets is the kept rung worse than the first by more than its interval."

Content = dict[str, Any]


def value_of(system: Content, measure: str) -> float | None:
    """A measure of a system, in per cent; None where it was not measured."""
    if measure == "5-shot beside known":
        shares = [share for name, share in system.get("beside known", {}).items() if "harmonic" in name]
        value = shares[0] if shares else None
    else:
        value = system.get(measure)
    return None if value is None else 100 * value


def gains(contents: Sequence[Content], measure: str) -> list[float]:
    """By run: how many points the kept rung has more than the first."""
    pairs = []
    for content in contents:
        first = next(iter(content["systems"].values()))
        pairs.append((value_of(content["systems"][content["kept"]], measure), value_of(first, measure)))
    return [kept - first for kept, first in pairs if kept is not None and first is not None]


def is_worse(values: Sequence[float], *, more_is_better: bool) -> bool:
    """Whether the whole interval of differences is on the wrong side of zero. A single run has no interval:
    its difference decides. Where nothing differs nothing is worse.
    """
    values = [value if more_is_better else -value for value in values]
    return bool(values) and (student_interval(values).high if len(values) > 1 else values[0]) < 0


def worse(contents: Sequence[Content]) -> list[str]:
    """The measures in which the kept rung is worse than the first by more than its interval."""
    return [
        measure
        for measure, more in MEASURES.items()
        if is_worse(gains(contents, measure), more_is_better=more)
    ]


def kept_table(runs: dict[str, Sequence[Content]], called: Callable[[str], str]) -> str:
    """A row for each set of data, and the sentence that is true of them."""
    rows = [
        [called(data), str(len(contents)), *(with_interval(gains(contents, measure)) for measure in MEASURES)]
        for data, contents in runs.items()
    ]
    losses = [
        f"{called(data)} ({', '.join(worse(contents))})" for data, contents in runs.items() if worse(contents)
    ]
    sentence = f"The kept rung is worse than the first by more than its interval: {'; '.join(losses)}."
    heading = "### The kept rung against the first: points more (of the EER, fewer is better)"
    return f"{heading}\n\n{sentence if losses else NONE_WORSE}\n\n{markdown(HEADING, rows)}"
