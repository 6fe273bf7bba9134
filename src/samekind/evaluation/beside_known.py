"""A new class beside the known ones, from a few examples? What `MetricSpace.enroll` gives: few-shot tasks in
which the classes of the space stay in the running.

A task among new classes alone leaves out a mistake that use does not: to take a new class for a known one,
and the other way about. Items of both kinds are asked about. Their harmonic mean, which is high only where
both are, does not flatter a space that names one kind and forgets the other: Xian, Schiele and Akata,
"Zero-Shot Learning: The Good, the Bad and the Ugly", CVPR 2017.
"""

from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.evaluation.classification import knows
from samekind.evaluation.few_shot import fewer_tasks
from samekind.evaluation.rows import Row, noted
from samekind.evaluation.samples import Sample, row_of
from samekind.evaluation.tasks import drawn_tasks
from samekind.inference import asking, device_of
from samekind.measures import catalogue
from samekind.samplers import Episode
from samekind.space import MetricSpace

QUESTION = "few-shot beside known"
BATCH = 4096


def few_shot_beside_known(
    space: MetricSpace,
    known: Items,
    known_z: Tensor,
    new: Items,
    new_z: Tensor,
    *,
    name: str,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    queries: int = 15,
    tasks: int = 600,
    seed: int = 0,
) -> list[Row]:
    """The share of items named rightly among all classes, the space's own and ``way`` new ones enrolled from
    a few items each: of known items, of new ones, and the harmonic mean of the two; means over tasks, with
    their 95% intervals.

    ``known`` are items of the space's classes, of which a task asks as many, drawn at random, as of new ones.
    The tasks are those of `few_shot` on ``new``, with the same limits, in groups too, and the answers those
    of `classify` by the similarity, once the classes are enrolled: of equals the known class. No row where a
    class of ``known`` is unknown to the space, or one of ``new`` is not.
    """
    names = {new.classes[label] for label in new.labels.tolist()}
    if not len(known) or len(names) < 2 or not knows(space, known) or names & set(space.classes):
        return []
    apart = groups_apart(new)
    with asking(space):
        held = _held(space, known, torch.cat([known_z, new_z]))
        samples: list[Sample] = []
        for shot in shots:
            drawn = drawn_tasks(new, apart, way=way, shot=shot, queries=queries, tasks=tasks, seed=seed)
            if not drawn:
                continue
            others = torch.Generator().manual_seed(seed + 1)
            asked = (torch.randperm(len(known), generator=others)[: each.query.numel()] for each in drawn)
            found = [_task(space, held, *each) for each in zip(asked, drawn, strict=True)]
            way_drawn = len(drawn[0].classes)
            samples += _samples(torch.stack(found).cpu(), name=name, way=way_drawn, shot=shot)
    return [noted(noted(row_of(each), fewer_tasks(each, tasks)), apart.note) for each in samples]


class _Held(NamedTuple):
    """Known items, then new ones, on the device of the space: their embeddings, what an enrolled class has
    to outdo, the score of the best known one, and whether that is the right one (of the known items alone).
    """

    z: Tensor
    best: Tensor
    right: Tensor


def _held(space: MetricSpace, known: Items, z: Tensor) -> _Held:
    place = {name: index for index, name in enumerate(space.classes)}
    own = torch.tensor([place.get(name, -1) for name in known.classes])[known.labels.cpu()]
    z = z.to(device_of(space))
    found = [space.score_classes(some).max(1) for some in torch.split(z, BATCH)]
    best, named = (torch.cat(each) for each in zip(*found, strict=True))
    return _Held(z, best, named[: len(own)] == own.to(z.device))


def _task(space: MetricSpace, held: _Held, asked: Tensor, episode: Episode) -> Tensor:
    """The shares of known and of new items named rightly in one task: (2,)."""
    count = len(held.right)
    prototypes = held.z[count + episode.support].mean(1)
    items = torch.cat([asked, count + episode.query.flatten()]).to(held.z.device)
    score, which = space.similarity.score_all(prototypes, held.z[items]).max(0)
    enrolled = score > held.best[items]
    truth = torch.arange(len(prototypes), device=held.z.device).repeat_interleave(episode.query.shape[1])
    of_known = held.right[items[: len(asked)]] & ~enrolled[: len(asked)]
    of_new = enrolled[len(asked) :] & (which[len(asked) :] == truth)
    return torch.stack([of_known.double().mean(), of_new.double().mean()])


def _samples(found: Tensor, *, name: str, way: int, shot: int) -> list[Sample]:
    """The measures of shares (tasks, 2); where both of a task are 0, so is their harmonic mean."""
    known, new = found.T
    both = 2 * known * new / (known + new).clamp(min=torch.finfo(known.dtype).tiny)
    measured = {
        catalogue.few_shot_beside_known(way, shot, "known"): known,
        catalogue.few_shot_beside_known(way, shot, "new"): new,
        catalogue.few_shot_beside_known(way, shot, "harmonic mean"): both,
    }
    return [
        Sample(QUESTION, name, measure, "similarity", "episodes", float(values.mean()), values)
        for measure, values in measured.items()
    ]
