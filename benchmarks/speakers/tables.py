"""The tables of the page, from the JSONs of whatever runs there are."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from differences import Comparison, differences, of_further, of_networks, of_trained
from grid import (
    FOLDS,
    FROZEN,
    FROZEN_ROOMS,
    FURTHER,
    HALVES,
    LADDERS,
    NARROW,
    ROOMS,
    SMALL,
    SMALL_ROOMS,
    TRAINED,
    TUNED,
    UNTRAINED,
    WHOLE,
)
from grids.results import Results
from grids.tables import markdown, with_interval

#: Scores in words, in the order of the tables.
KINDS = {"cosine": "cosine", "cosine, centred": "cosine, centred", "AS-norm": "cosine, centred, AS-norm"}
KINDS |= {
    "PLDA": "PLDA",
    "similarity": "learned",
    "fused": "fused",
    "house, fitted": "house: fitted similarity",
}
KINDS |= {
    "house, head": "house: head on the embeddings, cosine",
    "house, kept": "house: what the ladder kept",
}
KINDS |= {
    "PLDA, averaged": "PLDA, averaged with the new room's",
    "PLDA, adapted": "PLDA, adapted without labels",
}
KINDS |= {"PLDA, of the new room": "PLDA of the new room's speakers alone"}
KINDS |= {
    f"{when}, {kind}": f"{KINDS[kind]}, {words}"
    for when, words in (("gone on", "trained on there"), ("new room alone", "trained there alone"))
    for kind in ("cosine", "similarity", "fused")
}
#: Networks in words.
NAMES = {"ecapa": "ECAPA-TDNN", "cam++": "CAM++", "resnet34": "ResNet-34"}
NETWORKS = dict(NAMES)
TRAINED_FURTHER = {
    system: f"{NETWORKS[system.partition('-')[2]]}, {words} trained"
    for systems, words in ((FURTHER, "last layers"), (WHOLE, "whole"))
    for system in systems
}
NAMES |= TRAINED_FURTHER
#: What is trained here, narrow or at the papers' size.
TRAINED_HERE = {
    "random": "fresh weights",
    "statistics": "no network: mean and deviation of the features",
    "speaker": "`speaker`",
    "speaker-alone": "`speaker` without its auxiliary loss",
    "triplet": "triplets",
    "speaker-prototypical": "`speaker-prototypical`",
    "speaker-noisy": "`speaker`, trained with noise too",
}
NAMES |= {f"{size}{system}": name for size in ("", SMALL) for system, name in TRAINED_HERE.items()}
NAMES |= {f"ladder-{network}": name for network, name in NETWORKS.items()}
ROOM_NAMES = {ROOMS: "speaker, trained", SMALL_ROOMS: "narrow network"}
#: Each network, and then the ladder on its embeddings.
PUBLISHED = tuple(system for pair in zip(FROZEN, LADDERS, strict=True) for system in pair)
#: The triplet baseline has no learned similarity: its own score is a distance on the sphere.
LEFT_OUT = {(system, kind) for system in ("triplet", "small-triplet") for kind in ("similarity", "fused")}
CONDITIONS = tuple(f"{digits}, {sound}" for sound in ("clean", "noise") for digits in ("1 digit", "5 digits"))
#: Table 2 of the 2020 paper, the test trials of VoxCeleb1: the EER in per cent of each system and score.
PAPER = {
    ("speaker", "cosine"): 4.97,
    ("speaker", "similarity"): 2.51,
    ("speaker", "fused"): 2.51,
    ("speaker", "PLDA"): 3.75,
    ("speaker-alone", "similarity"): 3.44,
}
#: The measures of the second table.
COSTS = ("minDCF(0.01)", "minDCF(0.001)", "Cllr")


def tables(results: Results) -> str:
    """Equal errors of all systems and scores, the costs of the same trials, and another room."""
    if not results.contents:
        return "Not run yet."
    trained = (*UNTRAINED, *TRAINED, *TUNED)
    intervals = (
        "EER in per cent: the mean over the folds, with 95% intervals over seeds where there are several"
    )
    paired = "Differences of the EER in points, the first less the second, paired over folds; minus is better"
    parts = [
        f"### Published networks as they came\n\n{intervals}.\n\n{_errors(results, PUBLISHED)}",
        f"What the ladder kept: {_kept(results.of(_variants(LADDERS)))}.",
        f"{paired}:\n\n{_differences(results, of_networks(NETWORKS))}",
        f"The costs of the same trials, clean:\n\n{_costs(results, PUBLISHED)}",
        f"### Published networks trained further\n\n{intervals}.\n\n"
        f"{_errors(results, tuple(TRAINED_FURTHER))}",
        f"{paired}:\n\n{_differences(results, of_further(TRAINED_FURTHER))}",
        f"### A narrow x-vector network, trained here\n\n{intervals}.\n\n{_errors(results, NARROW)}",
        f"{paired}:\n\n{_differences(results, of_trained(SMALL))}",
        f"### The systems of the papers at their size\n\n{intervals}.\n\n{_errors(results, trained)}",
        f"{paired}:\n\n{_differences(results, of_trained(''))}",
        f"Beside the paper, EER in per cent:\n\n{_beside_paper(results)}",
        f"### Another room\n\nEER in per cent, the mean of two halves of the new room's speakers, "
        f"with 95% intervals over seeds where there are several:\n\n"
        f"{_rooms(results)}",
    ]
    return "\n\n".join(parts)


def _variants(systems: Sequence[str]) -> list[str]:
    return [f"{system}-{fold}" for system in systems for fold in range(FOLDS)]


def _differences(results: Results, comparisons: Sequence[Comparison]) -> str:
    return markdown(("compared", "folds", *CONDITIONS), differences(results, comparisons, CONDITIONS))


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


def _rows(results: Results, systems: Sequence[str]) -> list[tuple[str, str, str]]:
    """System, kind of score, and how many folds and seeds there are."""
    rows = []
    for system in systems:
        folds = [fold for fold in range(FOLDS) if results.seeds(f"{system}-{fold}")]
        for kind in KINDS:
            values = _by_seed(results, system, FOLDS, CONDITIONS[0], kind, "EER")
            if values and (system, kind) not in LEFT_OUT:
                rows.append((system, kind, f"{len(folds)} x {len(values)}"))
    return rows


def _errors(results: Results, systems: Sequence[str]) -> str:
    rows = [
        [NAMES.get(system, system), KINDS[kind], counted]
        + [_per_cent(_by_seed(results, system, FOLDS, name, kind, "EER")) for name in CONDITIONS]
        for system, kind, counted in _rows(results, systems)
    ]
    return markdown(("system", "score", "folds x seeds", *CONDITIONS), rows)


def _beside_paper(results: Results) -> str:
    """The shape of the paper's table: its figures, and those of the same systems here on clean sounds."""
    columns = [f"{NAMES[system]}, {KINDS[kind]}" for system, kind in PAPER]
    rows = [["VoxCeleb1, the 2020 paper", *(f"{value:.2f}" for value in PAPER.values())]]
    for condition in CONDITIONS[:2]:
        cells = [
            _per_cent(_by_seed(results, system, FOLDS, condition, kind, "EER")) for system, kind in PAPER
        ]
        rows.append([f"here, {condition}", *cells])
    return markdown(("trials", *columns), rows)


def _costs(results: Results, systems: Sequence[str]) -> str:
    rows = [
        [NAMES.get(system, system), KINDS[kind]]
        + [
            with_interval(_by_seed(results, system, FOLDS, condition, kind, measure))
            for condition in CONDITIONS[:2]
            for measure in COSTS
        ]
        for system, kind, _ in _rows(results, systems)
    ]
    heading = [
        f"{measure}, {condition.partition(',')[0]}" for condition in CONDITIONS[:2] for measure in COSTS
    ]
    return markdown(("system", "score", *heading), rows)


def _kept(results: Results) -> str:
    """How often each rung of the ladder was the last that was better, over networks, folds and lengths."""
    counts = Counter(
        ladder["kept"]
        for content in results.contents.values()
        for ladder in (content.get("ladders") or {}).values()
    )
    total = sum(counts.values())
    return (
        ", ".join(f"{name} {count} times of {total}" for name, count in counts.most_common()) or "not run yet"
    )


def _rooms(results: Results) -> str:
    rows = []
    for system in (*FROZEN_ROOMS, SMALL_ROOMS, ROOMS):
        for kind, word in KINDS.items():
            cells = [
                _per_cent(_by_seed(results, system, HALVES, name, kind, "EER")) for name in CONDITIONS[:2]
            ]
            if any(cells):
                rows.append(
                    [NAMES.get(system.removeprefix("rooms-"), ROOM_NAMES.get(system, "")), word, *cells]
                )
    return markdown(("system", "score", *CONDITIONS[:2]), rows)
