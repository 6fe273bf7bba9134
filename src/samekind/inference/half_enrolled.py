"""None of these, where all held-out items are of classes that were not trained on: half of the classes are
enrolled from a few examples, as a user will do it, and the others stay unknown.
"""

import torch
from torch import Tensor

from samekind.decisions import Kind
from samekind.inference.balancing import SHOTS, Labelled, drawn_examples
from samekind.inference.embed import asking, device_of
from samekind.inference.open_set import Familiarity, best_of, pooled
from samekind.measures import FEWEST_CLASSES
from samekind.space import MetricSpace

#: How often classes and examples are drawn.
DRAWS = 5


def half_enrolled(
    space: MetricSpace, new: Labelled, *, shots: int = SHOTS, draws: int = DRAWS, seed: int = 0
) -> Familiarity | None:
    """The scores of the best class for items of enrolled and of unknown classes, ``draws`` times; None if
    either side would have fewer than three classes.

    Half of the new classes, drawn anew each time, are enrolled from at most ``shots`` items beside the
    classes of the space. Their other items are known; items of the other half are not.
    """
    several = int((torch.unique(new.labels, return_counts=True)[1] > 1).sum())
    if several < 2 * FEWEST_CLASSES:
        return None
    return pooled([_drawn(space, new, several // 2, shots, seed + draw) for draw in range(draws)])


def _drawn(space: MetricSpace, new: Labelled, way: int, shots: int, seed: int) -> Familiarity:
    labels, device = new.labels.cpu(), device_of(space)
    examples = drawn_examples(new, way, shots, seed)
    unknown = ~torch.isin(labels, examples.names)
    rows = (examples.asked | unknown).nonzero().flatten()
    z = new.z[rows.to(new.z.device)]

    def best(kind: Kind) -> Tensor:
        with asking(space):
            means, counts = examples.means.to(device), examples.counts.to(device)
            scores = space.score_enrolled(means, z.to(device), counts, kind=kind).float().cpu().amax(0)
        return scores if not space.classes else scores.maximum(best_of(space, z, kind=kind))

    return Familiarity({kind: best(kind) for kind in space.kinds}, examples.asked[rows], labels[rows])
