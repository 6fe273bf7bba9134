"""The kinds of score that a space answers by, and the ladder it was chosen from, in sentences."""

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
DISCRIMINANT = "a linear discriminant tells the classes that were trained on apart, not enrolled ones"


def choices_in_words(space: MetricSpace) -> tuple[str, ...]:
    """By which kind of score each question is answered, and why; empty for a space without choices."""
    choices = space.choices
    if choices is None:
        return ()
    sentences = [_chosen(question, choices, space) for question in CHOSEN]
    if space.discriminant is not None:
        sentences.append(DISCRIMINANT)
    return tuple(filter(None, sentences)) or (OWN.format(items=choices.measured_on),)


def _chosen(question: Question, choices: Choices, space: MetricSpace) -> str:
    """The sentence for a question that another score than the own similarity answers; else empty."""
    kind = choices.of(question)
    if kind == "similarity":
        return ""
    standings = [space.standings.get(name) for name in (kind, "similarity")]
    values: list[float | None] = [
        getattr(standing, MEASURED[question])
        if standing is not None and standing.measured_on == choices.measured_on
        else None
        for standing in standings
    ]
    if values[0] is None or values[1] is None:  # measured elsewhere, as by a ladder
        sentence = CHOSEN[question].partition(":")[0].format(name=NAMES[kind])
        return f"{sentence}, chosen on {choices.measured_on}"
    return CHOSEN[question].format(
        name=NAMES[kind], items=choices.measured_on, better=values[0], own=values[1]
    )


def ladder_in_words(ladder: Ladder | None) -> tuple[str, ...]:
    """A line for each rung of the house recipe, the kept one marked; empty without a ladder."""
    if ladder is None:
        return ()
    return tuple(f"{rung.sentence}{'; kept' if rung.name == ladder.kept else ''}" for rung in ladder.rungs)
