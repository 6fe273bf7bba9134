"""Do 95 of 100 intervals hold the truth? Tests drawn from a world whose error rates are known.

    python benchmarks/intervals.py [--tests 300] [--seed 2026] [--out results/intervals]

A world of classes: each has a centre in 16 dimensions and a spread of its own, items lie around their
centre, and the score of a pair is minus its distance. The truth is measured once on thousands of classes;
then many small tests are drawn, each with its own few classes, and each gives an interval for its EER and
AUC, and for both error rates at one fixed threshold. The table says how often the interval held the truth,
and how wide it was, by the number of classes. It is not the model that the tests of the intervals use.
"""

import argparse
import json
from pathlib import Path

import torch
from torch import Tensor

from samekind.measures import bootstrap_trials, equal_error_and_area, rates_at

DIMENSION, ITEMS = 16, 6
CLASSES = (5, 10, 30, 100)
STATISTICS = ("EER", "AUC", "FAR", "FRR")


def world(classes: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Items (classes x ITEMS, DIMENSION) and their labels."""
    centres = torch.randn(classes, 1, DIMENSION, generator=generator)
    spreads = 0.35 + 0.35 * torch.rand(classes, 1, 1, generator=generator)
    items = centres + spreads * torch.randn(classes, ITEMS, DIMENSION, generator=generator)
    return items.flatten(0, 1), torch.arange(classes).repeat_interleave(ITEMS)


def all_pairs(items: Tensor, labels: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    one, other = torch.triu_indices(len(labels), len(labels), 1)
    scores = -(items[one] - items[other]).norm(dim=1)
    return scores, labels[one] == labels[other], labels[one], labels[other]


def truth(seed: int) -> tuple[dict[str, float], float]:
    """The rates of the world, and the threshold of its EER: from ten draws of 400 classes, joined."""
    drawn = [all_pairs(*world(400, torch.Generator().manual_seed(seed + n)))[:2] for n in range(10)]
    scores, same = (torch.cat(part) for part in zip(*drawn, strict=True))
    equal_error, area = equal_error_and_area(scores, same)
    threshold = equal_error.threshold + 0.3  # a little stricter, so that the two rates differ
    accepts, rejects = rates_at(scores, same, threshold)
    return {"EER": equal_error.rate, "AUC": area, "FAR": accepts, "FRR": rejects}, threshold


def coverage(
    classes: int, tests: int, seed: int, known: dict[str, float], threshold: float
) -> dict[str, dict]:
    held, width = dict.fromkeys(STATISTICS, 0), dict.fromkeys(STATISTICS, 0.0)
    for test in range(tests):
        generator = torch.Generator().manual_seed(1000 * seed + 7919 * classes + test)
        found = bootstrap_trials(
            *all_pairs(*world(classes, generator)),
            statistics=STATISTICS,
            threshold=threshold,
            replicates=200,
            seed=test,
        )
        for name, interval in found.items():
            held[name] += interval.low <= known[name] <= interval.high
            width[name] += (interval.high - interval.low) / tests
    return {name: {"held": held[name] / tests, "width": width[name]} for name in STATISTICS}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tests", type=int, default=300)
    parser.add_argument("--seed", type=int, default=2026)
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    known, threshold = truth(given.seed)
    print("the truth:", {name: round(value, 4) for name, value in known.items()})
    rows = {}
    print("| classes | " + " | ".join(f"{name} held, width" for name in STATISTICS) + " |")
    print("|--:|" + "--:|" * len(STATISTICS))
    for classes in CLASSES:
        rows[classes] = coverage(classes, given.tests, given.seed, known, threshold)
        cells = [f"{row['held']:.1%}, {row['width']:.3f}" for row in rows[classes].values()]
        print(f"| {classes} | {' | '.join(cells)} |", flush=True)
    if given.out:
        given.out.mkdir(parents=True, exist_ok=True)
        content = {"tests": given.tests, "seed": given.seed, "truth": known, "coverage": rows}
        (given.out / "coverage.json").write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
