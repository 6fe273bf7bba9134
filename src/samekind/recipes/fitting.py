"""A run carried out: trained, made ready for use, and saved."""

from pathlib import Path
from typing import Any

from torch import nn

from samekind.data import Sets, Split
from samekind.errors import expect
from samekind.evaluation import validation
from samekind.inference import settle
from samekind.inference.points import operating_point
from samekind.space import MetricSpace
from samekind.training import Nobody, Run, Watcher, sole_trainer, train
from samekind.training.fabric import launch
from samekind.training.run import expect_run


def fit(
    run: Run,
    sets: Sets,
    *,
    folder: str | Path,
    device: str = "auto",
    start: MetricSpace | None = None,
    point: str = "eer",
    watcher: Watcher | None = None,
    encoder: nn.Module | None = None,
) -> MetricSpace:
    """Train on ``sets.train``, choose the epoch and fit the thresholds on ``sets.validation``, save to
    ``folder/space``.

    The test sets are not looked at, unless the run asks for it by name: with ``select_on="test"`` the epoch
    is chosen on ``sets.test``; the thresholds never are. The folder also keeps the run, its record, its
    checkpoints and the split; the same call goes on where it was stopped. While it works, nobody else can
    train in the folder. ``point`` is the operating point of the decisions.

    ``encoder`` is a module of your own that has a ``dimension``, such as a
    `samekind.encoders.foreign.Foreign`; it is trained, itself and not a copy, in place of the encoder that
    the run names, and passed to ``MetricSpace.load(folder / "space", encoder=…)`` to load what came of it.
    """
    expect_run(run)
    expect(sets, Sets, "sets to train on and to choose by, such as prepare(items)")
    operating_point(point)  # a mistake is told now, not when the training is over
    with sole_trainer(folder):
        return _fitted(
            run,
            sets,
            Path(folder),
            device=device,
            start=start,
            point=point,
            watcher=watcher,
            encoder=encoder,
        )


def _fitted(
    run: Run,
    sets: Sets,
    folder: Path,
    *,
    device: str,
    start: MetricSpace | None,
    point: str,
    watcher: Watcher | None,
    encoder: nn.Module | None,
) -> MetricSpace:
    # Asked for even where the test items choose: the thresholds need pairs of both kinds, and whether there
    # are any should not come out when the training is over.
    validate = validation(sets.validation, run.validate, watch=run.watch)
    if run.select_on == "test":
        validate = validation(sets.test, run.validate, watch=run.watch)
    space = train(
        run,
        sets.train,
        folder=folder,
        validate=validate,
        device=device,
        start=start,
        watcher=_Keeping(sets.split, folder / "split.json", watcher or Nobody()),
        encoder=encoder,
    )
    # Where it was trained: to embed all training items on the CPU can take longer than the training did.
    settle(space.to(launch(device, run.precision).device), sets.train, sets.validation, point=point)
    space.cpu().save(folder / "space")
    return space


class _Keeping:
    """A watcher beside which the split is kept as soon as training begins: what is refused leaves nothing."""

    def __init__(self, split: Split, path: Path, watcher: Watcher) -> None:
        self.split, self.path, self.watcher = split, path, watcher

    def begin(self, *, steps: int, done: int) -> None:
        self.split.save(self.path)
        self.watcher.begin(steps=steps, done=done)

    def step(self, *, loss: float, items_per_second: float) -> None:
        self.watcher.step(loss=loss, items_per_second=items_per_second)

    def epoch(self, entry: dict[str, Any]) -> None:
        self.watcher.epoch(entry)

    def end(self) -> None:
        self.watcher.end()
