"""How long a training, or the features of many items, will take, from a few steps that change nothing."""

import time
from dataclasses import replace

import torch
from torch import nn

from samekind.data import Items
from samekind.data.words import counted
from samekind.inference.embed import device_of, embed_by
from samekind.training.build import build_sampler, build_space
from samekind.training.checkpoints import random_states_kept
from samekind.training.fabric import current, launch
from samekind.training.learner import Learner
from samekind.training.run import Run

#: A step of so few items is timed first; if it is quick, one of a whole batch is.
FEW, QUICK = 8, 0.5
#: So many items are embedded by a GPU to see how long all will take: few take it as long as many.
EMBEDDED = 64


def seconds_of_training(run: Run, items: Items, *, device: str = "auto") -> float:
    """About how many seconds all epochs of a run on these items take, without the validations."""
    fabric = launch(device, run.precision)
    with random_states_kept(), current(fabric.device):
        torch.manual_seed(run.seed)
        sampler = build_sampler(run, items.labels, domains=items.domains, names=items.classes)
        batch = sampler.batches(0)[0]
        some = replace(items.take(batch.cpu()), labels=items.labels[batch.cpu()].clone())
        learner = Learner(run, build_space(run, some), some, fabric, batches=len(sampler))
        count = FEW if learner.context.layout is None else len(some)  # a few-shot task cannot be cut
        # The first step of all also starts the device: seconds that say nothing about the others.
        few = min(_a_step(learner, some, count) for _ in range(2))
        if few < QUICK:
            _a_step(learner, some, len(some))  # the first of a shape is slower
            per_item = _a_step(learner, some, len(some)) / len(some)
        else:
            per_item = few / min(count, len(some))
    return per_item * run.epochs * sum(map(len, sampler.batches(0)))


def seconds_of_features(encoder: nn.Module, items: Items) -> float:
    """About how many seconds an encoder takes, on its own device, to embed all items."""
    count = FEW if device_of(encoder).type == "cpu" else EMBEDDED
    few = items.take(torch.arange(min(len(items), count))).inputs
    embed_by(encoder, few)  # the first time of all is slower
    began = time.perf_counter()
    embed_by(encoder, few)
    return (time.perf_counter() - began) * len(items) / max(1, len(few))


def in_words(seconds: float) -> str:
    """A duration for people.

    >>> in_words(3.2), in_words(100), in_words(2700)
    ('3 seconds', '2 minutes', '45 minutes')
    """
    if seconds < 90:
        return counted(max(1, round(seconds)), "second", "seconds")
    return counted(round(seconds / 60), "minute", "minutes")


def _a_step(learner: Learner, items: Items, count: int) -> float:
    """The seconds of one step on the first items."""
    indices = torch.arange(min(count, len(items)))
    device = learner.fabric.device
    x, y = items.inputs[indices], items.labels[indices].to(device)
    began = time.perf_counter()
    with learner.training():
        costs = learner.step(x, y, number=0)
        [float(cost) for cost in costs]  # a GPU has finished when its numbers are read
    return time.perf_counter() - began
