"""The training loop: epochs of batches, a validation, a checkpoint; every run can be killed and run again.

A run is a pure function of its settings, its data and its seed: the order of the data is computed from seed
and epoch, and every other state is in the checkpoint.
"""

import json
import math
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from samekind import storage
from samekind.augmentations import augment, step_generator
from samekind.data import Items, scaled
from samekind.data.fetching import fetched
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
from samekind.training.class_adversary import ClassAdversary
from samekind.training.context import Context
from samekind.training.fabric import Fabric, current, launch
from samekind.training.folder import sole_trainer
from samekind.training.objective import objective
from samekind.training.observed import Observed, adversary_groups, build_adversary, clip_gradients
from samekind.training.own_encoder import expect_same_encoder, with_encoder
from samekind.training.record import Record
from samekind.training.run import Run, expect_direction, expect_run
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
) -> MetricSpace:
    """Train a space and return it as it was at its best epoch, in evaluation mode, on the CPU.

    ``validate`` gives the measures of an epoch; `Run.watch` names the one that chooses. In ``folder`` are
    kept the run, the record, and the last and the best checkpoint. The same call on the same folder goes on
    where it was stopped, or returns the finished space; another run or other data there is refused, and so
    is everybody else while this one trains.
    ``start`` gives the initial weights. ``encoder`` is a module of your own with a ``dimension``, trained
    itself, not a copy of it, in place of the encoder that the run names.
    """
    expect_run(run)
    expect(items, Items, "items to train on, such as prepare(items).train")
    fabric = launch(device, run.precision)
    with sole_trainer(folder), random_states_kept(), current(fabric.device):
        trainer = Trainer(run, items, Path(folder), fabric, validate, watcher or Nobody(), start, encoder)
        return trainer.finish()


class Trainer:
    """The state of one run."""

    def __init__(
        self,
        run: Run,
        items: Items,
        folder: Path,
        fabric: Fabric,
        validate: Validate,
        watcher: Watcher,
        start: MetricSpace | None,
        encoder: nn.Module | None = None,
    ) -> None:
        self.direction = expect_direction(run)
        torch.manual_seed(run.seed)
        self.run, self.items, self.fabric = run, resident(items, fabric.device), fabric
        self.validate, self.watcher = validate, watcher
        self.folder, self.data = folder, items.fingerprint()
        self.space = build_space(run, items, encoder=encoder)
        if encoder is not None:
            self.run = with_encoder(run, encoder)
        going_on = (folder / "last.pt").exists()  # with the weights in there
        given = ["encoder"] if encoder is not None or going_on else []
        begun = take_weights(self.space, start) if start is not None else given
        expect_trained(run, self.space, begun=begun)
        terms, penalties = build_terms(run, self.space), build_penalties(run)
        self.names = [*terms, *penalties]
        self.beside = ["adversary", "adversary, plain"] if run.adversary is not None else []
        memory = build_memory(run, self.space)
        self.memory = memory.to(fabric.device) if memory is not None else None
        self.sampler = build_sampler(run, items.labels, domains=items.domains)
        self.augmentations = build_augmentations(run, items)
        lay_out(self.space.encoder, channels_last=run.channels_last)
        # Last of what draws weights: the space begins as it would without.
        self.adversary = build_adversary(run, self.space, items)
        learning = self.space if self.adversary is None else Observed(self.space, self.adversary)
        groups = adversary_groups(run, self.adversary)
        optimiser = build_optimiser(run.optimiser, self.space, beside=groups, fused=moves_at_once(fabric))
        _, self.optimiser = fabric.setup(learning, optimiser)
        self.learning = learning
        # An adversary reads the features on their way to the embedding.
        self.method = "forward" if self.adversary is None else "features"
        self.compiled = compiled_forward(self.space.encoder, method=self.method) if run.compile else None
        self.scheduler = Scheduler(self.optimiser.optimizer, run, batches=len(self.sampler))
        self.generator = torch.Generator().manual_seed(run.seed)
        scoring = fabric.autocast if run.mixed_scores else nullcontext
        self.context = Context(terms, penalties, self.memory, self.generator, scoring)
        self.record = Record(folder / "record.jsonl")
        self.progress = Progress()
        self._resume_or_begin()

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
        best = load_checkpoint(self.folder / "best.pt")
        self.space.load_state_dict(best["states"]["space"])
        lay_out(self.space.encoder, channels_last=False)
        return self.space.cpu().eval()

    def train_epoch(self) -> None:
        """The steps that are left of this epoch."""
        fast = tuned(self.fabric.device, tf32=self.run.tf32, try_convolutions=self.run.try_convolutions)
        with fast, standing_in(self.space.encoder, self.compiled, method=self.method):
            self._walk()

    def _walk(self) -> None:
        self.space.train()
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
                self._save("last.pt")
            elif len(pending) == LOOK_EVERY:
                self._look(pending)
        self._look(pending)

    def _is_checkpoint_due(self) -> bool:
        """Whether to save in the middle of an epoch; its end is saved once it is validated."""
        every, progress = self.run.checkpoint_steps, self.progress
        return every > 0 and progress.step % every == 0 and progress.batch < len(self.sampler)

    def _step(self, inputs: Tensor, y: Tensor) -> list[Tensor]:
        """One update; returns the terms, and the adversary's losses, still on the device."""
        self.optimiser.zero_grad()
        x = self._augmented(scaled(sent(inputs, self.fabric.device)))
        z, *judged = self.seen(x)
        projected = observe(self.space, z, y)
        value = objective(self.space, z, y, self.context, projected=projected)
        looked_at, descended = list(value.costs.values()), value.total
        if self.adversary is not None:
            judgement = self.adversary.judge(judged[0], y)
            descended = descended + self.adversary.cost(judgement)
            looked_at += judgement
        self.fabric.backward(descended)
        if self.run.clip is not None:
            clip_gradients(self.fabric, self.optimiser, norm=self.run.clip)
        self.optimiser.step()
        self.scheduler.after_step()
        settle(self.space, z, y, value, memory=self.memory)
        return [each.detach() for each in looked_at]

    def seen(self, x: Tensor) -> list[Tensor]:
        """The embeddings (n, d) of a batch, and with an adversary its logits, in float32 at least."""
        # Not by Fabric's own module: for the sake of many devices that one looks through all that goes in and
        # comes out, step by step, and a GPU waits for it.
        with self.fabric.autocast():
            seen = self.learning(x)
        outputs: tuple[Tensor, ...] = seen if isinstance(seen, tuple) else (seen,)
        return [each.to(torch.promote_types(each.dtype, torch.float32)) for each in outputs]

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
        together = torch.stack([each for costs in pending for each in costs])
        for step, costs in enumerate(together.view(len(pending), -1).tolist(), start=first):
            for name, cost in zip([*self.names, *self.beside], costs, strict=True):
                if not math.isfinite(cost):
                    raise TrainingError(self._lost(f'the term "{name}" became {cost} at step {step}'))
            self.progress.costs.append(costs)
            self.watcher.step(loss=sum(costs[: len(self.names)]), items_per_second=self.speed)
        pending.clear()
        # A finite loss can still have had a gradient that was not; such weights must never be saved as good.
        for name in _not_finite(self.space, self.adversary):
            lost = f"the weights of the {name} were no longer finite after step {self.progress.step}"
            raise TrainingError(self._lost(lost))

    def _lost(self, what: str) -> str:
        path = self.folder / "last.pt"
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
        terms, judged = means[: len(names)], means[len(names) :]
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
        if self.adversary is not None:
            loss, plain_loss = judged
            entry["adversary"] = self.adversary.after_epoch(loss=loss, plain_loss=plain_loss)
        self.scheduler.after_epoch(watched)
        self.record.add(entry)
        self.watcher.epoch(entry)
        if improved:
            self._save("best.pt")
        self._save("last.pt")

    def _save(self, name: str) -> None:
        weights = self.space.state_dict()
        for key, each in weights.items():
            weights[key] = each.contiguous()  # whatever their layout while they are trained
        states = {
            "space": weights,
            "optimiser": self.optimiser.state_dict(),
            "scheduler": self.scheduler.state_dict(),
            "generator": self.generator.get_state(),
            "memory": self.memory.state_dict() if self.memory is not None else {},
            "adversary": self.adversary.state_dict() if self.adversary is not None else {},
            "precision": self.fabric.strategy.precision.state_dict(),
        }
        save_checkpoint(
            self.folder / name,
            run=self.run.to_dict(),
            data=self.data,
            progress=self.progress,
            states=states,
        )

    def _resume_or_begin(self) -> None:
        """Go on from the last checkpoint where there is one; begin where there is none."""
        path = self.folder / "last.pt"
        if not path.exists():
            self.record.cut(after=-1)
            storage.write_text(self.folder / "run.json", json.dumps(self.run.to_dict(), indent=2) + "\n")
            return
        saved = load_checkpoint(path)
        self._check_same(saved)
        states = saved["states"]
        self.space.load_state_dict(states["space"])
        self.optimiser.load_state_dict(states["optimiser"])
        self.scheduler.load_state_dict(states["scheduler"])
        self.generator.set_state(states["generator"])
        if self.memory is not None:
            self.memory.load_state_dict(states["memory"])
        if self.adversary is not None:
            self.adversary.load_state_dict(states["adversary"])
        self.fabric.strategy.precision.load_state_dict(states["precision"])
        self.progress = saved["progress"]
        self.record.cut(after=self.progress.step)
        set_random_states(saved["random"])

    def _check_same(self, saved: dict[str, Any]) -> None:
        if saved["data"] != self.data:
            raise TrainingError(f"{self.folder} holds a run on other data; choose another folder")
        now, before = self.run.to_dict(), _with_defaults(saved["run"])
        expect_same_encoder(now, before, self.folder)
        changed = [key for key in now if now[key] != before.get(key)]
        if changed:
            raise TrainingError(
                f"{self.folder} holds a run with other settings ({', '.join(changed)}); "
                "choose another folder, or give the same settings to go on with it"
            )


@torch.no_grad()
def _not_finite(space: MetricSpace, adversary: ClassAdversary | None) -> list[str]:
    """The parts of a space, and the adversary beside it, with a weight that is NaN or infinite; a GPU is
    asked, and waited for, once.
    """
    parts: list[tuple[str, nn.Module]] = list(space.named_children())
    if adversary is not None:
        parts.append(("adversary", adversary))
    weights = {name: [each for each in part.parameters() if each.numel()] for name, part in parts}
    # The greatest size among the weights of a part; NaN if there is one.
    greatest = {name: nn.utils.get_total_norm(each, torch.inf) for name, each in weights.items() if each}
    if not greatest:
        return []
    finite = torch.stack([each.float() for each in greatest.values()]).isfinite().tolist()
    return [name for name, good in zip(greatest, finite, strict=True) if not good]


def _with_defaults(stored: dict[str, Any]) -> dict[str, Any]:
    """The settings of a stored run, with those that did not exist when it was begun as they are usually."""
    try:
        return Run.from_dict(stored).to_dict()
    except SettingError:
        return stored


def _beats(watched: float, best: float | None, better: str) -> bool:
    """Whether a measure is as good as the best so far, or better; anything beats none, and a NaN.

    Of equal epochs the later wins: a measure often reaches its end long before the loss does.
    """
    if best is None or best != best:
        return True
    return watched <= best if better == "lower" else watched >= best
