"""What the rows of an evaluation say, in a sentence anyone can read."""

from collections.abc import Sequence
from typing import NamedTuple

from samekind.evaluation import Row
from samekind.reports.numbers import in_words, spaced

#: The questions in the words of someone who asks them, in the order they are answered.
QUESTIONS = {
    "classification": "Which class is it?",
    "open set": "Which class is it, or none of these?",
    "claimed class": "Is it of the class it claims to be?",
    "verification": "Are these two the same kind?",
    "retrieval": "What is most like this?",
    "few-shot": "A new class, from a few examples?",
    "few-shot beside known": "A new class beside the known ones?",
    "clustering": "What groups are here?",
    "reference": "What is to be had without training?",
}


class _Template(NamedTuple):
    """What is said of each set of items, and the sentence around it."""

    question: str
    measure: str
    part: str
    sentence: str


_TEMPLATES = (
    _Template("classification", "accuracy", "{value} of {items} items", "It names the right class for {}."),
    _Template(
        "open set",
        "FAR",
        "{value} of known items while {rate} of unknown ones pass for known",
        "It names the right class for {}.",
    ),
    _Template("claimed class", "EER", "{value} of claims about {items} items", "It misjudges {}."),
    _Template(
        "verification",
        "EER",
        "{value} of {items} pairs",
        "It misjudges {}, both kinds of mistake being equally frequent.",
    ),
    _Template(
        "retrieval",
        "Recall@1",
        "{value} of {items} items",
        "The item found most alike is of the same class for {}.",
    ),
    _Template(
        "few-shot",
        "1-shot",
        "{value} of the time among {way} {items} classes",
        "Given one example of each class, it is right {}.",
    ),
    _Template("few-shot", "5-shot", "{value}", "Given five examples, {}."),
    _Template(
        "few-shot beside known",
        "new",
        "{value} of items of {way} new classes ({rate})",
        "Enrolled beside the known classes, it names the right class for {}.",
    ),
    _Template("few-shot beside known", "known", "{value} ({rate})", "Of known items, it does for {}."),
    _Template(
        "clustering",
        "NMI",
        "{value} for {items} items",
        "Groups found without labels agree with the classes to {}, where 1 is perfect.",
    ),
    _Template(
        "reference",
        "accuracy",
        "{value} of {items} items",
        "The most alike training item, as it stands, has the right class for {}.",
    ),
    _Template(
        "reference", "Recall@1", "{value} of {items} items", "The most alike other item has it for {}."
    ),
)


def headline(question: str, rows: Sequence[Row]) -> str:
    """The answer of one system to a question; empty where it has none.

    It quotes the kind of score that comes first in the rows, the system's own: picking the best column
    after the fact would flatter it.
    """
    mine = [row for row in rows if row.question == question]
    mine = [row for row in mine if row.kind == mine[0].kind]
    sentences = []
    for template in _TEMPLATES:
        # "5-way 1-shot" is the measure "1-shot", told of five classes.
        said = [row for row in mine if row.measure.split()[-1:] == [template.measure]]
        if template.question == question and said:
            parts = [_part(template, row) for row in said]
            sentences.append(template.sentence.format(" and ".join(parts)))
    return " ".join(sentences)


def _part(template: _Template, row: Row) -> str:
    words = row.measure.split()
    rate = words[-2] if words[1:] else ""
    return template.part.format(
        value=in_words(row), items=row.items, way=words[0].partition("-")[0], rate=spaced(rate)
    )
