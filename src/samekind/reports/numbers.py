"""How measured values are written, and which of two is better."""

import re

from samekind.evaluation import Row, is_upside_down


def in_words(row: Row) -> str:
    """The value as a sentence has it, with its unit: exactly all and exactly none have no decimals, and what
    is not quite so has as many as it takes to see that.

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
    """Per cent as the pages write it; the no-break space keeps number and sign together."""
    return re.sub(r"(?<=\d)%", "\u00a0%", text)


def counted(count: int, word: str) -> str:
    """A number of things.

    >>> counted(1, "item"), counted(2000, "class")
    ('1 item', '2,000 classes')
    """
    return f"{count:,} {word}" + ("" if count == 1 else "es" if word.endswith("s") else "s")


def best(rows: list[Row]) -> set[str]:
    """The written values to point out among rows of one measure: the best, where there is a choice.

    Values that are written alike count as equal; if all are, none is pointed out. Nor is one that is worse
    than guessing.
    """
    texts = {row.entry.number(row.value): row.value for row in rows}
    if len(texts) < 2:
        return set()
    choose = min if rows[0].entry.better == "lower" else max
    text = choose(texts, key=lambda text: texts[text])
    worse_than_guessing = {row.entry.number(row.value) for row in rows if is_upside_down(row)}
    return {text} - worse_than_guessing
