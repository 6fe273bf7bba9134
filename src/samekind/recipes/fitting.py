"""`fit`: from a run and sets to a saved space that is ready for use."""

from pathlib import Path

from torch import nn

from samekind.data import Sets
from samekind.errors import expect
from samekind.evaluation import validation
from samekind.inference import compress, settle
from samekind.inference.points import operating_point
from samekind.space import MetricSpace
from samekind.training import Run, RunFolder, Watcher, train
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

    The test sets are not used, unless the run asks for it by name: with ``select_on="test"`` the epoch is
    chosen on ``sets.test``; the thresholds never are. The folder also keeps the run, its record, its
    checkpoints, the split and where the items came from, so that ``samekind evaluate`` can open them again;
    the same call goes on where it was stopped. While it works, nobody else can train in the folder. ``point``
    is the operating point of the decisions.

    ``encoder`` is a module of your own that has a ``dimension``, such as a
    `samekind.encoders.foreign.Foreign`. It is trained itself, not a copy of it, in place of the encoder that
    the run names. Loading the space needs it again: ``MetricSpace.load(folder / "space", encoder=…)``.
    """
    expect_run(run)
    expect(sets, Sets, "sets to train on and to choose by, such as prepare(items)")
    operating_point(point)  # refuse a mistake now, not after the training
    place = RunFolder(folder)
    with place.lock():
        # Also if the test items choose: validation items without pairs, which the thresholds need, are
        # refused before the training.
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
            watcher=watcher,
            encoder=encoder,
            split=sets.split,
        )
        # On the device of the training: to embed all items on the CPU can take longer than the training did.
        space = space.to(launch(device, run.precision).device)
        if run.compress:
            space = compress(space, sets.train, dimension=run.compress)
        settle(space, sets.train, sets.validation, point=point)
        place.finish(space.cpu(), sets)
    return space
