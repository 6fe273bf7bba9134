"""A new class, from a few examples? Tasks of N classes with K examples each, prototypes their means."""

from collections.abc import Iterable

import torch
from torch import Tensor

from samekind.data import Items
from samekind.data.groups import groups_apart
from samekind.data.words import counted
from samekind.errors import SettingError
from samekind.evaluation.rows import Row, noted
from samekind.evaluation.samples import Sample, mean_sample, rows_of
from samekind.evaluation.task_heads import OWN, By, TaskHead, expect_head, task_accuracies
from samekind.evaluation.tasks import drawn_tasks, task_note
from samekind.evaluation.tuned_prototypes import tuned_accuracies
from samekind.inference import asking, device_of
from samekind.inference.choosing import used_first
from samekind.measures import catalogue
from samekind.samplers import Episode, stacked
from samekind.space import MetricSpace

#: What a row says about what stands for a class; nothing of the mean, as usual.
BY: dict[By, str] = {
    "mean": "",
    "nearest": "by the nearest example",
    "sum": "by all examples",
    "votes": "by the votes of the nearest examples",
}


def few_shot(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    queries: int = 15,
    tasks: int = 600,
    seed: int = 0,
    by: By = "mean",
    centre: int = 0,
    tuned: int = 0,
) -> list[Row]:
    """Mean accuracy over tasks with its 95% interval, for each kind of score.

    ``way`` is cut to the number of classes that have an item beside their examples, and ``queries`` to what
    the smallest of them has left; a note counts classes that are left out. With fewer than two classes there
    is no row, and `missing_shots` has a sentence. The fused kind averages the probabilities of the similarity
    and the cosine. If items have groups, no query is of a group that an example of the task is of, and a note
    says so; see `drawn_tasks`.

    ``by`` says what stands for a class, and ``centre`` subtracts the mean of so many queries from them and
    from the examples; see `TaskHead`. ``tuned`` are the steps by which prototypes are tuned on changed views
    of the examples, which ``items`` must hold as pictures; see `tuned_accuracies`. A note says so where they
    are not usual. To centre pays only where queries are of all classes in turn, as they are here.
    """
    head, apart = TaskHead(by=by, centre=centre), groups_apart(items)
    expect_head(head)
    how = [
        BY[by],
        f"centred on {centre} queries of all classes in turn" if centre else "",
        f"prototypes tuned in {counted(tuned, 'step', 'steps')}" if tuned else "",
    ]
    rows = []
    for shot in shots:
        samples = few_shot_samples(
            space,
            items,
            z,
            name=name,
            way=way,
            shots=(shot,),
            queries=queries,
            tasks=tasks,
            seed=seed,
            head=head,
            tuned=tuned,
        )
        note = "; ".join(filter(None, [task_note(items, apart, shot), *how]))
        rows += few_shot_rows(samples, tasks, note)
    return rows


def few_shot_rows(samples: Iterable[Sample], tasks: int, note: str) -> list[Row]:
    """The rows of samples over tasks; another note says so if fewer ``tasks`` could be drawn."""
    rows = []
    for sample in samples:
        task_count = tasks if sample.values is None else len(sample.values)
        fewer = "" if task_count == tasks else f"of {task_count:,} of {tasks:,} tasks"
        rows += [noted(row, note) for row in rows_of([sample], note=fewer)]
    return rows


def few_shot_samples(
    space: MetricSpace,
    items: Items,
    z: Tensor,
    *,
    name: str,
    way: int = 5,
    shots: tuple[int, ...] = (1, 5),
    queries: int = 15,
    tasks: int = 600,
    seed: int = 0,
    head: TaskHead = OWN,
    tuned: int = 0,
) -> list[Sample]:
    """The same before the intervals are made: the accuracy of each task, in the same order for one seed. The
    ``head`` is taken for each kind of score.
    """
    if tuned < 0:
        raise SettingError(f"tuned is a number of steps, 0 or more; got {tuned}")
    if tuned and (head.by != "mean" or head.centre):
        raise SettingError('prototypes are tuned from the means of the examples: by="mean", centre=0')
    z, apart = z.to(device_of(space)), groups_apart(items)
    samples = []
    for shot in shots:
        episodes = drawn_tasks(items, apart, way=way, shot=shot, queries=queries, tasks=tasks, seed=seed)
        if not episodes:
            continue
        measure = catalogue.few_shot(len(episodes[0].classes), shot)
        for kind in used_first(space, "classes"):
            with asking(space):
                values = (
                    tuned_accuracies(space, items, z, episodes, kind=kind, steps=tuned, seed=seed)
                    if tuned
                    else _accuracies(space, z, episodes, head._replace(kind=kind))
                )
            samples.append(mean_sample("few-shot", name, measure, kind, "episodes", values))
    return samples


def _accuracies(space: MetricSpace, z: Tensor, episodes: list[Episode], head: TaskHead) -> Tensor:
    """The accuracy of each task (tasks,), on the CPU; tasks of one size are answered together."""
    accuracies = torch.empty(len(episodes), dtype=torch.double)
    for places, tasks in stacked(episodes):
        together = Episode(*(part.to(z.device) for part in tasks))
        accuracies[places] = task_accuracies(space, z, together, head).cpu()
    return accuracies
