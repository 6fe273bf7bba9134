"""The one-page report of a run: what was evaluated, in numbers and pictures."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from samekind.data import Sets
from samekind.questions.choices import choices_in_words
from samekind.questions.evaluate import Evaluated, cautions
from samekind.reports import System, write_report
from samekind.space import MetricSpace


def write_run_report(
    path: Path, space: MetricSpace, sets: Sets, answer: Evaluated, record: Sequence[Mapping[str, Any]]
) -> None:
    """Write the page about the test items of a run; ``record`` has the lines of its training."""
    lead = f'Every question asked of the space "{answer.name}", on items it was not trained on.'
    choices = [f"{sentence[0].upper()}{sentence[1:]}." for sentence in choices_in_words(space)]
    if space.ladder is not None:
        choices.append(f"The house recipe kept this rung of its ladder: {space.ladder.kept}.")
    careful = [f"Careful: {sentence}." for sentence in cautions(sets)]
    sentences = [lead, answer.verdict, *choices, *careful]
    write_report(
        path,
        title=f"samekind: {answer.name}",
        lead=" ".join(filter(None, sentences)),
        systems={answer.name: System(space.cpu(), answer.rows, record)},
        seen=sets.test,
        unseen=sets.unseen,
    )
