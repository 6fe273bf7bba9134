"""The ladder of the house recipe: from no training to a trained encoder, each rung measured, the best kept.

A rung is measured on classes that it was not fitted to (see `folds`), and replaces the one before only if it
is better by more than chance (see `measuring.is_better`); the fitted similarity, which comes close to the
cosine where that is best, needs no such proof. The space of the kept rung is then fitted to all
training items and saved. Short rungs come first, and a rung that does not fit into the time is not begun, so
that there is an answer after seconds, and a better one later. Thresholds come from the trials of held-out
classes. Of few classes the trained encoder is kept beside the untrained features, never in their place
(`house.FEW_CLASSES`); where several networks were kept, it is tried beside them too.
"""

import math
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from samekind.data import Sets
from samekind.data.words import counted
from samekind.decisions import Choices, Ladder, Rung
from samekind.errors import expect
from samekind.evaluation import validation
from samekind.inference import settle
from samekind.inference.fitting import Choice
from samekind.inference.open_set import decide_if_told_apart, pooled
from samekind.inference.points import operating_point
from samekind.inference.verify import fit_decision
from samekind.recipes.folds import Folds, class_folds
from samekind.recipes.house import house
from samekind.recipes.measuring import Measured, is_better, joined, rung_of
from samekind.recipes.rungs import Features, Fitted, Rungs, Validate
from samekind.space import MetricSpace
from samekind.training import Run, RunFolder, Watcher
from samekind.training.estimate import in_words, seconds_of_features, seconds_of_training
from samekind.training.fabric import launch
from samekind.training.room import within_memory

#: Without a limit, a CPU trains the encoder only if that takes at most so many seconds; and on any device it
#: is trained for further folds only within them.
SECONDS = 300.0
#: Features that take so many seconds are announced before they are computed.
WORTH_SAYING = 3.0

#: The names of the rungs after the first.
FITTED, SIDE_BY_SIDE, HEAD = "fitted similarity", "networks side by side", "head on features"
TRAINED = "encoder trained"
BESIDE, NETWORK = "trained beside untrained", "network over pairs"
#: A network over pairs needs about a thousand classes; with tens of them it learns those, not likeness.
CLASSES_FOR_NETWORK = 900

#: What the line of a rung says.
LEGEND = (
    "Recall@1: how often the nearest other item is of the same class. EER: the share of pairs judged "
    "wrongly. Accuracy: known classes named rightly. In brackets the kind of score."
)

Tell = Callable[[str], None]
AfterRung = Callable[[Rung, MetricSpace], None]
Fit = Callable[[int | None], Fitted]  # to the items of a fold, by its number; None is all items


def climb(
    sets: Sets,
    *,
    folder: str | Path,
    run: Run | None = None,
    minutes: float | None = None,
    seed: int | None = None,
    device: str = "auto",
    point: str = "eer",
    watcher: Watcher | None = None,
    tell: Tell | None = None,
    after_rung: AfterRung | None = None,
) -> MetricSpace:
    """Measure the rungs, keep the best, and return its space, which is also in ``folder/space``.

    ``run`` is that of the trained encoder, by default that of `house`; ``seed`` replaces its seed.
    ``minutes`` is the time for all rungs; without it a CPU trains the encoder only if that takes less than
    five minutes. ``tell`` gets a line about each rung. ``after_rung`` gets each rung and its space, fitted to
    all training items, whether it was kept or not.

    The folder is that of a run. After each rung that is better the space in it is replaced, so that a ladder
    that is stopped has an answer; the same call goes on where it was.
    """
    expect(sets, Sets, "sets to train on and to choose by, such as prepare(items)")
    operating_point(point)  # refuse a mistake now, not after the training
    run = run or house(sets.train)
    if seed is not None:
        run = run.override([f"seed={seed}"])
    run = within_memory(run, sets.train, device=device)
    # Items without pairs, which the thresholds need, are refused before anything is written.
    validate = validation(sets.validation, run.validate, watch=run.watch)
    place = RunFolder(folder)
    with place.lock():
        if not place.last.exists():
            place.begin(run, sets.split)
        began, rungs = time.perf_counter(), Rungs(sets, run, device, place.features)
        encoder = rungs.encoder()
        if tell is not None and not place.features.exists():
            _tell_of_features(tell, rungs.first, encoder, sets)
        start = rungs.untrained(encoder)
        vectors = start.features.train.inputs
        assert isinstance(vectors, Tensor)
        usual = SECONDS if launch(device, run.precision).device.type == "cpu" else math.inf
        return _Climb(
            sets=sets,
            place=place,
            rungs=rungs,
            start=start,
            folds=class_folds(sets.train, seed=run.seed, features=vectors),
            validate=validate,
            point=point,
            limit=usual if minutes is None else 60 * minutes,
            watcher=watcher,
            tell=tell,
            after_rung=after_rung,
            began=began,
        ).climb()


def _of_all(seconds: float, sets: Sets) -> float:
    """The seconds for all items that the ladder looks at, from those for the training items."""
    return seconds * _looked_at(sets) / len(sets.train)


def _looked_at(sets: Sets) -> int:
    return len(sets.train) + len(sets.validation)


def _tell_of_features(tell: Tell, name: str, encoder: nn.Module, sets: Sets) -> None:
    """Say how long the features of all items take, if a person would wonder whether anything happens."""
    seconds = _of_all(seconds_of_features(encoder, sets.train), sets)
    if seconds >= WORTH_SAYING:
        tell(f"{name}: {_looked_at(sets):,} items through the network, about {in_words(seconds)}")


class _Once:
    """A way to fit, carried out once for each fold. The first one chooses the similarities of the others."""

    def __init__(self, fit: Callable[[int | None, Choice | None], Fitted]) -> None:
        self.fit, self.fits = fit, dict[int | None, Fitted]()

    def __call__(self, fold: int | None) -> Fitted:
        if fold not in self.fits:
            choice = next(iter(self.fits.values())).choice if self.fits else None
            self.fits[fold] = self.fit(fold, choice)
        return self.fits[fold]


@dataclass
class _Climb:
    """A ladder: what it is measured on, what was measured, and what is kept."""

    sets: Sets
    place: RunFolder
    rungs: Rungs
    start: Fitted  # the first rung
    folds: Folds
    validate: Validate
    point: str
    limit: float  # seconds for everything
    watcher: Watcher | None
    tell: Tell | None
    after_rung: AfterRung | None
    began: float
    tried: list[Rung] = field(default_factory=list)
    kept: str = ""
    measured: list[Measured] = field(default_factory=list)  # of the kept rung, by fold
    fits: dict[int | None, Fitted] = field(default_factory=dict)  # by fold; None is all items
    further: list[Features] = field(default_factory=list)  # of networks beside the first, if they were kept

    def climb(self) -> MetricSpace:
        """All rungs, from the lowest; returns the space of the best."""
        self._say(f"The rungs are measured on {self.folds.words}. {LEGEND}")
        rungs, start = self.rungs, self.start
        first = self._step(rungs.first, lambda _: start, since=self.began)
        assert first is not None  # it is always kept
        mark, numbers = time.perf_counter(), self.folds.numbers(len(self.sets.train))

        def with_similarities(fold: int | None, choice: Choice | None) -> Fitted:
            return rungs.with_similarities(start, self._rows(fold), choice=choice, folds=numbers)

        fitted = _Once(with_similarities)
        choice = fitted(None).choice  # by all folds, for all of them

        def headed(fold: int | None) -> Fitted:
            return rungs.headed(start, self._rows(fold), choice=choice)

        space = self._step(FITTED, fitted, since=mark) or first
        space = self._networks_side_by_side(numbers) or space
        space = self._step(HEAD, headed) or space
        space = self._train_encoder() or space
        space = self._network_over_pairs() or space
        self._save(space)
        shutil.rmtree(self._fold_folder(), ignore_errors=True)
        return space

    def _step(
        self, name: str, fit: Fit, *, folds: int | None = None, since: float | None = None, not_kept: str = ""
    ) -> MetricSpace | None:
        """Measure a rung on the first ``folds`` folds. Returns its space, fitted to all items and saved, if
        it is better than the kept one; with a reason why it is ``not_kept`` it is measured alone.
        """
        since, seed = time.perf_counter() if since is None else since, self.rungs.run.seed
        fits: dict[int | None, Fitted] = {
            number: fit(number) for number in range(len(self.folds.parts[:folds]))
        }
        parts = [
            fitted.measured(fold, seed=seed)
            for fitted, fold in zip(fits.values(), self.folds.parts, strict=False)
        ]
        measured, by_class = joined(parts), self.folds.by_class
        if not not_kept and not self._is_better(name, measured, folds=len(parts)):
            not_kept = "not better by more than chance, so not kept"
        better = not not_kept
        space = None
        if better or self.after_rung is not None:
            fits[None] = fit(None)
            space = self._settled(fits[None], measured)
        seconds = time.perf_counter() - since
        rung = rung_of(name, measured, seconds=seconds, by_class=by_class, seed=seed)
        self.tried.append(rung)
        self._say(_line(rung, folds=len(parts), of=len(self.folds.parts), not_kept=not_kept))
        if space is not None and self.after_rung is not None:
            self.after_rung(rung, space)
        if space is None or not better:
            return None
        self.kept, self.measured, self.fits = name, parts, fits
        self._save(space)
        return space

    def _is_better(self, name: str, measured: Measured, *, folds: int) -> bool:
        """Whether a rung beats the kept one on the first ``folds`` folds; the first rung always does."""
        return not self.measured or is_better(
            measured,
            joined(self.measured[:folds]),
            by_class=self.folds.by_class,
            few=self.folds.few,
            certainly=name != FITTED,
            seed=self.rungs.run.seed,
        )

    def _networks_side_by_side(self, numbers: Tensor) -> MetricSpace | None:
        """The features of several pretrained networks in a row, if there is time to compute them."""
        began, rungs, sets = time.perf_counter(), self.rungs, self.sets
        networks = rungs.further()
        seconds = _of_all(sum(seconds_of_features(network, sets.train) for network in networks), sets)
        after = began - self.began + seconds
        if not networks:
            return None
        through = counted(len(networks), "further network", "further networks")
        about = f"{_looked_at(sets):,} items through {through}, about {in_words(seconds)}"
        if after > self.limit:
            self._say(f"{SIDE_BY_SIDE}: not begun: {about}; --minutes {math.ceil(after / 60)} allows it")
            return None
        if seconds >= WORTH_SAYING:
            self._say(f"{SIDE_BY_SIDE}: {about}")
        others = [rungs.features(network, cache=rungs.cache) for network in networks]

        def several(fold: int | None, choice: Choice | None) -> Fitted:
            plain = rungs.in_a_row([self.start.features, *others], self._rows(fold))
            return rungs.with_similarities(plain, self._rows(fold), choice=choice, folds=numbers)

        fitted = _Once(several)
        fitted(None)  # all folds choose the similarities, for all of them
        space = self._step(SIDE_BY_SIDE, fitted, since=began)
        self.further = others if space is not None else []
        return space

    def _train_encoder(self) -> MetricSpace | None:
        """The last rung, on as many folds as there is time for, if it is at least one."""
        run, items, folds = self.rungs.run, self.sets.train, len(self.folds.parts)
        whole = seconds_of_training(run, items, device=self.rungs.device)
        fold = whole * (1 - 1 / folds)
        left = self.limit - (time.perf_counter() - self.began) - whole
        about = f"{run.epochs} epochs of {len(items):,} items, about {in_words(whole)}"
        if fold > left:
            self._say(
                f"{TRAINED}: not begun: {about}, and {in_words(fold)} to measure it first; "
                f"--minutes {math.ceil((whole + fold + self.limit - left) / 60)} allows it"
            )
            return None
        count = max(1, min(folds, int(min(left, SECONDS) / max(fold, 1e-9))))
        self._say(f"{TRAINED}: {about}, and {in_words(count * fold)} to measure it first")
        trained = _Once(self._trained)
        not_kept = f"with {self._classes} classes not kept alone" if self.folds.few else ""
        alone = self._step(TRAINED, trained, folds=count, not_kept=not_kept)
        if not self.folds.few and not self.further:
            return alone

        def beside(fold: int | None, choice: Choice | None) -> Fitted:
            untrained = [self.start.features, *self.further]
            return self.rungs.beside(untrained, trained(fold), self._rows(fold), choice=choice)

        return self._step(BESIDE, _Once(beside), folds=count) or alone

    def _network_over_pairs(self) -> MetricSpace | None:
        """The network over pairs on top of the kept rung, where there are classes enough. Its errors on the
        classes that it was fitted to are told beside those on the others: a wide gap is a network that has
        learned its classes and not what likeness is.
        """
        if self._classes < CLASSES_FOR_NETWORK:
            return None
        below, gaps = dict(self.fits), []

        def network(fold: int | None) -> Fitted:
            fitted = self.rungs.with_network(below[fold], self._rows(fold))
            if fold is not None:
                sides = (fitted.pairs(rows, seed=self.rungs.run.seed) for rows in self.folds.parts[fold])
                gaps.append([side.equal_error("similarity") for side in sides])
            return fitted

        space = self._step(NETWORK, network, folds=len(self.measured))
        inside, outside = (sum(side) / len(gaps) for side in zip(*gaps, strict=True))
        self._say(f"{NETWORK}: EER {inside:.1%} on the classes it was fitted to, {outside:.1%} on the others")
        return space

    def _trained(self, number: int | None, choice: Choice | None) -> Fitted:
        """The encoder trained for a fold, or on all items."""
        validate, folder = self.validate, self.place.path
        if number is not None:
            held_out, run = self.sets.train.take(self.folds.parts[number].held_out), self.rungs.run
            validate = validation(held_out, run.validate, watch=run.watch)
            folder = self._fold_folder() / str(number)
        return self.rungs.trained(
            self._rows(number), validate=validate, folder=folder, watcher=self.watcher, choice=choice
        )

    def _rows(self, number: int | None) -> Tensor:
        """The places of the items that a fold is fitted to; None is all of them."""
        return torch.arange(len(self.sets.train)) if number is None else self.folds.parts[number].fitted

    def _settled(self, fitted: Fitted, measured: Measured) -> MetricSpace:
        """The space, ready for use: the classes that were held out give its thresholds, the kinds of score,
        and the bonus of classes that are enrolled beside known ones. Validation items of known classes give
        the kind for classes, and decide whether a linear discriminant tells known classes apart; without
        such items the kind is that for neighbours, because both ask for what is nearest.
        """
        name = f"{self.sets.train.name}, {self.folds.words}"
        classes = measured.neighbours if measured.named is None else measured.named.best
        choices = Choices(measured.pairs, measured.neighbours, classes, name)
        features = fitted.features
        fitted.space.tree = self.sets.tree
        settle(
            fitted.space,
            features.train,
            features.validation,
            point=self.point,
            choices=choices,
            discriminant=measured.named is not None
            and measured.named.by_discriminant(seed=self.rungs.run.seed),
        )
        space = fitted.whole(self.sets.train)
        for kind, trials in measured.trials.items():
            space.decisions[kind] = fit_decision(trials, kind=kind, point=self.point, description=name)
        space.balances |= measured.balances(name)
        if space.open_set is None and measured.familiar and self.folds.by_class:
            space.open_set = decide_if_told_apart(pooled(measured.familiar), name=name, point=self.point)
        return space

    @property
    def _classes(self) -> int:
        """How many classes there are to train on."""
        return len(torch.unique(self.sets.train.labels))

    def _save(self, space: MetricSpace) -> None:
        space.ladder = Ladder(tuple(self.tried), self.kept, self.folds.words)
        self.place.finish(space, self.sets)

    def _fold_folder(self) -> Path:
        return self.place.path / "folds"

    def _say(self, line: str) -> None:
        if self.tell is not None:
            self.tell(line)


def _line(rung: Rung, *, folds: int, of: int, not_kept: str) -> str:
    where = "" if folds == of else f", on {folds} of {of} folds"
    verdict = f"; {not_kept}" if not_kept else ""
    return f"{rung.sentence}{where}{verdict}"
