"""Answers at inner nodes of the tree of classes: "some copepod" where the class itself is unsure.

The answer is the deepest node, on the way from the root to ever the more probable child, whose probability
reaches a threshold. A higher threshold ends the way earlier, and an answer above a right one is right, too.
So for every held-out item there is one number, the probability of the first wrong node on its way, and with
a threshold above it the answer is right. Of n items the threshold is above the ceil((n + 1) level)-th
smallest of these numbers: a new item like them is then answered rightly with at least that probability.

Angelopoulos et al., "Conformal Risk Control", ICLR 2024; here the risk is that the answer is wrong.
"""

import math
from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.data import Items
from samekind.decisions import Kind, Levels
from samekind.decisions.levels import LEVELS, check_level
from samekind.errors import SpaceError
from samekind.inference.embed import BATCH, asking, device_of, in_batches
from samekind.inference.known_classes import labels_in
from samekind.inference.open_set import Named, familiar
from samekind.inference.temperatures import FEWEST
from samekind.space import MetricSpace
from samekind.taxonomy import Descent

NO_TREE = (
    "this space has no tree of classes, so it has no answer at a level; train with one: samekind train "
    "--taxonomy FILE"
)


def way_down(space: MetricSpace, z: Tensor, *, kind: Kind | None = None) -> Descent:
    """The ways of embeddings (n, d) down the space's tree, by the calibrated probabilities of the classes.

    Raises SpaceError for a space without a tree.
    """
    if space.tree is None:
        raise SpaceError(NO_TREE)
    by_class = in_batches(space, z, lambda part: space.classify(part, kind=kind).probabilities)
    return Descent(space.tree, space.classes, by_class)


def fit_levels(
    space: MetricSpace, items: Items, z: Tensor, *, description: str | None = None
) -> Levels | None:
    """The thresholds for all levels, fitted on those items (embeddings: z) that are of the space's classes;
    None without a tree, and for fewer than 30 of them.

    The items must have been used neither for training nor for a prototype.
    """
    truth = labels_in(space, items)
    known = (truth >= 0).nonzero().flatten()
    if space.tree is None or len(known) < FEWEST:
        return None
    way = way_down(space, z[known.to(z.device)])
    thresholds = level_thresholds(way, truth[known])
    name = f"{description or items.name}: {len(known):,} items of known classes"
    return Levels(tuple(thresholds), space.kind_for("classes"), name, len(known), len(space.classes))


def level_thresholds(way: Descent, truth: Tensor, levels: Sequence[float] = LEVELS) -> list[float]:
    """The threshold for each level, given ways and classes (n,) of held-out items; it ends before the first
    level that so few items cannot promise.
    """
    # Wrong nodes of a way come after the right ones, and are less and less probable.
    wrong = way.probabilities.masked_fill(way.are_above(truth), 0.0).max(1).values.sort().values
    ranks = [math.ceil((len(wrong) + 1) * level - 1e-9) for level in levels]
    return [math.nextafter(float(wrong[rank - 1]), math.inf) for rank in ranks if rank <= len(wrong)]


def threshold_at(space: MetricSpace, level: float, *, kind: Kind | None = None) -> tuple[float, bool]:
    """From which probability on a node is an answer, and whether that was fitted. If not, it is the level
    itself; if the items were too few to promise the level, it is above 1, and only the root is left.
    """
    if space.levels is None or kind not in (None, space.levels.kind):
        return check_level(level), False
    threshold = space.levels.threshold(level)
    return (2.0 if threshold is None else threshold), True


def identify_at(space: MetricSpace, z: Tensor, *, level: float, kind: Kind | None = None) -> list[Named]:
    """As `identify`, but the answer is the deepest node of the tree that is sure enough for the share
    ``level`` of all answers to be right; its probability is that of all classes below it.

    None of these is decided first, as there.
    """
    threshold, _ = threshold_at(space, level, kind=kind)
    answers: list[Named] = []
    with asking(space):
        for part in torch.split(z.to(device_of(space)), BATCH):
            way, stands = way_down(space, part, kind=kind), familiar(space, part, kind=kind)
            nodes, probabilities = way.ends(threshold)
            named = zip(way.names(nodes), stands.accepted.tolist(), strict=True)
            names = [name if accepted else None for name, accepted in named]
            answers += map(Named, names, stands.answered(probabilities).tolist(), stands.score.tolist())
    return answers
