"""A new class beside the known ones, from a few examples? Few-shot tasks in which the known classes of the
space are possible answers too, as after `MetricSpace.enroll`.

A task among new classes alone cannot show one mistake: to confuse new and known classes. So items of both are
the queries. The harmonic mean of their accuracies is high only if both are: Xian, Schiele and Akata,
"Zero-Shot Learning: The Good, the Bad and the Ugly", CVPR 2017.
"""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.decisions import Kind
from samekind.evaluation.few_shot import few_shot_rows
from samekind.evaluation.rows import Row
from samekind.evaluation.samples import Sample, mean_sample
from samekind.evaluation.tasks import drawn_tasks, task_note, task_scores
from samekind.inference import asking, device_of
from samekind.inference.known_classes import class_names, knows, labels_in
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

    A task asks about as many items of ``known``, drawn at random, as of new classes. The tasks are those of
    `few_shot` on ``new``, with the same limits. The answers are those of `classify` once the classes are
    enrolled, by the space's kind of score for classes and with the bonus of enrolled ones; a tie goes to the
    known class. No row if a class of ``known`` is unknown to the
    space, or one of ``new`` is known.
    """
    names = class_names(new)
    if not len(known) or len(names) < 2 or not knows(space, known) or names & set(space.classes):
        return []
    apart = groups_apart(new)
    with asking(space):
        embedded = _answers_of(space, known, torch.cat([known_z, new_z]))
        rows: list[Row] = []
        for shot in shots:
            episodes = drawn_tasks(new, apart, way=way, shot=shot, queries=queries, tasks=tasks, seed=seed)
            if not episodes:
                continue
            shares = _shares(space, embedded, episodes, seed).cpu()
            kind = space.kind_for("classes")
            samples = _samples(shares, name=name, kind=kind, way=len(episodes[0].classes), shot=shot)
            rows += few_shot_rows(samples, tasks, task_note(new, apart, shot))
    return rows


class _Held(NamedTuple):
    """Known items, then new ones, on the device of the space: their embeddings, the score of the best known
    class, and (for the known items alone) whether that class is right.
    """

    z: Tensor
    best: Tensor
    right: Tensor


def _answers_of(space: MetricSpace, known: Items, z: Tensor) -> _Held:
    own, z = labels_in(space, known).tolist(), z.to(device_of(space))
    answers = [space.classify(chunk, calibrated=False) for chunk in torch.split(z, BATCH)]
    best = torch.cat([answer.scores.amax(1) for answer in answers])
    answer_names = [name for answer in answers for name in answer.classes]
    right = [space.classes[place] == name for place, name in zip(own, answer_names, strict=False)]
    return _Held(z, best, torch.tensor(right, device=z.device))


def _shares(space: MetricSpace, embedded: _Held, episodes: Sequence[Episode], seed: int) -> Tensor:
    """The shares of known and of new items named rightly in each task: (tasks, 2)."""
    generator, known_count = torch.Generator().manual_seed(seed + 1), len(embedded.right)
    kind = space.kind_for("classes")
    bonus = space.balances[kind].bonus if kind in space.balances else 0.0
    tasks = []
    for episode in episodes:
        of_known = torch.randperm(known_count, generator=generator)[: episode.query.numel()]
        tasks.append(
            (known_count + episode.support, torch.cat([of_known, known_count + episode.query.flatten()]))
        )
    scores = task_scores(space, embedded.z, tasks, kind=kind)
    return torch.stack(
        [
            _task(embedded, part + bonus, items.to(embedded.z.device), episode)
            for part, (_, items), episode in zip(scores, tasks, episodes, strict=True)
        ]
    )


def _task(embedded: _Held, scores: Tensor, items: Tensor, episode: Episode) -> Tensor:
    """The shares of known and of new items named rightly in one task, (2,), from the scores of the enrolled
    classes (way, items); the known ``items`` come first.
    """
    score, which = scores.max(0)
    enrolled, count = score > embedded.best[items], len(items) - episode.query.numel()
    truth = torch.arange(len(scores), device=which.device).repeat_interleave(episode.query.shape[1])
    of_known = embedded.right[items[:count]] & ~enrolled[:count]
    of_new = enrolled[count:] & (which[count:] == truth)
    return torch.stack([of_known.double().mean(), of_new.double().mean()])


def _samples(shares: Tensor, *, name: str, kind: Kind, way: int, shot: int) -> list[Sample]:
    """The measures of shares (tasks, 2); where both of a task are 0, so is their harmonic mean."""
    known_shares, new_shares = shares.T
    harmonic = (
        2
        * known_shares
        * new_shares
        / (known_shares + new_shares).clamp(min=torch.finfo(known_shares.dtype).tiny)
    )
    measured = {
        catalogue.few_shot_beside_known(way, shot, "known"): known_shares,
        catalogue.few_shot_beside_known(way, shot, "new"): new_shares,
        catalogue.few_shot_beside_known(way, shot, "harmonic mean"): harmonic,
    }
    return [
        mean_sample(QUESTION, name, measure, kind, "episodes", values) for measure, values in measured.items()
    ]
