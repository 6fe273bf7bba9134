"""The training loop: epochs of batches, a validation, a checkpoint; every run can be killed and run again.

A run is a pure function of its settings, its data and its seed: the order of the data is computed from seed
and epoch, and every other state is in the checkpoint.
"""

import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from samekind.augmentations import augment, step_generator
from samekind.data import Items, Split, scaled
from samekind.data.stored import fetched
from samekind.encoders.standing_in import standing_in
from samekind.errors import SettingError, TrainingError, expect, nearest
from samekind.space import MetricSpace
from samekind.training.acceleration import (
    batches_on,
    compiled_forward,
    decoded_there,
    lay_out,
    moves_at_once,
    resident,
    sent,
    tuned,
)
from samekind.training.build import (
    build_augmentations,
    build_memory,
    build_optimiser,
    build_sampler,
    build_space,
)
from samekind.training.checkpoints import (
    Progress,
    load_checkpoint,
    random_states_kept,
    save_checkpoint,
    set_random_states,
)
from samekind.training.context import Context
from samekind.training.extras import Extra, Step, build_extras, parameter_groups_of
from samekind.training.fabric import Fabric, current, launch
from samekind.training.finite import not_finite
from samekind.training.forward import Forward, forward_pass
from samekind.training.objective import Value, objective
from samekind.training.own_encoder import with_encoder
from samekind.training.parameter_groups import clip_gradients
from samekind.training.run import Run, expect_direction, expect_run
from samekind.training.run_folder import RunFolder
from samekind.training.schedules import Scheduler
from samekind.training.starting import take_weights
from samekind.training.step import observe, settle
from samekind.training.terms import build_penalties, build_terms
from samekind.training.untrained import expect_trained
from samekind.training.watching import Nobody, Watcher

Validate = Callable[[MetricSpace], dict[str, float]]

#: How many steps may pass before the loss is looked at: looking makes a GPU wait.
LOOK_EVERY = 16


def train(
    run: Run,
    items: Items,
    *,
    folder: str | Path,
    validate: Validate,
    device: str = "auto",
    start: MetricSpace | None = None,
    watcher: Watcher | None = None,
    encoder: nn.Module | None = None,
    split: Split | None = None,
) -> MetricSpace:
    """Train a space and return it as it was at its best epoch, in evaluation mode, on the CPU.

    ``validate`` gives the measures of an epoch; `Run.watch` names the one that chooses. In ``folder`` are
    kept the run, the record, and the last and the best checkpoint. The same call on the same folder goes on
    where it was stopped, or returns the finished space; another run or other data there is refused, and so
    is everybody else while this one trains.
    ``start`` gives the initial weights. ``encoder`` is a module of your own with a ``dimension``, trained
    itself, not a copy of it, in place of the encoder that the run names. ``split`` is the one that the items
    come from, and is kept in the folder.
    """
    expect_run(run)
    expect(items, Items, "items to train on, such as prepare(items).train")
    fabric = launch(device, run.precision)
    place = RunFolder(folder)
    with place.lock(), random_states_kept(), current(fabric.device):
        trainer = Trainer(run, items, place, fabric, validate, watcher or Nobody(), start, encoder, split)
        return trainer.finish()


class Trainer:
    """The state of one run."""

    def __init__(
        self,
        run: Run,
        items: Items,
        folder: RunFolder,
        fabric: Fabric,
        validate: Validate,
        watcher: Watcher,
        start: MetricSpace | None,
        encoder: nn.Module | None = None,
        split: Split | None = None,
    ) -> None:
        self.direction = expect_direction(run)
        torch.manual_seed(run.seed)
        self.items, self.fabric = resident(items, fabric.device), fabric
        self.validate, self.watcher = validate, watcher
        self.folder, self.data = folder, items.fingerprint()
        self.run = run if encoder is None else with_encoder(run, encoder)
        self.space = self._first_space(run, items, start, encoder)
        self.generator = torch.Generator().manual_seed(run.seed)
        self.context = self._build_context(run)
        self.names = [*self.context.terms, *self.context.penalties]
        self.sampler = build_sampler(run, items.labels, domains=items.domains)
        self.augmentations = build_augmentations(run, items)
        lay_out(self.space.encoder, channels_last=run.channels_last)
        # Last of what draws weights: the space begins as it would without.
        self.extras = build_extras(run, self.space, items)
        self._set_up(run)
        self.progress = Progress()
        self._resume_or_begin(split)

    def _first_space(
        self, run: Run, items: Items, start: MetricSpace | None, encoder: nn.Module | None
    ) -> MetricSpace:
        """The space as training begins with it."""
        space = build_space(run, items, encoder=encoder)
        resumes = self.folder.last.exists()  # with the weights in there
        given = ["encoder"] if encoder is not None or resumes else []
        begun = take_weights(space, start) if start is not None else given
        expect_trained(run, space, begun=begun)
        return space

    def _build_context(self, run: Run) -> Context:
        memory = build_memory(run, self.space)
        return Context(
            build_terms(run, self.space),
            build_penalties(run),
            memory.to(self.fabric.device) if memory is not None else None,
            self.generator,
            self.fabric.autocast if run.mixed_scores else nullcontext,
        )

    def _set_up(self, run: Run) -> None:
        """The optimiser, the way forward, and all that has a state."""
        fabric, extras = self.fabric, self.extras
        optimiser = build_optimiser(
            run.optimiser, self.space, beside=parameter_groups_of(extras), fused=moves_at_once(fabric)
        )
        module = Forward(self.space, extras)
        self.wrapped, self.optimiser = fabric.setup(module, optimiser)
        self.forward = forward_pass(fabric, self.wrapped)
        self.method = module.method
        self.compiled = compiled_forward(self.space.encoder, method=self.method) if run.compile else None
        self.scheduler = Scheduler(self.optimiser.optimizer, run, batches=len(self.sampler))
        self.trained: dict[str, Any] = {**dict(self.space.named_children()), **_by_name(extras)}
        self.stateful: dict[str, Any] = {
            "space": self.space,
            "optimiser": self.optimiser,
            "scheduler": self.scheduler,
            "precision": fabric.strategy.precision,
            **_by_name(extras),
        }
        if self.context.memory is not None:
            self.stateful["memory"] = self.context.memory

    def finish(self) -> MetricSpace:
        """Train what is left of the epochs, and return the best space."""
        steps = self.run.epochs * len(self.sampler)
        self.watcher.begin(steps=steps, done=self.progress.step)
        try:
            if self.progress.epoch < self.run.epochs:  # a finished run needs none
                self.items = decoded_there(self.items, self.fabric.device)
            while self.progress.epoch < self.run.epochs:
                self.train_epoch()
                self.close_epoch()
        finally:
            self.watcher.end()
        best = load_checkpoint(self.folder.best)
        self.space.load_state_dict(best["states"]["space"])
        lay_out(self.space.encoder, channels_last=False)
        return self.space.cpu().eval()

    def train_epoch(self) -> None:
        """The steps that are left of this epoch."""
        fast = tuned(self.fabric.device, tf32=self.run.tf32, try_convolutions=self.run.try_convolutions)
        with fast, standing_in(self.space.encoder, self.compiled, method=self.method):
            self._walk()

    def _walk(self) -> None:
        self.wrapped.train()
        began, seen = time.perf_counter(), 0
        pending: list[list[Tensor]] = []
        batches = self.sampler.batches(self.progress.epoch)[self.progress.batch :]
        there = batches_on(self.fabric.device, batches)
        inputs = self.items.inputs
        gathered_there = isinstance(inputs, Tensor) and inputs.device == self.fabric.device
        arriving = fetched(inputs, there if gathered_there else batches)
        for indices, batch in zip(there, arriving, strict=True):
            pending.append(self._step(batch, self.items.labels[indices]))
            seen += len(indices)
            self.progress.batch += 1
            self.progress.step += 1
            self.speed = seen / (time.perf_counter() - began)
            if self._is_checkpoint_due():
                self._look(pending)
                self._save(self.folder.last)
            elif len(pending) == LOOK_EVERY:
                self._look(pending)
        self._look(pending)

    def _is_checkpoint_due(self) -> bool:
        """Whether to save in the middle of an epoch; its end is saved once it is validated."""
        every, progress = self.run.checkpoint_steps, self.progress
        return every > 0 and progress.step % every == 0 and progress.batch < len(self.sampler)

    def _step(self, inputs: Tensor, y: Tensor) -> list[Tensor]:
        """One update; returns the terms, and what the extras watch, still on the device."""
        self.optimiser.zero_grad()
        x = self._augmented(scaled(sent(inputs, self.fabric.device)))
        z, outputs = self.forward(x)
        projected = observe(self.space, z, y)
        value = objective(self.space, z, y, self.context, projected=projected)
        numbers, descended = list(value.costs.values()), value.total
        for extra in self.extras:
            step = Step(
                self.progress.step, self.space, x, y, z, outputs.get(extra.name), self.forward, self.value
            )
            cost = extra.cost(step)
            numbers += cost.watched
            descended = descended if cost.descended is None else descended + cost.descended
        self.fabric.backward(descended)
        if self.run.clip is not None:
            apart = [extra.name for extra in self.extras]
            clip_gradients(self.fabric, self.optimiser, norm=self.run.clip, apart=apart)
        self.optimiser.step()
        self.scheduler.after_step()
        settle(self.space, z, y, value, memory=self.context.memory)
        return [number.detach() for number in numbers]

    def value(self, z: Tensor, y: Tensor) -> Value:
        """The objective of this run, for embeddings (n, d) and labels (n,)."""
        return objective(self.space, z, y, self.context)

    def _augmented(self, x: Tensor) -> Tensor:
        """The batch as this step is to see it."""
        if self.augmentations:
            x = augment(x, self.augmentations, generator=step_generator(self.run.seed, self.progress.step))
        if self.run.channels_last and x.dim() == 4:
            x = x.contiguous(memory_format=torch.channels_last)
        return x

    def _look(self, pending: list[list[Tensor]]) -> None:
        """Bring the terms of the last steps home, tell the watcher, and stop if a number is none."""
        if not pending:
            return
        first = self.progress.step - len(pending) + 1
        watched = [*self.names, *(name for extra in self.extras for name in extra.watched)]
        together = torch.stack([cost for costs in pending for cost in costs])
        for step, costs in enumerate(together.view(len(pending), -1).tolist(), start=first):
            for name, cost in zip(watched, costs, strict=True):
                if not math.isfinite(cost):
                    raise TrainingError(self._lost(f'the term "{name}" became {cost} at step {step}'))
            self.progress.costs.append(costs)
            self.watcher.step(loss=sum(costs[: len(self.names)]), items_per_second=self.speed)
        pending.clear()
        # A finite loss can still have had a gradient that was not; such weights must never be saved as good.
        for name in not_finite(self.trained):
            lost = f"the weights of the {name} were no longer finite after step {self.progress.step}"
            raise TrainingError(self._lost(lost))

    def _lost(self, what: str) -> str:
        path = self.folder.last
        good = f"the last good checkpoint is {path}" if path.exists() else "there is no checkpoint yet"
        return (
            f"{what} (epoch {self.progress.epoch + 1}); {good}. "
            "Lower optimiser.rate, set clip, or look for broken items in the data"
        )

    def close_epoch(self) -> None:
        """Validate, write down what happened, and save."""
        progress, names = self.progress, self.names
        self.space.eval()
        with random_states_kept():
            # Plain numbers: a checkpoint holds nothing of NumPy's.
            measures = {name: float(value) for name, value in self.validate(self.space).items()}
        if self.run.watch not in measures:
            raise SettingError(
                f'run.watch: no measure "{self.run.watch}"; {nearest(self.run.watch, measures)}'
            )
        watched = measures[self.run.watch]
        means = [sum(column) / len(progress.costs) for column in zip(*progress.costs, strict=True)]
        terms, rest = means[: len(names)], iter(means[len(names) :])
        progress.epoch, progress.batch, progress.costs = progress.epoch + 1, 0, []
        improved = _beats(watched, progress.best, self.direction)
        if improved:
            progress.best, progress.best_epoch = watched, progress.epoch
        entry = {
            "epoch": progress.epoch,
            "step": progress.step,
            "loss": sum(terms),
            "terms": dict(zip(names, terms, strict=True)),
            "rate": self.scheduler.rate,
            "validation": measures,
            "best": improved,
            "items_per_second": round(self.speed, 1),
        }
        for extra in self.extras:
            told = extra.after_epoch([next(rest) for _ in extra.watched])
            if told:
                entry[extra.name] = told
        self.scheduler.after_epoch(watched)
        self.folder.record.add(entry)
        self.watcher.epoch(entry)
        if improved:
            self._save(self.folder.best)
        self._save(self.folder.last)

    def _save(self, path: Path) -> None:
        states = {key: part.state_dict() for key, part in self.stateful.items()}
        # Contiguous, whatever their layout while they are trained.
        states["space"] = {key: weight.contiguous() for key, weight in states["space"].items()}
        states["generator"] = self.generator.get_state()
        save_checkpoint(
            path,
            run=self.run.to_dict(),
            data=self.data,
            progress=self.progress,
            states=states,
        )

    def _resume_or_begin(self, split: Split | None) -> None:
        """Go on from the last checkpoint, or begin if there is none."""
        saved = self.folder.resume(self.run, self.data, split)
        if saved is None:
            self.folder.begin(self.run, split)
            return
        states = saved["states"]
        for name, part in self.stateful.items():
            part.load_state_dict(states[name])
        self.generator.set_state(states["generator"])
        self.progress = saved["progress"]
        set_random_states(saved["random"])


def _by_name(extras: list[Extra]) -> dict[str, Extra]:
    return {extra.name: extra for extra in extras}


def _beats(watched: float, best: float | None, better: str) -> bool:
    """Whether a measure is as good as the best so far, or better; anything beats none, and a NaN.

    Of equal epochs the later wins: a measure often reaches its end long before the loss does.
    """
    if best is None or best != best:
        return True
    return watched <= best if better == "lower" else watched >= best
