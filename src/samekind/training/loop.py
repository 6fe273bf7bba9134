"""The training loop: epochs of batches, a validation, a checkpoint. A killed run resumes where it was.

A run is a pure function of its settings, its data and its seed: the order of the data follows from seed and
epoch, and every other state is in the checkpoint.
"""

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from samekind.data import Items, Split
from samekind.data.stored import fetched
from samekind.errors import SettingError, TrainingError, expect, nearest
from samekind.space import MetricSpace
from samekind.training.acceleration import batches_on, decoded_onto, lay_out, resident
from samekind.training.build import build_sampler, build_space
from samekind.training.checkpoints import (
    RunProgress,
    load_checkpoint,
    random_states_kept,
    save_checkpoint,
    set_random_states,
)
from samekind.training.class_tree import turn_prototypes
from samekind.training.fabric import Fabric, current, launch
from samekind.training.health import spread_of, trouble
from samekind.training.learner import Learner
from samekind.training.own_encoder import with_encoder
from samekind.training.run import Run, expect_direction, expect_run
from samekind.training.run_folder import RunFolder
from samekind.training.starting import take_weights
from samekind.training.untrained import expect_trained
from samekind.training.watching import Nobody, Watcher

Validate = Callable[[MetricSpace], dict[str, float]]


@runtime_checkable
class Remembering(Protocol):
    """A function that gives measures, and remembers something for its next call, such as class means."""

    before: Tensor | None


#: The loss is read every so many steps: reading makes a GPU wait.
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
    """Train a space and return it as it was at its best epoch (or its last one, if the run keeps that), in
    evaluation mode, on the CPU.

    ``validate`` gives the measures of an epoch; `Run.watch` names the one that chooses. ``folder`` keeps the
    run, the record, and the last and the best checkpoint. The same call on the same folder resumes, or
    returns the finished space. Raises TrainingError if the folder holds another run or other data, or if
    another process trains there.

    ``start`` gives the initial weights. ``encoder``, a module of your own with a ``dimension``, replaces the
    encoder that the run names; it is trained itself, not a copy. ``split`` is the split that the items come
    from; the folder keeps it.
    """
    expect_run(run)
    expect(items, Items, "items to train on, such as prepare(items).train")
    fabric = launch(device, run.precision)
    place = RunFolder(folder)
    with place.lock(), random_states_kept(), current(fabric.device):
        trainer = Trainer(run, items, place, fabric, validate, watcher or Nobody(), start, encoder, split)
        return trainer.finish()


class Trainer:
    """One run: its epochs, from the first or from the last checkpoint."""

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
        self.tree = None if items.tree is None else items.tree.fingerprint()
        self.run = run if encoder is None else with_encoder(run, encoder)
        self.space = build_space(run, items, encoder=encoder)
        given = ["encoder"] if encoder is not None or folder.last.exists() else []
        begun = take_weights(self.space, start) if start is not None else given
        expect_trained(run, self.space, begun=begun)
        self.sampler = build_sampler(run, items.labels, domains=items.domains, names=items.classes)
        self.learner = Learner(run, self.space, items, fabric, batches=len(self.sampler))
        self.progress = RunProgress()
        self._resume_or_begin(split)

    def finish(self) -> MetricSpace:
        """Train the remaining epochs, and return the best space."""
        steps = self.run.epochs * len(self.sampler)
        self.watcher.begin(steps=steps, done=self.progress.step)
        try:
            if self.progress.epoch < self.run.epochs:  # a finished run needs none
                self.items = decoded_onto(self.items, self.fabric.device)
            if self.progress.step == 0:
                self.progress.untrained = self._validated()
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
        """The remaining steps of this epoch."""
        self.learner.begin_epoch(self.progress.epoch)
        with self.learner.training():
            self._walk()

    def _walk(self) -> None:
        began, seen = time.perf_counter(), 0
        pending: list[list[Tensor]] = []
        for x, y in self._arriving():
            pending.append(self.learner.update(x, y, number=self.progress.step))
            seen += len(y)
            self.progress.batch += 1
            self.progress.step += 1
            self.speed = seen / (time.perf_counter() - began)
            if self._is_checkpoint_due():
                self._look(pending)
                self._save(self.folder.last)
            elif len(pending) == LOOK_EVERY:
                self._look(pending)
        self._look(pending)

    def _arriving(self) -> Iterator[tuple[Tensor, Tensor]]:
        """The remaining batches of this epoch, on the device: items as the encoder sees them, and labels.

        Those of ``ahead`` steps are augmented together; of the first of them, which a stopped run had begun
        with, steps that are done are left out.
        """
        ahead, done = self.run.ahead, self.progress.batch
        number = self.progress.step - done
        batches, first = self.sampler.batches(self.progress.epoch), done // ahead * ahead
        groups = [batches[start : start + ahead] for start in range(first, len(batches), ahead)]
        joined = [torch.cat(group) for group in groups]
        on_device = batches_on(self.fabric.device, joined)
        inputs = self.items.inputs
        resident_inputs = isinstance(inputs, Tensor) and inputs.device == self.fabric.device
        arriving = fetched(inputs, on_device if resident_inputs else joined)
        for group, indices, batch in zip(groups, on_device, arriving, strict=True):
            sizes = [len(members) for members in group]
            y = self.items.labels[indices]
            x = self.learner.seen(batch, number=number + first, labels=y)
            parts = zip(torch.split(x, sizes), torch.split(y, sizes), strict=True)
            yield from itertools.islice(parts, max(0, done - first), None)
            first += len(group)

    def _is_checkpoint_due(self) -> bool:
        """Whether to save in the middle of an epoch; its end is saved after validation."""
        every, progress = self.run.checkpoint_steps, self.progress
        return every > 0 and progress.step % every == 0 and progress.batch < len(self.sampler)

    def _look(self, pending: list[list[Tensor]]) -> None:
        """Read the losses of the last steps, pass them to the watcher, and stop at one that is not finite."""
        if not pending:
            return
        first = self.progress.step - len(pending) + 1
        together = torch.stack([cost for costs in pending for cost in costs])
        for step, costs in enumerate(together.view(len(pending), -1).tolist(), start=first):
            for name, cost in zip(self.learner.watched, costs, strict=True):
                if not math.isfinite(cost):
                    raise TrainingError(self._lost(f'the term "{name}" became {cost} at step {step}'))
            self.progress.costs.append(costs)
            self.watcher.step(loss=sum(costs[: len(self.learner.names)]), items_per_second=self.speed)
        pending.clear()
        # A finite loss can have a gradient that is not; such weights must never be saved as good.
        for name in self.learner.not_finite():
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
        """Validate, record the epoch, and save."""
        progress, names = self.progress, self.learner.names
        measures = self._validated()
        watched = measures[self.run.watch]
        means = [sum(column) / len(progress.costs) for column in zip(*progress.costs, strict=True)]
        terms = dict(zip(names, means, strict=False))
        progress.epoch, progress.batch, progress.costs = progress.epoch + 1, 0, []
        improved = self.run.keep == "last" or _beats(watched, progress.best, self.direction)
        if improved:
            progress.best, progress.best_epoch = watched, progress.epoch
        entry = {
            "epoch": progress.epoch,
            "step": progress.step,
            "loss": sum(terms.values()),
            "terms": terms,
            "rate": self.learner.scheduler.rate,
            "validation": measures,
            "best": improved,
            "items_per_second": round(self.speed, 1),
            **self.learner.after_epoch(means),
            **({"untrained": progress.untrained} if progress.epoch == 1 else {}),
        }
        entry |= self._trouble(entry)
        self.learner.scheduler.after_epoch(watched)
        self.folder.record.add(entry)
        self.watcher.epoch(entry)
        if improved:
            self._save(self.folder.best)
        self._save(self.folder.last)

    def _trouble(self, entry: Mapping[str, Any]) -> dict[str, Any]:
        """Warnings after an epoch, for the record; each is given once."""
        assert self.learner.embedded is not None
        before = self.folder.record.lines()
        wrong = trouble(self.run, entry, before, spread=spread_of(self.learner.embedded))
        if wrong is None or any(
            line.get("collapsed", False) >= wrong.collapsed for line in before if "trouble" in line
        ):
            return {}
        return {"trouble": wrong.sentence, "collapsed": wrong.collapsed}

    def _validated(self) -> dict[str, float]:
        """The measures of the epoch, the watched one among them."""
        self.space.eval()
        with random_states_kept():
            given: object = self.validate
            remembering = given if isinstance(given, Remembering) else None
            if remembering is not None:
                remembering.before = self.progress.before
            # Plain numbers: a checkpoint holds nothing of NumPy's.
            measures = {name: float(value) for name, value in self.validate(self.space).items()}
            if remembering is not None:
                self.progress.before = remembering.before
        if self.run.watch not in measures:
            known = nearest(self.run.watch, measures)
            raise SettingError(f'run.watch: no measure "{self.run.watch}"; {known}')
        return measures

    def _save(self, path: Path) -> None:
        save_checkpoint(
            path,
            run=self.run.to_dict(),
            data=self.data,
            tree=self.tree,
            progress=self.progress,
            states=self.learner.state_dict(),
        )

    def _resume_or_begin(self, split: Split | None) -> None:
        """Go on from the last checkpoint, or begin if there is none."""
        saved = self.folder.resume(self.run, self.data, split, tree=self.tree)
        if saved is None:
            turn_prototypes(self.space, self.items)
            self.folder.begin(self.run, split)
            return
        self.learner.load_state_dict(saved["states"])
        self.progress = saved["progress"]
        set_random_states(saved["random"])


def _beats(watched: float, best: float | None, better: str) -> bool:
    """Whether a measure is as good as the best so far, or better; anything beats None and NaN.

    Of equal epochs the later wins: a measure often stops improving long before the loss does.
    """
    if best is None or best != best:
        return True
    return watched <= best if better == "lower" else watched >= best
