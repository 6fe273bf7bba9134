"""The rungs of the ladder: ways from training items to a space.

An encoder computes the features of all items once. What is fitted on top of it (similarities, a head, the
prototypes and thresholds) is a space of these features, and becomes a space of the items in the end.
"""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.data import Items, Sets, VectorReader, draw
from samekind.encoders import SideBySide, Unchanged
from samekind.inference import compress, embed, feature_items, fit_similarities, headed_space
from samekind.inference.fitting import Choice, Fold
from samekind.parts import make
from samekind.prototypes import Prototypes
from samekind.recipes import measuring
from samekind.recipes.folds import Fold as Cut
from samekind.recipes.house import head, is_pretrained, over_pairs, relatives, untrained
from samekind.recipes.recovering import train_recovering
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.training import Run, Watcher
from samekind.training.brief import train_briefly
from samekind.training.build import build_encoder
from samekind.training.checkpoints import random_states_kept
from samekind.training.fabric import launch

#: Several networks side by side are projected to so many numbers: on small folders of birds these keep all
#: that their 3,840 numbers give.
NUMBERS = 512

Validate = Callable[[MetricSpace], dict[str, float]]


class Features(NamedTuple):
    """An encoder, and the features that it computes of the training and of the validation items."""

    encoder: nn.Module
    train: Items
    validation: Items


class Fitted(NamedTuple):
    """A space of features, those that it is for, and the choice of its similarities."""

    space: MetricSpace
    features: Features
    choice: Choice | None = None

    def embedded(self, rows: Tensor) -> Items:
        """The training items of some rows, with their embeddings as inputs."""
        items = self.features.train.take(rows)
        return replace(items, inputs=embed(self.space, items.inputs), reader=None)

    def measured(self, fold: Cut, *, seed: int) -> measuring.Measured:
        """What the space gives on the items that a fold holds out; how it names validation items of the
        fold's other classes, alone and with held-out classes enrolled beside them; and whether it knows that
        held-out classes are none of them.
        """
        known, new = self.embedded(fold.fitted), self.embedded(fold.held_out)
        items = self.features.validation
        items = replace(items, inputs=embed(self.space, items.inputs), reader=None)
        tasks = measuring.measure_enrolled(self.space, known, items, new, seed=seed)
        familiar = measuring.measure_familiar(self.space, known, items, new, seed=seed)
        return self.pairs(fold.held_out, seed=seed)._replace(
            named=measuring.measure_names(self.space, known, items),
            enrolled=[tasks] if tasks else (),
            familiar=[familiar] if familiar is not None else (),
        )

    def pairs(self, rows: Tensor, *, seed: int) -> measuring.Measured:
        """The measures of the space on the training items of some rows, at most so many of them."""
        return measuring.measure(
            self.space, draw(self.embedded(rows), most=measuring.MEASURED_ITEMS, seed=seed)
        )

    def whole(self, items: Items) -> MetricSpace:
        """The space of the items themselves, on the CPU."""
        return headed_space(self.features.encoder, self.space, items).cpu()


@dataclass(frozen=True)
class Rungs:
    """The rungs over the same items. ``rows`` are the places of the training items that one is fitted to.
    ``cache`` is a folder for the features of the untrained network, which are then computed once.
    """

    sets: Sets
    run: Run
    device: str
    cache: Path | None = None

    @property
    def first(self) -> str:
        """The name of the lowest rung."""
        return "untrained features" if is_pretrained(self.run) else "raw input"

    def encoder(self) -> nn.Module:
        """The pretrained network as it came, or the raw input."""
        with random_states_kept():
            torch.manual_seed(self.run.seed)
            encoder: nn.Module = build_encoder(untrained(self.run, self.sets.train), self.sets.train)
        return encoder.eval().to(launch(self.device, self.run.precision).device)

    def untrained(self, encoder: nn.Module | None = None) -> Fitted:
        """The features of `encoder`, which may be given, compared by the cosine."""
        features = self.features(encoder or self.encoder(), cache=self.cache)
        return self._plain(features, torch.arange(len(self.sets.train)))

    def with_similarities(
        self, fitted: Fitted, rows: Tensor, *, choice: Choice | None = None, folds: Tensor | None = None
    ) -> Fitted:
        """The same features, with similarities fitted to those of the rows, and chosen by the other items, by
        an earlier ``choice``, or, for all items, by ``folds``: the number of the fold of each.
        """
        return self._with(fitted._replace(space=deepcopy(fitted.space)), rows, choice, folds)

    def further(self) -> list[nn.Module]:
        """The pretrained networks that can stand beside that of the run; none where it has no `relatives`."""
        with random_states_kept():
            torch.manual_seed(self.run.seed)
            networks = [build_encoder(run, self.sets.train).eval() for run in relatives(self.run)]
        return [network.to(launch(self.device, self.run.precision).device) for network in networks]

    def in_a_row(self, several: Sequence[Features], rows: Tensor) -> Fitted:
        """The features of several encoders in a row, each of length 1, compared by the cosine. Those of
        pretrained networks are many numbers: they are projected to the principal directions of the rows.
        """
        features = Features(
            SideBySide(encoders=[one.encoder for one in several]).eval(),
            _joined([one.train for one in several]),
            _joined([one.validation for one in several]),
        )
        return self._plain(features, rows, most=NUMBERS if is_pretrained(self.run) else None)

    def headed(self, start: Fitted, rows: Tensor, *, choice: Choice | None = None) -> Fitted:
        """A head trained on the features of the rows, which stay as they are; then similarities on top, with
        the ``choice`` that the features alone led to, if it is given.
        """
        items, run = _only(start.features.train.take(rows)), head(self.run, start.features.train)
        space = train_briefly(run, items, device=self.device)
        return self._with(self._plain(start.features, rows, encoder=space.encoder), rows, choice)

    def with_network(self, fitted: Fitted, rows: Tensor) -> Fitted:
        """The same embeddings, with the cosine corrected by a network over pairs of them, trained on the
        rows; what was fitted to them stays.
        """
        items = _only(fitted.embedded(rows))
        learned = train_briefly(over_pairs(self.run, items), items, device=self.device)
        space = deepcopy(fitted.space)
        space.similarity = learned.to(launch(self.device, self.run.precision).device).similarity
        return fitted._replace(space=space)

    def trained(
        self,
        rows: Tensor,
        *,
        validate: Validate,
        folder: Path,
        watcher: Watcher | None = None,
        choice: Choice | None = None,
    ) -> Fitted:
        """The encoder trained on the rows, with similarities fitted to the features of the same rows, and
        chosen by the other items, which the encoder did not see, or by an earlier ``choice``. The proxies are
        for training: the space has the means of its classes.
        """
        items = _only(self.sets.train.take(rows))
        space = train_recovering(
            self.run, items, folder=folder, validate=validate, device=self.device, watcher=watcher
        )
        return self._with(self._plain(self.features(space.encoder), rows), rows, choice)

    def beside(
        self,
        untrained: Sequence[Features],
        trained: Fitted,
        rows: Tensor,
        *,
        choice: Choice | None = None,
    ) -> Fitted:
        """``untrained`` features and those of a ``trained`` encoder in a row, with similarities fitted to
        those of the rows.
        """
        return self._with(self.in_a_row([*untrained, trained.features], rows), rows, choice)

    def features(self, encoder: nn.Module, *, cache: Path | None = None) -> Features:
        encoder = encoder.to(launch(self.device, self.run.precision).device).eval()
        parts = (self.sets.train, self.sets.validation)
        return Features(encoder, *(feature_items(encoder, items, cache=cache) for items in parts))

    def _plain(
        self,
        features: Features,
        rows: Tensor,
        *,
        encoder: nn.Module | None = None,
        most: int | None = None,
    ) -> Fitted:
        """The features, or what an ``encoder`` makes of them, compared by the cosine; compressed, if the run
        asks for it or there are more than ``most`` numbers, by a projection that is fitted to the rows.
        """
        encoder = encoder or Unchanged(inputs=features.train.shape[0])
        means: Prototypes = make("prototypes", "SupportMeans", {"dimension": encoder.dimension})
        space = (
            MetricSpace(encoder, Cosine(), means).to(launch(self.device, self.run.precision).device).eval()
        )
        dimension = self.run.compress
        if most and not dimension and means.dimension > most:
            dimension = min(most, len(rows))
        if dimension:
            space = compress(space, features.train.take(rows), dimension=dimension)
        return Fitted(space, features)

    def _with(
        self, fitted: Fitted, rows: Tensor, choice: Choice | None, folds: Tensor | None = None
    ) -> Fitted:
        """The given space, with similarities fitted to the embeddings of the rows."""
        everything = torch.arange(len(self.sets.train))
        others = everything[~torch.isin(everything, rows)]
        cut = Fold(rows, others) if choice is None and len(others) else folds
        items = fitted.embedded(everything if choice is None else rows)
        assert isinstance(items.inputs, Tensor)
        chosen = fit_similarities(
            fitted.space,
            items.inputs,
            items.labels,
            folds=3 if cut is None else cut,
            groups=items.groups,
            seed=self.run.seed,
            choice=choice,
        )
        return fitted._replace(choice=chosen)


def _joined(several: Sequence[Items]) -> Items:
    """The same items with all their vectors, each of length 1, in a row."""
    vectors = torch.cat([F.normalize(items.inputs[:]) for items in several], dim=1)
    return replace(several[0], inputs=vectors, reader=VectorReader(dimension=vectors.shape[1]))


def _only(items: Items) -> Items:
    """The items, without the names of classes that have none."""
    return items.only([items.classes[label] for label in torch.unique(items.labels).tolist()])
