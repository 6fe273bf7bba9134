"""Which share of a margin is the bonus of classes that are enrolled beside known ones?

    python benchmarks/bonus.py [--data characters digits wine] [--out results/bonus.json]

A space without validation classes takes a share of the margin of its known items (`inference.balancing`).
Here classes of the training items are held out in turn and enrolled from five items beside the others, in
the raw input with the cosine. No item but training items is looked at. Takes a few seconds.
"""

import argparse
import json
from pathlib import Path

import torch
from sklearn import datasets
from torch import Tensor

from samekind import characters, digits
from samekind.data import Items, SplitSettings, prepare
from samekind.encoders import Unchanged
from samekind.inference.balancing import SHOTS, Labelled, spare_margin
from samekind.prototypes import SupportMeans, class_means
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.storage import write_text

DATA = ("characters", "digits", "wine")
SHARES, FOLDS, DRAWS, ASKED = (0.0, 0.125, 0.25, 0.5, 1.0), 3, 5, 0.3


def opened(name: str) -> Items:
    """All items of a set."""
    if name == "wine":
        values, labels = datasets.load_wine(return_X_y=True)
        return Items(torch.from_numpy(values).float(), torch.from_numpy(labels).long(), ("0", "1", "2"), name)
    items = digits() if name == "digits" else characters()
    return Items(items.inputs, items.labels, items.classes, name)


def training_items(name: str) -> Items:
    """The training items; of characters and digits those of half of the classes, the others are unseen."""
    unseen = () if name == "wine" else "random-half"
    return prepare(opened(name), SplitSettings(unseen=unseen, seed=0)).train


def by_share(items: Items) -> dict[str, float]:
    """The harmonic mean of known and new items named rightly, in per cent, for each share of the margin."""
    assert isinstance(items.inputs, Tensor)
    z = items.inputs.float().flatten(1)
    z = (z - z.mean(0)) / (z.std(0) if items.inputs.dim() == 2 else 1)
    order = torch.randperm(len(items.classes), generator=torch.Generator().manual_seed(0))
    folds = [_fold(z, items.labels, held_out) for held_out in order.chunk(FOLDS)]
    means = torch.stack(folds).mean(0)
    return {str(share): round(100 * float(mean), 1) for share, mean in zip(SHARES, means, strict=True)}


def _fold(z: Tensor, labels: Tensor, held_out: Tensor) -> Tensor:
    """The harmonic mean of each share, with some classes held out and enrolled."""
    is_new = torch.isin(labels, held_out)
    classes, known_labels = torch.unique(labels[~is_new], return_inverse=True)
    asked = torch.rand(len(known_labels), generator=torch.Generator().manual_seed(1)) < ASKED
    space = MetricSpace(Unchanged(inputs=z.shape[1]), Cosine(), SupportMeans(dimension=z.shape[1])).eval()
    means, _ = class_means(z[~is_new][~asked], known_labels[~asked], len(classes))
    space.prototypes.assign([str(name) for name in classes.tolist()], means[:, None])
    known = Labelled(z[~is_new][asked], known_labels[asked])
    scores = space.score_classes(known.z)
    bonuses = torch.tensor(SHARES)[:, None] * spare_margin(scores, scores.argmax(1) == known.labels)
    tasks = [
        _shares(space, known, Labelled(z[is_new], labels[is_new]), bonuses, draw) for draw in range(DRAWS)
    ]
    return torch.stack(tasks).mean(0)


def _shares(space: MetricSpace, known: Labelled, new: Labelled, bonuses: Tensor, seed: int) -> Tensor:
    """One draw of examples: the harmonic mean with each of the ``bonuses`` (shares, 1)."""
    generator = torch.Generator().manual_seed(seed)
    names = torch.unique(new.labels)
    order = torch.randperm(len(new.labels), generator=generator)
    examples = torch.cat([order[new.labels[order] == name][:SHOTS] for name in names])
    queries = order[~torch.isin(order, examples)]
    means = torch.stack([new.z[examples][new.labels[examples] == name].mean(0) for name in names])
    z = torch.cat([known.z, new.z[queries]])
    old, enrolled = space.score_classes(z).max(1), space.score_all(means, z).max(0)
    is_enrolled = enrolled.values - old.values + bonuses > 0
    count = len(known.z)
    right_old = (~is_enrolled[:, :count] & (old.indices[:count] == known.labels)).double().mean(1)
    right = names[enrolled.indices[count:]] == new.labels[queries]
    right_new = (is_enrolled[:, count:] & right).double().mean(1)
    return 2 * right_old * right_new / (right_old + right_new).clamp(min=1e-9)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", nargs="+", default=DATA, choices=DATA)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    with torch.no_grad():
        table = {name: by_share(training_items(name)) for name in arguments.data}
    for name, shares in table.items():
        print(name, "  ".join(f"{share}: {value}" for share, value in shares.items()), flush=True)
    if arguments.out is not None:
        write_text(arguments.out, json.dumps(table, indent=1) + "\n")
