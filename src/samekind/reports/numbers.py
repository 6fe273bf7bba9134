"""How measured values are written, and which of two is better."""

import re

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


def in_words(row: Row) -> str:
    """The value as a sentence has it, with its unit: exactly all and exactly none have no decimals, and what
    is not quite so has as many as it takes to see that.

    >>> [in_words(Row("retrieval", "seen", "Recall@1", "cosine", value)).replace("\\u00a0", " ")
    ...     for value in (1.0, 0.99999, 0.9999, 0.5, 0.0003, 0.00001)]
    ['100 %', 'over 99.99 %', '99.99 %', '50.0 %', '0.03 %', 'under 0.01 %']
    """
    if not unit(row.measure):
        return written(row)
    from_end = min(row.value, 1 - row.value)
    if 0 < from_end < 0.00005:
        return spaced("under 0.01%" if row.value < 0.5 else "over 99.99%")
    digits = 0 if from_end == 0 else 2 if from_end < 0.001 else 1
    return spaced(f"{written(row, digits=digits)}%")


def spaced(text: str) -> str:
    """Per cent as the pages write it; the no-break space keeps number and sign together."""
    return re.sub(r"(?<=\d)%", "\u00a0%", text)


def counted(count: int, word: str) -> str:
    """A number of things.

    >>> counted(1, "item"), counted(2000, "class")
    ('1 item', '2,000 classes')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "es" if word.endswith("s") else "s")


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
