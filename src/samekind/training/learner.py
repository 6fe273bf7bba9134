"""The learner of a run: a space, its objective, the extras and the optimiser, one step at a time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import Any

import torch
from torch import Tensor

from samekind.augmentations import augment, step_generator
from samekind.data import Items, scaled
from samekind.encoders.standing_in import standing_in
from samekind.space import MetricSpace
from samekind.training.acceleration import compiled_forward, lay_out, moves_at_once, sent, tuned
from samekind.training.build import build_augmentations, build_memory, build_optimiser
from samekind.training.captured import Captured, expect_capturable
from samekind.training.checkpoints import random_states_kept
from samekind.training.class_tree import class_tree
from samekind.training.context import Context
from samekind.training.extras import Step, build_extras, parameter_groups_of
from samekind.training.fabric import Fabric
from samekind.training.finite import not_finite
from samekind.training.forward import Forward, forward_pass
from samekind.training.objective import Value, objective
from samekind.training.parameter_groups import clip_gradients
from samekind.training.run import Run
from samekind.training.schedules import Scheduler
from samekind.training.step import observe, settle
from samekind.training.terms import build_penalties, build_terms, layout_of


class Learner:
    """All that a training step changes. ``batches`` is the number of steps in an epoch.

    ``names`` are those of the terms and penalties, ``watched`` those and the numbers of the extras: what a
    step returns. ``embedded`` has the embeddings of the last step.
    """

    embedded: Tensor | None = None

    def __init__(self, run: Run, space: MetricSpace, items: Items, fabric: Fabric, *, batches: int) -> None:
        self.run, self.space, self.fabric = run, space, fabric
        self.generator = torch.Generator().manual_seed(run.seed)
        self.context = self._build_context()
        self.augmentations = build_augmentations(run, items)
        self.channels = items.medium.seen(items.shape)[0]
        self.channels_last = run.channels_last and items.medium.units(items.shape) == "channels"
        lay_out(space.encoder, channels_last=run.channels_last)
        # After all other weights are drawn: the space begins as it would without extras.
        self.extras = build_extras(run, space, items)
        self.names = [*self.context.terms, *self.context.penalties]
        self.watched = [*self.names, *(name for extra in self.extras for name in extra.watched)]
        groups = parameter_groups_of(self.extras)
        capturing = run.capture and fabric.device.type == "cuda" and not self.extras
        if run.capture:
            expect_capturable(run)
        optimiser = build_optimiser(
            run.optimiser, space, beside=groups, fused=moves_at_once(fabric), capturable=capturing
        )
        module = Forward(space, self.extras, at_once=run.batches.at_once)
        self.wrapped, self.optimiser = fabric.setup(module, optimiser)
        self.forward = forward_pass(fabric, self.wrapped)
        self.method = module.method
        self.compiled = compiled_forward(space.encoder, method=self.method) if run.compile else None
        self.scheduler = Scheduler(self.optimiser.optimizer, run, batches=batches)
        self.captured = Captured(self._update) if capturing else None

    def _build_context(self) -> Context:
        terms, memory = build_terms(self.run, self.space), build_memory(self.run, self.space)
        tree = class_tree(self.space)
        return Context(
            terms,
            build_penalties(self.run),
            memory.to(self.fabric.device) if memory is not None else None,
            self.generator,
            self.fabric.autocast if self.run.mixed_scores else nullcontext,
            tree.to(self.fabric.device) if tree is not None else None,
            layout_of(self.run),
        )

    def begin_epoch(self, epoch: int) -> None:
        """Have the terms as they are after so many epochs."""
        if any(term.later for term in self.run.terms.values()):
            self.context = replace(self.context, terms=build_terms(self.run, self.space, epoch=epoch))

    @contextmanager
    def training(self) -> Iterator[None]:
        """Within it steps are taken, as quickly as the run's settings allow."""
        self.wrapped.train()
        fast = tuned(self.fabric.device, tf32=self.run.tf32, try_convolutions=self.run.try_convolutions)
        with fast, standing_in(self.space.encoder, self.compiled, method=self.method):
            yield

    def step(self, inputs: Tensor, y: Tensor, *, number: int) -> list[Tensor]:
        """One update, after ``number`` others; returns the watched numbers, still on the device."""
        return self.update(self.seen(inputs, number=number, labels=y), y, number=number)

    def seen(self, inputs: Tensor, *, number: int, labels: Tensor | None = None) -> Tensor:
        """Items as the encoder sees them in training, after ``number`` steps: on the device, augmented. An
        augmentation that mixes items of a batch goes by their ``labels`` (n,).
        """
        return self._augmented(scaled(sent(inputs, self.fabric.device)), number, labels)

    def update(self, x: Tensor, y: Tensor, *, number: int) -> list[Tensor]:
        """One update by items as `seen`; replayed on a GPU where the run says so."""
        return self._update(x, y, number=number) if self.captured is None else self.captured(x, y)

    def _update(self, x: Tensor, y: Tensor, *, number: int = 0) -> list[Tensor]:
        self.optimiser.zero_grad()
        z, outputs = self.forward(x)
        self.embedded = z.detach()
        projected = observe(self.space, z, y)
        value = objective(self.space, z, y, self.context, projected=projected)
        numbers, loss = list(value.costs.values()), value.total
        costs = []
        for extra in self.extras:
            output = outputs.get(extra.name)
            cost = extra.cost(Step(number, self.space, x, y, z, output, self.forward, self.value, value))
            costs.append(cost)
            numbers += cost.watched
            loss = loss if cost.loss is None else loss + cost.loss
        self.fabric.backward(loss)
        if self.run.clip is not None:
            apart = [extra.name for extra in self.extras]
            clip_gradients(self.fabric, self.optimiser, norm=self.run.clip, apart=apart)
        self.optimiser.step()
        self.scheduler.after_step()
        settle(self.space, z, y, value, memory=self.context.memory)
        for extra, cost in zip(self.extras, costs, strict=True):
            extra.settle(cost)
        return [number.detach() for number in numbers]

    def value(self, z: Tensor, y: Tensor) -> Value:
        """The objective of the run for embeddings (n, d) and labels (n,), as often as one likes: all random
        states are restored, so that a second call has the same value and later steps draw as without it.
        """
        state = self.generator.get_state()
        try:
            with random_states_kept():
                return objective(self.space, z, y, self.context)
        finally:
            self.generator.set_state(state)

    def _augmented(self, x: Tensor, number: int, labels: Tensor | None) -> Tensor:
        if self.augmentations:
            generator = step_generator(self.run.seed, number)
            x = augment(x, self.augmentations, generator=generator, channels=self.channels, labels=labels)
        if self.channels_last:
            x = x.contiguous(memory_format=torch.channels_last)
        return x

    def after_epoch(self, means: Sequence[float]) -> dict[str, Any]:
        """The entries of the extras in the record, given the means of the watched numbers."""
        rest, entries = iter(means[len(self.names) :]), {}
        for extra in self.extras:
            entry = extra.after_epoch([next(rest) for _ in extra.watched])
            if entry:
                entries[extra.name] = entry
        return entries

    def not_finite(self) -> list[str]:
        """The parts of the space, and the extras, with a weight that is NaN or infinite."""
        return not_finite({**dict(self.space.named_children()), **self._extras_by_name()})

    def state_dict(self) -> dict[str, Any]:
        """All states, by the names that checkpoints have for them."""
        states = {name: part.state_dict() for name, part in self._stateful().items()}
        # Contiguous, whatever their layout while they are trained.
        states["space"] = {name: weight.contiguous() for name, weight in states["space"].items()}
        return {**states, "generator": self.generator.get_state()}

    def load_state_dict(self, states: Mapping[str, Any]) -> None:
        for name, part in self._stateful().items():
            part.load_state_dict(states[name])
        self.generator.set_state(states["generator"])

    def _stateful(self) -> dict[str, Any]:
        memory = {} if self.context.memory is None else {"memory": self.context.memory}
        return {
            "space": self.space,
            "optimiser": self.optimiser,
            "scheduler": self.scheduler,
            "precision": self.fabric.strategy.precision,
            **memory,
            **self._extras_by_name(),
        }

    def _extras_by_name(self) -> dict[str, Any]:
        return {extra.name: extra for extra in self.extras}
