"""The tables of the page, from the JSONs of whatever runs there are."""

from collections import defaultdict

from grid import FOLDS, HALVES, ROOMS, TRAINED, UNTRAINED
from grids.results import Results
from grids.tables import markdown, with_interval

#: Scores in words, in the order of the tables.
KINDS = {"cosine": "cosine", "PLDA": "PLDA", "similarity": "learned", "fused": "fused"}
KINDS |= {"PLDA, averaged": "PLDA, averaged", "PLDA, adapted": "PLDA, adapted"}
#: The triplet baseline has no learned similarity: its own score is a distance on the sphere.
LEFT_OUT = {("triplet", "similarity"), ("triplet", "fused")}
CONDITIONS = tuple(f"{digits}, {sound}" for sound in ("clean", "noise") for digits in ("1 digit", "5 digits"))
#: The measures of the second table.
COSTS = ("minDCF(0.01)", "minDCF(0.001)", "Cllr")


def tables(results: Results) -> str:
    """Equal errors of all systems and scores, the costs of the same trials, and another room."""
    if not results.contents:
        return "Not run yet."
    parts = [
        f"EER in per cent: the mean over the folds, with 95% intervals over seeds.\n\n{_errors(results)}",
        f"Costs of the same trials, clean:\n\n{_costs(results)}",
        f"Trained in one room, tested in another; EER in per cent:\n\n{_rooms(results)}",
    ]
    return "\n\n".join(parts)


def _by_seed(
    results: Results, system: str, folds: int, condition: str, kind: str, measure: str
) -> list[float]:
    """The mean over folds for each seed that has them all; a trial has one."""
    values: dict[int, list[float]] = defaultdict(list)
    there = [fold for fold in range(folds) if results.seeds(f"{system}-{fold}")]
    for fold in there:
        for seed in results.seeds(f"{system}-{fold}"):
            measures = results.contents[f"{system}-{fold}", seed]["measures"]
            if kind in measures.get(condition, {}):
                values[seed].append(measures[condition][kind][measure])
    return [sum(some) / len(some) for some in values.values() if len(some) == len(there)]


def _per_cent(values: list[float]) -> str:
    return with_interval([100 * value for value in values])


def _rows(results: Results) -> list[tuple[str, str, str]]:
    """System, kind of score, and how many folds and seeds there are."""
    rows = []
    for system in (*UNTRAINED, *TRAINED):
        folds = [fold for fold in range(FOLDS) if results.seeds(f"{system}-{fold}")]
        for kind in KINDS:
            values = _by_seed(results, system, FOLDS, CONDITIONS[0], kind, "EER")
            if values and (system, kind) not in LEFT_OUT:
                rows.append((system, kind, f"{len(folds)} x {len(values)}"))
    return rows


def _errors(results: Results) -> str:
    rows = [
        [system, KINDS[kind], counted]
        + [_per_cent(_by_seed(results, system, FOLDS, name, kind, "EER")) for name in CONDITIONS]
        for system, kind, counted in _rows(results)
    ]
    return markdown(("system", "score", "folds x seeds", *CONDITIONS), rows)


def _costs(results: Results) -> str:
    rows = [
        [system, KINDS[kind]]
        + [
            with_interval(_by_seed(results, system, FOLDS, condition, kind, measure))
            for condition in CONDITIONS[:2]
            for measure in COSTS
        ]
        for system, kind, _ in _rows(results)
    ]
    heading = [
        f"{measure}, {condition.partition(',')[0]}" for condition in CONDITIONS[:2] for measure in COSTS
    ]
    return markdown(("system", "score", *heading), rows)


def _rooms(results: Results) -> str:
    rows = []
    for kind, word in KINDS.items():
        cells = [_per_cent(_by_seed(results, ROOMS, HALVES, name, kind, "EER")) for name in CONDITIONS[:2]]
        if any(cells):
            rows.append([word, *cells])
    return markdown(("score", *CONDITIONS[:2]), rows)
