"""How measured values are written, and which of two is better."""

from samekind.evaluation import Row, is_share, is_upside_down, lower_is_better


def unit(measure: str) -> str:
    """What the numbers of a measure count: per cent, or nothing for one that is no share of anything."""
    return "%" if is_share(measure) else ""


def written(row: Row, *, digits: int = 2) -> str:
    """The value without its unit; ``digits`` is for per cent, what is plain has three.

    >>> written(Row("verification", "seen", "EER", "cosine", 0.0163)), written(
    ...     Row("clustering", "seen", "NMI", "embedding", 0.9251))
    ('1.63', '0.925')
    """
    return f"{100 * row.value:.{digits}f}" if is_share(row.measure) else f"{row.value:.3f}"


def ends(row: Row) -> str:
    """The interval in the unit of the value, a digit shorter, with a dash between; empty without one.

    >>> ends(Row("verification", "seen", "EER", "cosine", 0.0163, 0.011, 0.0252)).split("\\u2013")
    ['1.1', '2.5']
    """
    if row.low is None or row.high is None:
        return ""
    factor, digits = (100, 1) if is_share(row.measure) else (1, 2)
    low, high = factor * row.low, factor * row.high
    return f"{low:.{digits}f}\u2013{high:.{digits}f}".replace("100.0", "100")


def best(rows: list[Row]) -> set[str]:
    """The written values to point out among rows of one measure: the best, where there is a choice.

    Values that are written alike count as equal; if all are, none is pointed out. Nor is one that is worse
    than a coin's.
    """
    texts = {written(row): row.value for row in rows}
    if len(texts) < 2:
        return set()
    choose = min if lower_is_better(rows[0].measure) else max
    found = choose(texts, key=lambda text: texts[text])
    return set() if any(is_upside_down(row) and written(row) == found for row in rows) else {found}
