"""What one score or system gives more than another on the same trials: differences, paired over folds."""

from collections.abc import Sequence
from typing import NamedTuple

from grid import FOLDS, FROZEN
from grids.results import Results

from samekind.measures import student_interval


class Side(NamedTuple):
    """A system and one of its scores."""

    system: str
    kind: str


class Comparison(NamedTuple):
    """What is asked, in words, and the two sides: first minus second, so that less than 0 is a gain."""

    words: str
    first: Side
    second: Side


def of_networks(names: dict[str, str]) -> list[Comparison]:
    """What is fitted to the embeddings of each published network, and its last layers trained further."""
    comparisons: list[Comparison] = []
    for network in FROZEN:
        plain, centred = Side(network, "cosine"), Side(network, "cosine, centred")
        fitted, head = (Side(f"ladder-{network}", f"house, {rung}") for rung in ("fitted", "head"))
        words = names[network]
        comparisons += [
            Comparison(f"{words}: centred, against the cosine", centred, plain),
            Comparison(f"{words}: AS-norm, against centred", Side(network, "AS-norm"), centred),
            Comparison(f"{words}: PLDA, against centred", Side(network, "PLDA"), centred),
            Comparison(f"{words}: fitted similarity, against the cosine", fitted, plain),
            Comparison(f"{words}: fitted similarity, against centred", fitted, centred),
            Comparison(f"{words}: head, against centred", head, centred),
        ]
    return comparisons


def of_further(names: dict[str, str]) -> list[Comparison]:
    """Networks trained further, in part or whole, against the network as it came, and the whole against its
    last layers, by the same score.
    """
    scores = {"cosine": "cosine", "centred": "cosine, centred", "fitted similarity": "house, fitted"}
    comparisons: list[Comparison] = []
    for system, name in names.items():
        network = system.partition("-")[2]
        before = {kind: f"ladder-{network}" if "house" in kind else network for kind in scores.values()}
        comparisons += [
            Comparison(f"{name}, against as it came: {words}", Side(system, kind), Side(before[kind], kind))
            for words, kind in scores.items()
        ]
        partly = f"further-{network}"
        if partly in names and partly != system:
            comparisons += [
                Comparison(
                    f"{name}, against its last layers: {words}", Side(system, kind), Side(partly, kind)
                )
                for words, kind in scores.items()
            ]
    return comparisons


def of_trained(prefix: str) -> list[Comparison]:
    """The questions of the paper's table, asked of the networks whose names begin with ``prefix``."""
    speaker = f"{prefix}speaker"
    words = {"cosine": "cosine", "similarity": "learned", "fused": "fused", "PLDA": "PLDA"}
    own = {kind: Side(speaker, kind) for kind in words}
    comparisons = [
        Comparison(f"trained, against fresh weights: {words[kind]}", own[kind], Side(f"{prefix}random", kind))
        for kind in ("cosine", "PLDA")
    ]
    no_network = Side(f"{prefix}statistics", "PLDA")
    comparisons += [
        Comparison(f"{name}, against no network, PLDA", side, no_network)
        for name, side in {
            "trained: cosine": own["cosine"],
            "trained with noise too: fused": Side(f"{speaker}-noisy", "fused"),
        }.items()
    ]
    comparisons += [
        Comparison(
            f"with the auxiliary loss, against without: {words[kind]}",
            own[kind],
            Side(f"{speaker}-alone", kind),
        )
        for kind in ("cosine", "similarity", "fused")
    ]
    others = {"triplets": f"{prefix}triplet", "prototypes": f"{speaker}-prototypical"}
    comparisons += [
        Comparison(f"with the auxiliary loss, against {name}: cosine", own["cosine"], Side(system, "cosine"))
        for name, system in others.items()
    ]
    comparisons += [
        Comparison(f"{words[kind]}, against the cosine", own[kind], own["cosine"])
        for kind in ("similarity", "fused", "PLDA")
    ]
    comparisons += [
        Comparison(
            f"trained with noise too, against without: {words[kind]}",
            Side(f"{speaker}-noisy", kind),
            own[kind],
        )
        for kind in ("cosine", "fused")
    ]
    return comparisons


def differences(
    results: Results, comparisons: Sequence[Comparison], conditions: Sequence[str]
) -> list[list[str]]:
    """A row for each comparison of which both sides were run: the number of folds, and for each condition the
    mean difference of the EER in points, with half of its interval.
    """
    rows = []
    for comparison in comparisons:
        by_condition = [_by_fold(results, comparison, condition) for condition in conditions]
        if any(by_condition):
            folds = max(len(values) for values in by_condition)
            rows.append([comparison.words, str(folds), *(_in_words(values) for values in by_condition)])
    return rows


def _by_fold(results: Results, comparison: Comparison, condition: str) -> list[float]:
    """The difference in each fold that both sides have, each the mean of its seeds."""
    pairs = [
        [_mean(results, side, fold, condition) for side in (comparison.first, comparison.second)]
        for fold in range(FOLDS)
    ]
    return [100 * (first - second) for first, second in pairs if first is not None and second is not None]


def _mean(results: Results, side: Side, fold: int, condition: str) -> float | None:
    variant = f"{side.system}-{fold}"
    measures = [results.contents[variant, seed]["measures"] for seed in results.seeds(variant)]
    values = [one[condition][side.kind]["EER"] for one in measures if side.kind in one.get(condition, {})]
    return sum(values) / len(values) if values else None


def _in_words(values: Sequence[float]) -> str:
    """The mean and half of its interval; a difference that rounds to nothing has no sign."""
    if not values:
        return ""
    mean = f"{sum(values) / len(values):+.1f}"
    mean = "0.0" if float(mean) == 0 else mean
    return mean if len(values) < 2 else f"{mean} ± {student_interval(values).half:.1f}"
