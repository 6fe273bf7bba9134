"""How measured values are written, and which of two is better."""

from samekind.evaluation import Row

LOWER_IS_BETTER = frozenset({"EER"})
PLAIN = frozenset({"NMI"})


def unit(measure: str) -> str:
    """What the numbers of a measure count: per cent, or nothing for one that is no share of anything."""
    return "" if measure in PLAIN else "%"


def written(row: Row, *, digits: int = 2) -> str:
    """The value without its unit; ``digits`` is for per cent, what is plain has three.

    >>> written(Row("verification", "seen", "EER", "cosine", 0.0163)), written(
    ...     Row("clustering", "seen", "NMI", "embedding", 0.9251))
    ('1.63', '0.925')
    """
    return f"{row.value:.3f}" if row.measure in PLAIN else f"{100 * row.value:.{digits}f}"


def spread(row: Row) -> str:
    """What stands behind the plus-minus sign, in the unit of the value; empty without an interval."""
    if row.low is None or row.high is None:
        return ""
    return written(row._replace(value=(row.high - row.low) / 2))


def best(rows: list[Row]) -> set[str]:
    """The written values to point out among rows of one measure: the best, where there is a choice.

    Values that are written alike count as equal; if all are, none is pointed out.
    """
    texts = {written(row): row.value for row in rows}
    if len(texts) < 2:
        return set()
    choose = min if rows[0].measure in LOWER_IS_BETTER else max
    return {choose(texts, key=lambda text: texts[text])}
