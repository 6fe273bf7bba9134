"""Are these two the same kind? The same trials, with scores normalised by a cohort of other classes."""

from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.data.trial_lists import TrialList
from samekind.decisions import Kind
from samekind.errors import DataError
from samekind.evaluation.listed_trials import with_classes
from samekind.evaluation.retrieval import retrieval
from samekind.evaluation.rows import Row, noted
from samekind.evaluation.streamed import MOST_STORED
from samekind.evaluation.trial_measures import About, trial_rows
from samekind.inference.cohort import TOP, CohortNorm, normalised_listed_scores, normalised_trials
from samekind.inference.embed import device_of
from samekind.inference.enrolment import Combination
from samekind.inference.fitting import neighbourhood
from samekind.space import MetricSpace

NAMES: dict[CohortNorm, str] = {"as": "AS-norm", "s": "S-norm", "mean": "neighbourhood"}
#: What a row says if the cohort are the evaluated items.
ITSELF = "the cohort is the gallery itself, without labels"


def normalised(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    cohort: Tensor | None,
    *,
    name: str,
    form: CohortNorm = "as",
    top: int | None = None,
    seed: int = 0,
    most_stored: int = MOST_STORED,
) -> list[Row]:
    """EER, AUC and the least detection cost of all pairs of a set. ``cohort`` (c, d) are embeddings; with
    None the items are their own cohort, and a note says so.

    The rows are named "NAME, AS-norm", "NAME, S-norm" or "NAME, neighbourhood". The last form also suits
    search and has rows for it. The thresholds of the space are for plain scores and are not used. Raises
    DataError for more than ``most_stored`` pairs. If items have groups, the pairs are from different groups.
    """
    pairs = len(items) * (len(items) - 1) // 2
    if pairs > most_stored:
        raise DataError(
            f"{items.name} has {pairs:,} pairs, and up to {most_stored:,} can be normalised; draw fewer "
            "items (samekind evaluate --most), or list trials"
        )
    rows, apart = [], groups_apart(items)
    for kind in _plain_kinds(space):
        trials = normalised_trials(
            space, z, items.labels, cohort, groups=apart.groups, kind=kind, form=form, top=top
        )
        about = About("verification", f"{name}, {NAMES[form]}", kind)
        rows += [noted(row, apart.note) for row in trial_rows(trials, about, decision=None, seed=seed)]
        if form == "mean":
            strangers = (z if cohort is None else cohort).to(device_of(space))
            scorer = neighbourhood(space.scorer(kind), strangers, neighbours=top or TOP[form])
            alone = MetricSpace(space.encoder, scorer, space.prototypes)
            by_scorer = retrieval(alone, items, z, name=about.items, seed=seed)
            rows += [row._replace(kind=kind) for row in by_scorer if row.kind == "similarity"]
    return [noted(row, ITSELF if cohort is None else "") for row in rows]


def _plain_kinds(space: MetricSpace) -> list[Kind]:
    """The kinds of score that are not normalised already."""
    return [kind for kind in space.kinds if kind != "normalised"]


def normalised_list(
    space: MetricSpace,
    listed: TrialList,
    z: Tensor,
    cohort: Tensor,
    *,
    name: str,
    combination: Combination = "embedding",
    form: CohortNorm = "as",
    top: int | None = None,
    seed: int = 0,
) -> list[Row]:
    """The same of listed trials; ``z`` (files, d) are the embeddings of the list's files, in order."""
    rows = []
    for kind in _plain_kinds(space):
        scores = normalised_listed_scores(
            space,
            z,
            listed.sets,
            listed.first,
            listed.second,
            cohort,
            combination=combination,
            kind=kind,
            form=form,
            top=top,
        )
        about = About("verification", f"{name}, {NAMES[form]}", kind)
        rows += trial_rows(with_classes(listed, scores), about, decision=None, seed=seed)
    return rows
