"""How values are written in sentences, and which of several is the best."""

import re

from samekind.evaluation import Row, is_upside_down


def in_words(row: Row) -> str:
    """The value with its unit in a sentence: exactly 0 % and 100 % without decimals, values close to them
    with as many as it takes to tell them apart.

    >>> [in_words(Row("retrieval", "seen", "Recall@1", "cosine", value)).replace("\\u00a0", " ")
    ...     for value in (1.0, 0.99999, 0.9999, 0.5, 0.0003, 0.00001)]
    ['100 %', 'over 99.99 %', '99.99 %', '50.0 %', '0.03 %', 'under 0.01 %']
    """
    measure = row.entry
    if not measure.is_share:
        return measure.write(row.value)
    from_end = min(row.value, 1 - row.value)
    if 0 < from_end < 0.00005:
        return spaced("under 0.01%" if row.value < 0.5 else "over 99.99%")
    fewer = 2 if from_end == 0 else 0 if from_end < 0.001 else 1
    return spaced(f"{measure.number(row.value, fewer=fewer)}%")


def spaced(text: str) -> str:
    """The text with a no-break space before each per cent sign."""
    return re.sub(r"(?<=\d)%", "\u00a0%", text)


def best(rows: list[Row]) -> set[str]:
    """The written value of the best of rows of one measure; empty if there is no choice.

    Values that are written alike are equal. A value worse than guessing is not the best.
    """
    texts = {row.entry.number(row.value): row.value for row in rows}
    if len(texts) < 2:
        return set()
    choose = min if rows[0].entry.better == "lower" else max
    text = choose(texts, key=lambda text: texts[text])
    worse_than_guessing = {row.entry.number(row.value) for row in rows if is_upside_down(row)}
    return {text} - worse_than_guessing
