"""Two choices that papers leave open, measured on a processor: docs/results/similarity.md has the table.

    python benchmarks/choices.py [--seeds 3] [--steps 300] [--results results/choices] [--page PAGE]

Sixty of the characters that come with samekind; others choose the epoch, and others are unseen. Each choice
is trained beside its opposite, with the same seeds: the sum of the two means of pairs or their mean
(`verification`), running averages that begin as noise or with the first items of a class (`prototypical`).
One JSON a run; a run whose JSON is there is not run again.
"""

import argparse
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))  # where the grids' shared folder is

from grids.alphabets import alphabets_apart
from grids.selection import epochs_as_json, rows_of_each, train_for_each
from grids.tables import markdown, show, with_interval

from samekind.data import Sets
from samekind.evaluation import Row, cosine_references, retrieval, verification
from samekind.evaluation.cosine_references import CENTRED, NORMALISED
from samekind.inference import embed
from samekind.measures import paired_difference
from samekind.recipes import prototypical
from samekind.recipes import verification as pairs
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Batches, Optimiser, Part, Run, Schedule

#: What is changed, of which recipe: the paper's choice first, then its opposite.
CHOICES = {
    "one mean of pairs": (pairs, []),
    "sum of two means": (pairs, ["terms.pair.total=sum"]),
    "averages from noise": (prototypical, []),
    "averages from the first items": (prototypical, ["space.prototypes.initial=first"]),
}
PAIRS = (("one mean of pairs", "sum of two means"), ("averages from noise", "averages from the first items"))
TUPLES, OF_A_CLASS, STEPS = 12, 5, 300
MEASURES, KINDS = ("EER", "Recall@1", "MAP@R"), ("similarity", "cosine")
#: Characters to train with, to choose the epoch by, and of the test, all of different alphabets.
TRAIN, VALIDATION, TEST = 60, 12, 30


def sets_of(seed: int) -> Sets:
    """Characters to train with, to choose by and to test with."""
    return alphabets_apart((TRAIN, VALIDATION, TEST), seed=seed)


def run_of(choice: str, sets: Sets, seed: int, steps: int) -> Run:
    """The recipe with small networks: 300 batches of 60 drawings take a core less than a minute."""
    recipe, changes = CHOICES[choice]
    run = recipe(sets.train.shape)
    run = replace(
        run,
        space=replace(
            run.space,
            encoder=Part("SmallConvnet", {"dimension": 64, "width": 16}),
            similarity=Part("PairsNetwork", {"hidden": 64, "depth": 2, "dropout": 0.2}),
        ),
        batches=Batches("Tuples", {"tuples": TUPLES, "size": OF_A_CLASS}),
        optimiser=Optimiser("AdamW", rate=1e-3, weight_decay=1e-4),
        schedule=Schedule("cosine", warmup_epochs=1),
        epochs=max(2, steps * TUPLES * OF_A_CLASS // len(sets.train)),
        clip=10.0,
        validate=("retrieval",),
        watch="map@r best",
        seed=seed,
    )
    return run.override(changes)


def about(space: MetricSpace, sets: Sets, seed: int) -> list[Row]:
    """Pairs and neighbours of the unseen alphabets, with every score and by two better cosines."""
    items = sets.unseen
    assert items is not None
    z, known = embed(space, items.inputs), embed(space, sets.train.inputs)
    return [
        *verification(space, items, z, name="unseen", seed=seed),
        *retrieval(space, items, z, name="unseen", ks=(1,), seed=seed),
        *cosine_references(items, z, known, name="unseen", ks=(1,), seed=seed),
    ]


def carry_out(choice: str, seed: int, results: Path, steps: int) -> None:
    """One run, unless its JSON is there."""
    path = results / f"{choice.replace(' ', '-')}-{seed}.json"
    if path.exists():
        return
    sets = sets_of(seed)
    run = run_of(choice, sets, seed, steps)
    with tempfile.TemporaryDirectory() as folder:
        space, best = train_for_each(run, sets, folder=Path(folder, "run"), device="cpu", measure="map@r")
        rows = rows_of_each(space, best, lambda space: about(space, sets, seed))
    counts = {"train": len(sets.train), "validation": len(sets.validation), "test": len(sets.unseen or ())}
    content = {
        "choice": choice,
        "seed": seed,
        "run": run.to_dict(),
        "items": counts,
        "chosen": epochs_as_json(best),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    write_text(path, json.dumps({**content, "rows": [row._asdict() for row in rows]}, indent=1) + "\n")
    print(f"{choice}, seed {seed}", flush=True)


def table(results: Path) -> str:
    """Both sides of each choice by learned score and cosine, and their differences by seed; of the better
    cosines the EER.
    """
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(results.glob("*.json"))]
    values: dict[tuple[str, str, str], dict[int, float]] = {}
    for content in contents:
        for row in content["rows"]:
            asked = (content["choice"], row["measure"], row["kind"])
            values.setdefault(asked, {})[content["seed"]] = 100 * row["value"]
    shown = [(measure, kind) for kind in KINDS for measure in MEASURES]
    shown += [("EER", kind) for kind in (CENTRED, NORMALISED)]
    rows = []
    for first, second in PAIRS:
        for measure, kind in shown:
            one, other = (values.get((choice, measure, kind), {}) for choice in (first, second))
            seeds = sorted(one.keys() & other.keys())
            if len(seeds) > 1:
                sides = [[side[seed] for seed in seeds] for side in (one, other)]
                mean, low, high = paired_difference(sides[1], sides[0])
                cells = [with_interval(side) for side in sides]
                difference = f"{mean:+.2f} ({low:+.2f} to {high:+.2f})"
                score = "learned" if kind == "similarity" else kind
                rows.append([f"{first} / {second}", score, measure, *cells, difference, str(len(seeds))])
    heading = ["choice: first / second", "score", "measure", "first", "second", "second - first", "seeds"]
    return markdown(heading, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--results", type=Path, default=Path("results/choices"))
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    for seed in range(given.seeds):
        for choice in CHOICES:
            carry_out(choice, seed, given.results, given.steps)
    show(table(given.results), given.page, mark="choices")


if __name__ == "__main__":
    main()
