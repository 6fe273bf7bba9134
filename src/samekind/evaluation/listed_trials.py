"""Are these two the same kind? The trials of a list."""

from torch import Tensor

from samekind.data.trial_lists import TrialList
from samekind.decisions import Kind
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.trial_measures import About, trial_rows
from samekind.inference.enrolment import Combination, listed_scores
from samekind.inference.trials import Trials
from samekind.space import MetricSpace


def listed_trials(
    space: MetricSpace,
    listed: TrialList,
    z: Tensor,
    *,
    name: str,
    combination: Combination = "embedding",
    measures: Measures = "main",
    seed: int = 0,
) -> list[Row]:
    """Measures of a list for each kind of score; ``z`` (files, d) are the embeddings of its files, in order.

    ``combination`` is how a set of several files becomes one score, see `enrolment_scores`. The intervals
    draw the classes that the list implies.
    """
    rows = []
    for kind in space.kinds:
        trials = scored(space, listed, z, kind=kind, combination=combination)
        about = About("verification", name, kind)
        decision = space.decisions.get(kind)
        rows += trial_rows(trials, about, decision=decision, measures=measures, seed=seed)
    return rows


def scored(
    space: MetricSpace,
    listed: TrialList,
    z: Tensor,
    *,
    kind: Kind = "similarity",
    combination: Combination = "embedding",
) -> Trials:
    """The trials of a list with their scores, in its order."""
    scores = listed_scores(
        space, z, listed.sets, listed.first, listed.second, combination=combination, kind=kind
    )
    return with_classes(listed, scores)


def with_classes(listed: TrialList, scores: Tensor) -> Trials:
    """Scores (trials,) of a list as trials, with the classes the list implies."""
    heads = listed.classes.new_tensor([files[0] for files in listed.sets])
    first, second = listed.classes[heads[listed.first]].int(), listed.classes[listed.second].int()
    return Trials(scores, listed.same, first, second)
