"""Prototypes of a few-shot task tuned on augmented views of its examples; encoder and similarity stay.

As in Monteiro et al., "Learning Semantic Similarities for Prototypical Classifiers": SGD at 1e-4 with a
momentum of 0.5 on the prototypes alone, pictures changed by RandAugment(2, 15).
"""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from samekind.augmentations import Augmentation, RandAugment, augment, step_generator
from samekind.data import Items, scaled
from samekind.data.stored import fetched
from samekind.decisions import Kind
from samekind.inference import asking, device_of
from samekind.samplers import Episode
from samekind.similarities import score_tasks
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


def tuned_accuracies(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    tasks: Sequence[Episode],
    *,
    kind: Kind = "similarity",
    steps: int = 50,
    rate: float = 1e-4,
    augmentations: Sequence[Augmentation] = VIEWS,
    seed: int = 0,
) -> Tensor:
    """The share of queries that are named rightly in each task (tasks,), by prototypes that are tuned for it:
    on views of the examples, ``items`` as they are stored. ``z`` (n, d) are the embeddings of all items. The
    fused kind averages the probabilities of the similarity and the cosine, tuned each by itself.
    """
    kinds: tuple[Kind, ...] = ("similarity", "cosine") if kind == "fused" else (kind,)
    z, shares = z.to(device_of(space)), []
    shown = fetched(items.inputs, [task.support.flatten() for task in tasks])
    for task, examples in zip(tasks, shown, strict=True):
        way, shot = task.support.shape
        views = examples.reshape(way, shot, *examples.shape[1:])
        asked, chances = task.query.flatten()[None].to(z.device), torch.zeros((), device=z.device)
        for one in kinds:
            similarity = space.scorer(one)
            prototypes = tuned_prototypes(
                space, views, steps=steps, rate=rate, kind=one, augmentations=augmentations, seed=seed
            )
            with asking(space):
                scores = score_tasks(similarity, prototypes[None].to(z), z, places=asked, examples=shot)[0]
                chances = chances + (similarity.scale().to(scores) * scores.double()).softmax(0)
        truth = torch.arange(way, device=z.device).repeat_interleave(task.query.shape[1])
        shares.append((chances.argmax(0) == truth).double().mean())
    return torch.stack(shares).cpu()
