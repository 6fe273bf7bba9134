"""Proxies laid out by a tree: left where the layout put them, or turned towards the classes (a cut of birds).

    python benchmarks/orientation.py --data DIR [--seeds 3] [--quick]
    python benchmarks/orientation.py --table [--page docs/results/trees.md]

DIR holds cub200.zip and cub200_taxonomy.csv. It takes every fifth class with 40 pictures of 96 pixels, split
70 / 10 / 20 by the seed, and trains for four epochs: small enough for a CPU. "Learned, from the means" has no
tree: its proxies begin at the mean embeddings of the untrained network, and learn. A run whose JSON exists is
not run again.
"""

import argparse
import json
import time
from dataclasses import replace
from functools import cache
from pathlib import Path

import torch
from torch.nn.functional import normalize

from samekind.data import DataSettings, Items, Sets, SplitSettings, open_data, prepare
from samekind.inference import embed
from samekind.measures import average_hierarchical_distance, student_interval, top_k_accuracy
from samekind.prototypes import class_means
from samekind.recipes import RECIPES
from samekind.space import MetricSpace
from samekind.storage import write_text
from samekind.training import Batches, Optimiser, Part, Run, Schedule, build_space
from samekind.training.build import build_sampler
from samekind.training.class_tree import turn_prototypes
from samekind.training.fabric import launch
from samekind.training.learner import Learner

RESULTS = Path(__file__).parents[1] / "results" / "orientation"
#: The systems by what the table calls them: the recipe, and whether learned proxies begin at the means.
SYSTEMS = {
    "NormFace, learned proxies": ("norm-face", False),
    "NormFace, learned, from the means": ("norm-face", True),
    "NormFace, by the tree": ("norm-face-mds", False),
    "NormFace, by the tree, turned": ("norm-face-tree", False),
    "CORR, by the tree": ("corr", False),
    "CORR, by the tree, turned": ("corr-tree", False),
}
EVERY, PICTURES, PIXELS, EPOCHS = 5, 40, 96, 4
FRACTIONS = {"train": 0.7, "validation": 0.1, "test": 0.2}
COLUMNS = {"top-1": 100, "top-5": 100, "AHD@1": 1, "AHD@5": 1}
BEGIN, END = "<!-- orientation: begin -->", "<!-- orientation: end -->"


@cache
def sets_of(folder: Path, seed: int) -> Sets:
    """The cut of the birds, with its tree."""
    settings = DataSettings(
        size=PIXELS, channels=3, memory="never", taxonomy=str(folder / "cub200_taxonomy.csv")
    )
    items = open_data(folder / "cub200.zip", settings=settings)
    items = items.only(list(items.classes)[::EVERY])
    places = [(items.labels == label).nonzero().flatten()[:PICTURES] for label in range(len(items.classes))]
    items = items.take(torch.cat(places))
    decoded = items.inputs[torch.arange(len(items))]
    return prepare(replace(items, inputs=decoded), SplitSettings(fractions=FRACTIONS, seed=seed))


def run_of(recipe: str, items: Items, seed: int, *, epochs: int) -> Run:
    """The recipe with the settings that all systems share; those of benchmarks/trees, for fewer items."""
    run = RECIPES[recipe](items)
    return replace(
        run,
        space=replace(run.space, encoder=Part("EfficientNetLite", {"variant": 0, "batch_norm": "frozen"})),
        batches=Batches("Shuffled", {"size": 32}),
        optimiser=Optimiser("AdamW", rate=3e-4, weight_decay=1e-4),
        schedule=Schedule("cosine", warmup_epochs=0.5),
        epochs=epochs,
        seed=seed,
        augment=(Part("RandomResizedCrop", {"scale": [0.25, 1.0]}), Part("Flip")),
        channels_last=True,
    )


def taught(run: Run, items: Items, *, from_means: bool) -> MetricSpace:
    """The space after the last epoch."""
    torch.manual_seed(run.seed)
    space = build_space(run, items)
    turn_prototypes(space, items)
    if from_means:
        means, _ = class_means(normalize(embed(space, items.inputs), dim=1), items.labels, len(space.classes))
        space.prototypes.assign(space.classes, normalize(means, dim=1)[:, None])
    sampler = build_sampler(run, items.labels)
    learner = Learner(run, space, items, launch("cpu", run.precision), batches=len(sampler))
    number = 0
    for epoch in range(run.epochs):
        learner.begin_epoch(epoch)
        with learner.training():
            for indices in sampler.batches(epoch):
                learner.step(items.inputs[indices], items.labels[indices], number=number)
                number += 1
    return space.eval()


def measured(system: str, folder: Path, seed: int, *, epochs: int) -> dict:
    """The figures of one run."""
    recipe, from_means = SYSTEMS[system]
    sets, began = sets_of(folder, seed), time.process_time()
    space = taught(run_of(recipe, sets.train, seed, epochs=epochs), sets.train, from_means=from_means)
    with torch.no_grad():
        scores = space.score_classes(embed(space, sets.test.inputs))
    distances, truth = sets.tree.distances(list(sets.train.classes)), sets.test.labels
    top = top_k_accuracy(scores, truth, ks=(1, 5))
    given = {"class_distances": distances}
    return {
        "system": system,
        "seed": seed,
        "epochs": epochs,
        "items": {"train": len(sets.train), "test": len(sets.test), "classes": len(sets.train.classes)},
        "top-1": top[1],
        "top-5": top[5],
        "AHD@1": average_hierarchical_distance(scores, truth, k=1, **given),
        "AHD@5": average_hierarchical_distance(scores, truth, k=5, **given),
        "processor seconds": time.process_time() - began,
    }


def table(results: list[dict]) -> str:
    """Means over seeds with 95% intervals, as Markdown."""
    lines = ["| system | seeds | top-1 | top-5 | AHD@1 | AHD@5 |", "|---|--:|--:|--:|--:|--:|"]
    for system in SYSTEMS:
        runs = [result for result in results if result["system"] == system]
        if runs:
            cells = [_cell([factor * run[column] for run in runs]) for column, factor in COLUMNS.items()]
            lines.append(f"| {system} | {len(runs)} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    if len(values) < 2:
        return f"{values[0]:.2f}"
    interval = student_interval(values)
    return f"{interval.mean:.2f} ± {interval.half:.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="one seed and one epoch, stored nowhere")
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--page", type=Path)
    options = parser.parse_args()
    if options.quick:
        print(table([measured(system, options.data, 0, epochs=1) for system in SYSTEMS]))
        return
    for seed in range(0 if options.table else options.seeds):
        for place, system in enumerate(SYSTEMS):
            path = RESULTS / f"{place}-{seed}.json"
            if not path.exists():
                path.parent.mkdir(parents=True, exist_ok=True)
                result = measured(system, options.data, seed, epochs=EPOCHS)
                write_text(path, json.dumps(result, indent=1) + "\n")
                print(f"{system}, seed {seed}: top-1 {result['top-1']:.1%}", flush=True)
    files = sorted(RESULTS.glob("*.json"))
    text = table([json.loads(path.read_text(encoding="utf-8")) for path in files])
    print(text)
    if options.page is not None:
        before, _, rest = options.page.read_text(encoding="utf-8").partition(BEGIN)
        write_text(options.page, f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
