"""How well does a space answer every question? Of its test items, other items, or a list of trials."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, NamedTuple, get_args

from torch import Tensor

from samekind import evaluation
from samekind.data import Items, Sets, TrialList, draw
from samekind.data.duplicates import trained_on_copies
from samekind.decisions import Choices
from samekind.errors import SettingError
from samekind.evaluation import Gain, Misplaced, PromiseRow, Row
from samekind.evaluation.retrieval import Ignored
from samekind.evaluation.rows import noted
from samekind.inference import device_of, embed, embed_files
from samekind.inference.cohort import CohortNorm
from samekind.inference.enrolment import Combination
from samekind.inference.features import feature_items, without_encoder
from samekind.inference.fitting import COHORT
from samekind.measures.catalogue import few_shot_beside_known
from samekind.space import MetricSpace
from samekind.training import Run

#: Of these questions one measure sums up the others.
SUMMED_UP = {"few-shot beside known": few_shot_beside_known(5, 5, "harmonic mean").family}


#: A part of a run that can be searched, besides the test items.
SearchedPart = Literal["train", "validation"]
#: What settings may be.
COMBINATIONS: tuple[Combination, ...] = get_args(Combination)
SEARCHED_PARTS: tuple[SearchedPart, ...] = get_args(SearchedPart)
IGNORED: tuple[Ignored, ...] = get_args(Ignored)
COHORT_NORMS: tuple[CohortNorm, ...] = get_args(CohortNorm)


class Cohort(NamedTuple):
    """Strangers to normalise scores with: their embeddings (n, d), or None for the evaluated items
    themselves; how; and how many of the closest, None for as many as are usual.
    """

    z: Tensor | None
    form: CohortNorm = "as"
    top: int | None = None


@dataclass(frozen=True)
class EvaluationSettings:
    """How to ask. ``enrol`` is the number of items a class is enrolled from, None for no enrolment; ``limit``
    the number of items to draw from a set, None for all.
    """

    tasks: int = 600
    way: int = 5
    shots: tuple[int, ...] = (1, 5)
    ranks: tuple[int, ...] = (1, 2, 4, 8)
    enrol: int | None = None
    combination: Combination = "embedding"
    gallery: SearchedPart | None = None  # a part of the run to search as well
    ignore: Ignored = "nothing"
    measures: Literal["main", "all"] = "main"
    seed: int = 0
    limit: int | None = None
    references: bool = True  # whether to measure the baselines without training, too
    promises: bool = True  # whether to check what the thresholds promised


@dataclass(frozen=True)
class Evaluated:
    """The rows of a space of this name, what its thresholds promised and gave, what to know of them, the
    kinds of score that it answers by, what training gained, the classes that its tree has elsewhere, and
    whether the house recipe kept the start as it is.
    """

    name: str
    rows: tuple[Row, ...]
    promises: tuple[PromiseRow, ...]
    warnings: tuple[str, ...]
    choices: Choices | None = None
    gains: tuple[Gain, ...] = ()
    misplaced: tuple[Misplaced, ...] = ()
    stayed: bool = False

    @property
    def verdict(self) -> str:
        """Whether the space beats its start, in words; empty without gains."""
        words = evaluation.verdict_in_words(self.gains)
        if words and self.stayed:
            words += (
                " The house recipe kept that start: nothing that it tried was better by more than chance."
            )
        return words

    @property
    def main_rows(self) -> list[Row]:
        """One kind of score for each question and set of items, the one that it is answered by, and the
        measures that are told in sentences, or the first where none is. References are among the gains.
        """
        rows: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            if not row.is_reference:
                rows.setdefault((row.question, row.items), []).append(row)
        main: list[Row] = []
        for (question, _), all_kinds in rows.items():
            own = [row for row in all_kinds if row.kind == all_kinds[0].kind]
            if question in SUMMED_UP:
                main += [row for row in own if row.entry.family == SUMMED_UP[question]]
            else:
                main += [row for row in own if question in row.entry.sentences] or own[:1]
        return main

    @property
    def used_promises(self) -> list[PromiseRow]:
        """Those of the thresholds that answer by default: of the kind for pairs, and of "none of these"."""
        used = "similarity" if self.choices is None else self.choices.pairs
        return [promise for promise in self.promises if promise.kind in (used, "open set")]

    def to_json(self) -> dict[str, Any]:
        return {
            "gains": {self.name: [gain.to_json() for gain in self.gains]},
            "choices": {self.name: None if self.choices is None else asdict(self.choices)},
            "systems": {self.name: [row._asdict() for row in self.rows]},
            "warnings": {self.name: self.warnings},
            "promises": [promise.as_json() for promise in self.promises],
            **({"misplaced": [row._asdict() for row in self.misplaced]} if self.misplaced else {}),
        }


def evaluate_run(
    space: MetricSpace,
    sets: Sets,
    settings: EvaluationSettings,
    *,
    name: str,
    note: str = "",
    cohort: Cohort | None = None,
    run: Run | None = None,
) -> Evaluated:
    """Every question about the test sets of a run. A ``note`` is added to every row of the space.

    The references are of the untrained encoder of the ``run`` if that began with learned weights, else of the
    raw inputs. Beside a network over pairs there are two better cosines, if all measures are asked for.
    """
    tests = drawn(sets.tests(), settings)
    alone, embedded = _embedded(space, tests)
    in_gallery: list[Row] = []
    if settings.gallery is not None:  # first: it may be refused, and the rest takes long
        gallery = feature_items(space.encoder, getattr(sets, settings.gallery))
        in_gallery = _retrieval(alone, embedded, gallery, settings)
    better = _better_cosines(space, sets.train, embedded, settings)
    rows = [noted(row, note) for row in [*_rows(alone, embedded, settings, cohort), *in_gallery, *better]]
    also = cautions(sets)
    if settings.references:
        untrained, why = evaluation.untrained_encoder(run, sets.train)
        rows += evaluation.references(
            sets.train,
            tests,
            untrained=untrained,
            way=settings.way,
            shot=max(settings.shots),
            tasks=settings.tasks,
            seed=settings.seed,
            device=device_of(space),
        )
        also += [why] if why else []
    also += evaluation.missing_shots(rows, tests, settings.shots)
    promises = _promises(alone, embedded, settings)
    return _evaluated(name, rows, promises, settings, also=also, space=space)


def evaluate_items(
    space: MetricSpace,
    items: Items,
    settings: EvaluationSettings,
    *,
    name: str,
    note: str = "",
    cohort: Cohort | None = None,
) -> Evaluated:
    """Every question about other items, and whether the thresholds keep their promises there."""
    alone, sets = _embedded(space, drawn({items.name: items}, settings))
    rows = [noted(row, note) for row in _rows(alone, sets, settings, cohort)]
    missing = evaluation.missing_shots(rows, sets, settings.shots)
    return _evaluated(name, rows, _promises(alone, sets, settings), settings, also=missing, space=space)


def evaluate_trials(
    space: MetricSpace,
    trials: TrialList,
    settings: EvaluationSettings,
    *,
    name: str,
    title: str,
    cohort: Cohort | None = None,
) -> Evaluated:
    """The trials of a list called ``title``; its files are read as the training items were."""
    z = embed_files(space, trials.files)
    combination, seed = settings.combination, settings.seed
    rows = evaluation.listed_trials(
        space, trials, z, name=title, combination=combination, measures=settings.measures, seed=seed
    )
    if cohort is not None and cohort.z is None:
        raise SettingError("a list of trials has no gallery to normalise scores with; name other items")
    if cohort is not None and cohort.z is not None:
        rows += evaluation.normalised_list(
            space,
            trials,
            z,
            cohort.z,
            name=title,
            combination=combination,
            form=cohort.form,
            top=cohort.top,
            seed=seed,
        )
    promises = evaluation.listed_promises(space, trials, z, name=title, combination=combination, seed=seed)
    return _evaluated(name, rows, promises, settings, space=space)


def drawn(sets: Mapping[str, Items], settings: EvaluationSettings) -> dict[str, Items]:
    """The sets, or the number of items of each that is asked for."""
    if settings.limit is None:
        return dict(sets)
    return {name: draw(items, most=settings.limit, seed=settings.seed) for name, items in sets.items()}


def cautions(sets: Sets) -> list[str]:
    """Why the test items of a run are easier than new ones: parts of groups, or copies, in training."""
    return [sentence for sentence in (sets.torn(), trained_on_copies(sets)) if sentence]


def row_warnings(rows: Sequence[Row]) -> list[str]:
    """A sentence for each answer that must not be used, or does not surely beat a space without training."""
    weak = [gain.sentence for gain in evaluation.gains(rows) if gain.verdict in ("not better", "unsure")]
    return [*upside_down(rows), *weak]


def upside_down(rows: Sequence[Row]) -> list[str]:
    """The sentence about answers that must not be used, if there are any."""
    return [*filter(None, [evaluation.upside_down(rows)])]


def _embedded(space: MetricSpace, sets: Mapping[str, Items]) -> tuple[MetricSpace, dict[str, Items]]:
    """The space of embeddings and the sets as embeddings, so that no question encodes an item again."""
    return without_encoder(space), {name: feature_items(space.encoder, part) for name, part in sets.items()}


def _rows(
    space: MetricSpace, sets: Mapping[str, Items], settings: EvaluationSettings, cohort: Cohort | None
) -> list[Row]:
    """Every question about named sets; with a cohort, verification by normalised scores as well."""
    normalised: list[Row] = []
    if cohort is not None:  # first: it may be refused, and the rest takes long
        for name, items in sets.items():
            normalised += evaluation.normalised(
                space,
                items,
                embed(space, items.inputs),
                cohort.z,
                name=name,
                form=cohort.form,
                top=cohort.top,
                seed=settings.seed,
            )
    rows = evaluation.evaluate(
        space,
        sets,
        tasks=settings.tasks,
        way=settings.way,
        shots=settings.shots,
        ranks=settings.ranks,
        measures=settings.measures,
        seed=settings.seed,
    )
    for name, items in sets.items() if settings.enrol is not None else ():
        rows += evaluation.enrolled(
            space,
            items,
            embed(space, items.inputs),
            name=name,
            shots=settings.enrol or 1,
            combination=settings.combination,
            measures=settings.measures,
            seed=settings.seed,
        )
    return rows + normalised


def _better_cosines(
    space: MetricSpace, train: Items, sets: Mapping[str, Items], settings: EvaluationSettings
) -> list[Row]:
    """Where all is asked for, and a network over pairs is compared with the cosine: the cosine at its best,
    centred and normalised, by embeddings of training items.
    """
    if settings.measures != "all" or not settings.references or space.similarity.quantity != "logit":
        return []
    known = feature_items(space.encoder, draw(train, most=COHORT, seed=settings.seed, balanced=False))
    return [
        row
        for name, items in sets.items()
        for row in evaluation.cosine_references(
            items, items.inputs[:], known.inputs[:], name=name, ks=settings.ranks, seed=settings.seed
        )
    ]


def _retrieval(
    space: MetricSpace, sets: Mapping[str, Items], gallery: Items, settings: EvaluationSettings
) -> list[Row]:
    """Retrieval from other items, for the sets that have a class in common with them."""
    z = embed(space, gallery.inputs)
    rows: list[Row] = []
    for name, items in sets.items():
        if set(items.classes) & set(gallery.classes):
            rows += evaluation.query_gallery(
                space,
                items,
                embed(space, items.inputs),
                gallery,
                z,
                name=f"{name} in {settings.gallery}",
                ignore=settings.ignore,
                ks=settings.ranks,
                measures=settings.measures,
                seed=settings.seed,
            )
    return rows


def _promises(
    space: MetricSpace, sets: Mapping[str, Items], settings: EvaluationSettings
) -> list[PromiseRow]:
    return evaluation.promises(space, sets, seed=settings.seed) if settings.promises else []


def _evaluated(
    name: str,
    rows: Sequence[Row],
    promises: Sequence[PromiseRow],
    settings: EvaluationSettings,
    *,
    space: MetricSpace,
    also: Sequence[str] = (),
) -> Evaluated:
    warnings = (*also, *upside_down(rows), *evaluation.left_out(rows, settings.ranks))
    gains, elsewhere = evaluation.gains(rows), evaluation.misplaced(space)
    stayed = space.ladder is not None and space.ladder.stayed
    measured = tuple(rows), tuple(promises), warnings
    return Evaluated(name, *measured, space.choices, tuple(gains), tuple(elsewhere), stayed)
