"""The main values of an evaluation in sentences."""

from collections.abc import Sequence

from samekind.evaluation import Row
from samekind.reports.numbers import in_words, spaced

#: The questions in words, in the order of a page.
QUESTIONS = {
    "classification": "Which class is it?",
    "tree": "How bad are its mistakes, by the tree of classes?",
    "open set": "Which class is it, or none of these?",
    "claimed class": "Is it of the class it claims to be?",
    "verification": "Are these two the same kind?",
    "retrieval": "What is most like this?",
    "few-shot": "A new class, from a few examples?",
    "few-shot beside known": "A new class beside the known ones?",
    "clustering": "What groups are here?",
    "reference": "How good is it without training?",
}


def headline(question: str, rows: Sequence[Row]) -> str:
    """The answer of one system to a question; empty if it has none.

    It quotes the first kind of score in the rows, which is the one the system uses, not the best one.
    """
    own_rows = [row for row in rows if row.question == question]
    parts: dict[str, list[str]] = {}
    for row in own_rows:
        sentence = row.entry.sentences.get(question)
        if sentence is not None and row.kind == own_rows[0].kind:
            part = sentence.part.format(value=in_words(row), items=row.items)
            parts.setdefault(sentence.whole, []).append(part)
    return spaced(" ".join(whole.format(" and ".join(said_parts)) for whole, said_parts in parts.items()))
