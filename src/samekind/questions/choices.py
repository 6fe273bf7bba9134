"""The kinds of score that a space answers by, and the ladder it was chosen from, in sentences."""

from collections.abc import Sequence

from samekind.decisions import Choices, Kind, Ladder, Question
from samekind.space import MetricSpace

NAMES: dict[Kind, str] = {
    "similarity": "its own similarity",
    "cosine": "the cosine",
    "fused": "the fused score",
    "fitted": "the fitted similarity",
    "normalised": "the normalised score",
}
OWN = "every question is answered by the space's own similarity: no other score was clearly better on {items}"
CHOSEN: dict[Question, str] = {
    "pairs": "pairs are compared by {name}: the equal error on {items} is {better:.2%}, against {own:.2%} by "
    "the own similarity",
    "neighbours": "neighbours are found by {name}: on {items} the most alike item is of the same class for "
    "{better:.1%}, against {own:.1%} by the own similarity",
    "classes": "classes are named by {name}: on {items} {better:.1%} are named rightly, against {own:.1%} by "
    "the own similarity",
}
#: What of a `Standing` counts for a question.
MEASURED: dict[Question, str] = {"pairs": "equal_error", "neighbours": "recall", "classes": "named"}
DISCRIMINANT = (
    "among the classes that were trained on a linear discriminant names the class; the score decides whether "
    "an item is of one of these or of an enrolled one"
)


def choices_in_words(space: MetricSpace) -> tuple[str, ...]:
    """By which kind of score each question is answered, and why; empty for a space without choices."""
    choices = space.choices
    if choices is None:
        return ()
    other = [question for question in CHOSEN if choices.of(question) != "similarity"]
    measured = {question: _measured(question, choices, space) for question in other}
    elsewhere = _chosen([question for question in other if not measured[question]], choices)
    sentences = [*filter(None, measured.values()), *elsewhere]
    if space.discriminant is not None:
        sentences.append(DISCRIMINANT)
    return tuple(sentences) or (OWN.format(items=choices.measured_on),)


def _chosen(questions: Sequence[Question], choices: Choices) -> list[str]:
    """A sentence for each kind of score that answers some of the questions, without figures."""
    sentences = []
    for kind in dict.fromkeys(map(choices.of, questions)):
        answered = [question for question in questions if choices.of(question) == kind]
        parts = [CHOSEN[question].partition(" by ")[0] for question in answered]
        parts = [parts[0], *(part.replace(" are ", " ") for part in parts[1:])]
        words = " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))
        sentences.append(f"{words} by {NAMES[kind]}, chosen on {choices.measured_on}")
    return sentences


def _measured(question: Question, choices: Choices, space: MetricSpace) -> str:
    """The sentence for a question with what was measured; empty if that was elsewhere, as by a ladder."""
    kind = choices.of(question)
    standings = [space.standings.get(name) for name in (kind, "similarity")]
    values: list[float | None] = [
        getattr(standing, MEASURED[question])
        if standing is not None and standing.measured_on == choices.measured_on
        else None
        for standing in standings
    ]
    if values[0] is None or values[1] is None:
        return ""
    return CHOSEN[question].format(
        name=NAMES[kind], items=choices.measured_on, better=values[0], own=values[1]
    )


def ladder_in_words(ladder: Ladder | None) -> tuple[str, ...]:
    """A line for each rung of the house recipe, the kept one marked; empty without a ladder."""
    if ladder is None:
        return ()
    return tuple(f"{rung.sentence}{'; kept' if rung.name == ladder.kept else ''}" for rung in ladder.rungs)
