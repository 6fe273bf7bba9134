"""Prototypes of a few-shot task tuned on augmented views of its examples; encoder and similarity stay.

As in Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers": SGD at 1e-4 with a
momentum of 0.5 on the prototypes alone, pictures changed by RandAugment(2, 15).
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.augmentations import Augmentation, RandAugment, augment, step_generator
from samekind.data import scaled
from samekind.decisions import Kind
from samekind.inference import asking, device_of
from samekind.space import MetricSpace

#: The augmentation of the source.
VIEWS: tuple[Augmentation, ...] = (RandAugment(operations=2, magnitude=15),)


def tuned_prototypes(
    space: MetricSpace,
    examples: Tensor,
    *,
    steps: int = 50,
    rate: float = 1e-4,
    momentum: float = 0.5,
    kind: Kind = "similarity",
    augmentations: Sequence[Augmentation] = VIEWS,
    seed: int = 0,
) -> Tensor:
    """The prototypes of a task, from items (way, shot, …) as they are stored: (way, d), on the device of the
    space.

    They begin as the means of the examples. Each of ``steps`` steps embeds a new view of every example, and
    lowers the cross-entropy of their classes, softmax(scale x score). With 0 steps they are the means. The
    space does not change.
    """
    way, shot = examples.shape[:2]
    device = device_of(space)
    items = scaled(examples.flatten(0, 1).to(device))
    similarity = space.scorer(kind)
    with asking(space):
        start = space.embed(items).float().reshape(way, shot, -1).mean(1)
        views = [
            space.embed(augment(items, augmentations, generator=step_generator(seed, step))).float()
            for step in range(steps)
        ]
        scale = similarity.scale().to(device)
    prototypes = start.clone().requires_grad_()
    truth = torch.arange(way, device=device).repeat_interleave(shot)
    optimiser = torch.optim.SGD([prototypes], lr=rate, momentum=momentum)
    with asking(space), torch.enable_grad():
        for z in views:
            scores = scale * similarity.score_all(prototypes, z.clone()).T
            (prototypes.grad,) = torch.autograd.grad(F.cross_entropy(scores, truth), [prototypes])
            optimiser.step()
    return prototypes.detach()
