"""A training of a few seconds: nothing is validated, recorded or kept, and the last epoch is the result."""

import torch

from samekind.data import Items
from samekind.data.stored import fetched
from samekind.space import MetricSpace
from samekind.training.acceleration import batches_on, resident
from samekind.training.build import build_sampler, build_space
from samekind.training.checkpoints import random_states_kept
from samekind.training.fabric import current, launch
from samekind.training.learner import Learner
from samekind.training.run import Run
from samekind.training.untrained import expect_trained


def train_briefly(run: Run, items: Items, *, device: str = "auto") -> MetricSpace:
    """The space of a run after its last epoch, in evaluation mode, on the CPU; the steps are those of
    `train`. A training that is stopped begins anew.
    """
    fabric = launch(device, run.precision)
    with random_states_kept(), current(fabric.device):
        torch.manual_seed(run.seed)
        items = resident(items, fabric.device)
        space = build_space(run, items)
        expect_trained(run, space)
        sampler = build_sampler(run, items.labels, domains=items.domains, names=items.classes)
        learner, step = Learner(run, space, items, fabric, batches=len(sampler)), 0
        with learner.training():
            for epoch in range(run.epochs):
                batches = batches_on(fabric.device, sampler.batches(epoch))
                for indices, batch in zip(batches, fetched(items.inputs, batches), strict=True):
                    learner.step(batch, items.labels[indices], number=step)
                    step += 1
        return space.cpu().eval()
