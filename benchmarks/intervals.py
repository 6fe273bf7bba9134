"""Do 95 of 100 intervals hold the truth? Tests drawn from worlds whose error rates are known.

    python benchmarks/intervals.py [--tests 300] [--classes 5 10 30 100] [--worlds easy hard] [--seed 2026]
        [--out results/intervals]

A world of classes: each has a centre in 16 dimensions and a spread of its own, items lie around their
centre, and the score of a pair is a log likelihood ratio: a line of minus its distance, fitted to the world.
In the hard world the classes overlap: there the minimum detection cost is near 0.9. The truth is measured
once on thousands of classes; then many small tests are drawn, each with its own few classes, and each gives
an interval for its EER, AUC, minDCF (prior 0.01) and Cllr, and for both error rates at one fixed threshold.
The table says how often the interval held the truth, and how wide it was, by the number of classes. It is
not the model that the tests of the intervals use.
"""

import argparse
import json
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.measures import (
    bootstrap_trials,
    equal_error_and_area,
    log_likelihood_ratio_cost,
    logistic_calibration,
    minimum_detection_cost,
    rates_at,
)

DIMENSION, ITEMS = 16, 6
CLASSES = (5, 10, 30, 100)
STATISTICS = ("EER", "AUC", "FAR", "FRR", "minDCF", "Cllr")
#: The least spread of a class; the largest is 0.35 more.
WORLDS = {"easy": 0.35, "hard": 0.6}


class Truth(NamedTuple):
    """What a world's scores are worth, and the line that makes them log likelihood ratios."""

    values: dict[str, float]
    threshold: float
    slope: float
    offset: float


def world(least: float, classes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Items (classes x ITEMS, DIMENSION) and their labels."""
    centres = torch.randn(classes, 1, DIMENSION, generator=generator)
    spreads = least + 0.35 * torch.rand(classes, 1, 1, generator=generator)
    items = centres + spreads * torch.randn(classes, ITEMS, DIMENSION, generator=generator)
    return items.flatten(0, 1), torch.arange(classes).repeat_interleave(ITEMS)


def all_pairs(items: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    scores = -(items[one] - items[other]).norm(dim=1)
    return scores, labels[one] == labels[other], labels[one], labels[other]


def truth(least: float, seed: int) -> Truth:
    """The rates of the world, from ten draws of 400 classes, joined; the threshold is a little stricter than
    that of the EER, so that the two rates differ.
    """
    drawn = [all_pairs(*world(least, 400, torch.Generator().manual_seed(seed + n)))[:2] for n in range(10)]
    scores, same = (torch.cat(part) for part in zip(*drawn, strict=True))
    slope, offset = logistic_calibration(scores, same)
    threshold = slope * (equal_error_and_area(scores, same)[0].threshold + 0.3) + offset
    scores = slope * scores + offset
    equal_error, area = equal_error_and_area(scores, same)
    accepts, rejects = rates_at(scores, same, threshold)
    cost, bits = minimum_detection_cost(scores, same).cost, log_likelihood_ratio_cost(scores, same)
    values = equal_error.rate, area, accepts, rejects, cost, bits
    return Truth(dict(zip(STATISTICS, values, strict=True)), threshold, slope, offset)


def coverage(least: float, classes: int, tests: int, seed: int, known: Truth) -> dict[str, dict]:
    held, width = dict.fromkeys(STATISTICS, 0), dict.fromkeys(STATISTICS, 0.0)
    for test in range(tests):
        generator = torch.Generator().manual_seed(1000 * seed + 7919 * classes + test)
        scores, *trials = all_pairs(*world(least, classes, generator))
        intervals = bootstrap_trials(
            known.slope * scores + known.offset,
            *trials,
            statistics=STATISTICS,
            threshold=known.threshold,
            replicates=200,
            seed=test,
        )
        for name, interval in intervals.items():
            held[name] += interval.low <= known.values[name] <= interval.high
            width[name] += (interval.high - interval.low) / tests
    return {name: {"held": held[name] / tests, "width": width[name]} for name in STATISTICS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--classes", type=int, nargs="+", default=CLASSES)
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS))
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    content: dict[str, object] = {"tests": given.tests, "seed": given.seed}
    for name in given.worlds:
        known = truth(WORLDS[name], given.seed)
        print(f"\n{name}, the truth:", {key: round(value, 4) for key, value in known.values.items()})
        print("| classes | " + " | ".join(f"{key} held, width" for key in STATISTICS) + " |")
        print("|--:|" + "--:|" * len(STATISTICS))
        rows = {}
        for classes in given.classes:
            rows[classes] = coverage(WORLDS[name], classes, given.tests, given.seed, known)
            cells = [f"{row['held']:.1%}, {row['width']:.3f}" for row in rows[classes].values()]
            print(f"| {classes} | {' | '.join(cells)} |", flush=True)
        content[name] = {"truth": known.values, "coverage": rows}
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        (given.out / "coverage.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
