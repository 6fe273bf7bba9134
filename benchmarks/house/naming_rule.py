"""When should a linear discriminant name the known classes? Rules compared on items cut from training items.

    python benchmarks/house/naming_rule.py [--features birds=FILE.npz plankton=FILE.npz]

The training items of digits, wine and breast cancer (of the splits of the study, whose test items are never
read) are cut anew into items to fit to, to choose by and to ask about, three times a seed. FILE has the
features that `small_folders.py --cache` keeps: folders are cut from the half of the classes that chose the
settings. Each rule chooses between the nearest mean and the discriminant by the second part; what it then
names rightly of the third is in results/house/naming-rule.json, in per cent.
"""

import argparse
import json
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from grid import SEEDS, Data, Experiment
from grids.running import Place
from sets import sets_of

from samekind.data import Items, SplitSettings, prepare
from samekind.encoders import Unchanged
from samekind.inference import embed, feature_items
from samekind.measures import paired_bootstrap_mean
from samekind.prototypes import SupportMeans
from samekind.recipes.house import house
from samekind.recipes.measuring import Named, measure_names
from samekind.recipes.rungs import Fitted, Rungs
from samekind.similarities import Cosine, WithinClass
from samekind.space import MetricSpace

DATA: tuple[Data, ...] = ("digits", "wine", "cancer")
CUTS, FOLDERS, CLASSES, PICTURES = 3, 12, 30, 30
FIT, CHOOSE = 18, 24  # the first pictures of a class to fit to; up to this one to choose by


class Trial(NamedTuple):
    """Right or not, by the score and by the discriminant: of the items to choose by, and of those asked."""

    chosen_by: tuple[Tensor, Tensor]
    asked: tuple[Tensor, Tensor]


Rule = Callable[[Tensor, Tensor], bool]  # of the items to choose by: the discriminant's, the score's


def not_surely_worse(one: Tensor, other: Tensor) -> bool:
    """The rule of the house recipe."""
    return paired_bootstrap_mean(one, other, seed=0).interval.high >= 0


def surely_better(one: Tensor, other: Tensor) -> bool:
    return paired_bootstrap_mean(one, other, seed=0).interval.low > 0


RULES: dict[str, Rule] = {
    "never": lambda *_: False,
    "better by more than chance": surely_better,
    "more right": lambda one, other: bool(one.mean() > other.mean()),
    "as many right or more": lambda one, other: bool(one.mean() >= other.mean()),
    "not worse by more than chance (house recipe)": not_surely_worse,
}


def trial(choose: Named, ask: Named) -> Trial:
    assert choose.discriminant is not None
    assert ask.discriminant is not None
    kind = choose.best
    return Trial((choose.right[kind], choose.discriminant), (ask.right[kind], ask.discriminant))


def on_rungs(data: Data, seed: int, cut: int, place: Place) -> Iterator[tuple[str, Trial]]:
    """The first three rungs on training items that are cut anew."""
    items = replace(sets_of(Experiment(data, "house", seed), place).train, parts=None)
    fractions = {"train": 0.6, "validation": 0.2, "test": 0.2}
    sets = prepare(items, SplitSettings(unseen=(), fractions=fractions, seed=cut))
    rungs = Rungs(sets, house(sets.train).override([f"seed={cut}"]), "cpu")
    rows, start = torch.arange(len(sets.train)), rungs.untrained()
    fitted = rungs.with_similarities(start, rows)
    head = rungs.headed(start, rows, choice=fitted.choice)
    for name, rung in {"raw input": start, "fitted similarity": fitted, "head on features": head}.items():
        known, parts = rung.embedded(rows), (sets.validation, sets.test)
        choose, ask = (measure_names(rung.space, known, _embedded(rung, part)) for part in parts)
        assert choose is not None
        assert ask is not None
        yield f"{data}, {name}", trial(choose, ask)


def _embedded(rung: Fitted, items: Items) -> Items:
    features = feature_items(rung.features.encoder, items)
    return replace(features, inputs=embed(rung.space, features.inputs), reader=None)


def on_folder(z: Tensor, labels: Tensor, seed: int) -> Trial:
    """A folder of 30 classes from the half of the classes that is for development."""
    names, generator = int(labels.max()) + 1, torch.Generator().manual_seed(seed)
    half = torch.randperm(names, generator=torch.Generator().manual_seed(7))[: names // 2]
    chosen = half[torch.randperm(len(half), generator=generator)[:CLASSES]]
    rows = torch.stack([(labels == label).nonzero().flatten() for label in chosen.tolist()])
    rows = torch.stack([row[torch.randperm(PICTURES, generator=generator)] for row in rows])
    places = torch.arange(CLASSES)[:, None].expand(CLASSES, PICTURES)
    fit, choose, ask = (
        Items(
            z[rows[:, part].flatten()], places[:, part].flatten(), tuple(map(str, range(CLASSES))), "folder"
        )
        for part in (slice(0, FIT), slice(FIT, CHOOSE), slice(CHOOSE, PICTURES))
    )
    width = z.shape[1]
    space = MetricSpace(Unchanged(inputs=width), Cosine(), SupportMeans(dimension=width)).eval()
    form = WithinClass(dimension=width, shrinkage=3.0, normalise=True, centre=True)
    space.fitted = form.fit(fit.inputs, fit.labels)
    named = [measure_names(space, fit, part) for part in (choose, ask)]
    assert named[0] is not None
    assert named[1] is not None
    return trial(*named)


def summary(trials: list[Trial]) -> dict[str, float]:
    """What each rule names rightly, in per cent, in the mean of the trials."""
    result = {}
    for name, rule in RULES.items():
        ways = [int(rule(one.chosen_by[1], one.chosen_by[0])) for one in trials]
        right = [one.asked[way].mean().item() for one, way in zip(trials, ways, strict=True)]
        result[name] = round(100 * sum(right) / len(right), 2)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--features", nargs="*", default=[], help="a name and a file of features, NAME=FILE")
    parser.add_argument("--out", type=Path, default=Path("results/house/naming-rule.json"))
    given = parser.parse_args()
    here = Path()
    place = Place(here, here, here, "cpu", float("inf"), False)
    trials: dict[str, list[Trial]] = defaultdict(list)
    for data in DATA:
        for seed in range(SEEDS):
            for cut in range(CUTS):
                for name, one in on_rungs(data, seed, cut, place):
                    trials[name].append(one)
    for entry in given.features:
        name, _, file = entry.partition("=")
        stored = np.load(file)
        z, labels = (torch.from_numpy(stored[array]) for array in ("z", "labels"))
        trials[f"folders of {name}"] = [on_folder(z, labels, seed) for seed in range(FOLDERS)]
    content = {name: {"trials": len(some), **summary(some)} for name, some in trials.items()}
    print(json.dumps(content, indent=1))
    given.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
