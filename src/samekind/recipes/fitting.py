"""`fit`: from a run and sets, or from data alone, to a space that is ready for use."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import overload

from torch import nn

from samekind.data import DataSettings, Items, Sets, SplitSettings, open_data, prepare
from samekind.errors import SettingError, expect
from samekind.evaluation import validation
from samekind.inference import compress, settle
from samekind.inference.points import operating_point
from samekind.recipes.ladder import climb
from samekind.space import MetricSpace
from samekind.training import Run, RunFolder, Watcher, train
from samekind.training.fabric import launch
from samekind.training.run import expect_run


@overload
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
) -> MetricSpace: ...


@overload
def fit(
    run: str | Path | Items | Sets,
    sets: None = None,
    *,
    folder: str | Path | None = None,
    device: str = "auto",
    point: str = "eer",
    watcher: Watcher | None = None,
    minutes: float | None = None,
    taxonomy: str | Path | None = None,
) -> MetricSpace: ...


def fit(
    run: Run | str | Path | Items | Sets,
    sets: Sets | None = None,
    *,
    folder: str | Path | None = None,
    device: str = "auto",
    start: MetricSpace | None = None,
    point: str = "eer",
    watcher: Watcher | None = None,
    encoder: nn.Module | None = None,
    minutes: float | None = None,
    taxonomy: str | Path | None = None,
) -> MetricSpace:
    """Train a run on sets, as `fit_run` does; or learn from data alone, in place of a run: a name, a path,
    items or sets.

    Data is split by its published parts, by groups, or at random, and the house recipe keeps what is best of
    what it measures (see `climb`), within ``minutes``. ``folder`` keeps the run; without one nothing is kept
    but the space that is returned. ``taxonomy`` is a file with the tree of the classes, for a name or a path;
    items have theirs as ``items.tree``.

    >>> space = fit("digits", minutes=0)
    >>> space.ladder.kept
    'head on features'
    """
    if isinstance(run, Run):
        if sets is None or folder is None:
            raise SettingError("to train a run, give the sets and a folder: fit(run, sets, folder=…)")
        _expect_no_data_options(minutes, taxonomy)
        return fit_run(
            run,
            sets,
            folder=folder,
            device=device,
            start=start,
            point=point,
            watcher=watcher,
            encoder=encoder,
        )
    if sets is not None or start is not None or encoder is not None:
        raise SettingError("expected a run to train on sets, from a start or with an encoder of your own")
    if taxonomy is not None and not isinstance(run, str | Path):
        raise SettingError("a taxonomy is for data of a name or a path; give items their tree: items.tree")
    divided = run if isinstance(run, Sets) else _divided(run, taxonomy)
    with TemporaryDirectory() as scratch:
        return climb(
            divided, folder=folder or scratch, minutes=minutes, device=device, point=point, watcher=watcher
        )


def _expect_no_data_options(minutes: float | None, taxonomy: str | Path | None) -> None:
    """Raise SettingError for options of `fit` that a run does not have."""
    if minutes is not None:
        raise SettingError("minutes are for the house recipe, fit(data); a run has epochs")
    if taxonomy is not None:
        raise SettingError("a run is trained on sets, which have their tree: prepare(items), items.tree")


def _divided(data: str | Path | Items, taxonomy: str | Path | None) -> Sets:
    """The sets of data: its published parts, or whole groups, or drawn at random."""
    settings = DataSettings(taxonomy=None if taxonomy is None else str(taxonomy))
    items = data if isinstance(data, Items) else open_data(data, settings=settings)
    return prepare(items, SplitSettings(by="part")) if items.parts is not None else prepare(items)


def fit_run(
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
