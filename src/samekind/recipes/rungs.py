"""What the rungs of the ladder are: ways from training items to a space."""

from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data import Items
from samekind.inference import compress, embed, fit_similarities
from samekind.inference.fitting import Choice, Fold
from samekind.parts import make
from samekind.prototypes import Prototypes
from samekind.recipes.house import is_pretrained, untrained
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.training import Run, Watcher, build_space, train
from samekind.training.checkpoints import random_states_kept
from samekind.training.fabric import launch

Validate = Callable[[MetricSpace], dict[str, float]]


class Fitted(NamedTuple):
    """A space, the training items with their embeddings as inputs, and the choice of its similarities."""

    space: MetricSpace
    embedded: Items
    choice: Choice | None = None


@dataclass(frozen=True)
class Rungs:
    """The rungs over the same training items. ``rows`` are the places of the items that a rung is fitted to;
    it embeds all of them.
    """

    items: Items
    run: Run
    device: str

    @property
    def first(self) -> str:
        """The name of the lowest rung."""
        return "untrained features" if is_pretrained(self.run) else "raw input"

    def untrained(self) -> Fitted:
        """The features of the pretrained network, or the raw input, compared by the cosine."""
        with random_states_kept():
            torch.manual_seed(self.run.seed)
            space = build_space(untrained(self.run), self.items).eval()
        return self.embedded(space, torch.arange(len(self.items)))

    def with_similarities(self, fitted: Fitted, rows: Tensor) -> Fitted:
        """The same embeddings, with similarities fitted to those of the rows, and chosen by them."""
        return self._with(fitted._replace(space=deepcopy(fitted.space)), fitted.embedded.take(rows))

    def trained(
        self,
        rows: Tensor,
        *,
        validate: Validate,
        folder: Path,
        watcher: Watcher | None = None,
        choice: Choice | None = None,
    ) -> Fitted:
        """The encoder trained on the rows, with similarities fitted to the embeddings of the same rows, and
        chosen by the other items, which the encoder did not see, or by an earlier ``choice``. The proxies are
        for training: the space has the means of its classes.
        """
        some = self.items.take(rows)
        some = some.only([some.classes[label] for label in torch.unique(some.labels).tolist()])
        space = train(self.run, some, folder=folder, validate=validate, device=self.device, watcher=watcher)
        means: Prototypes = make("prototypes", "SupportMeans", {"dimension": space.prototypes.dimension})
        plain = MetricSpace(space.encoder, Cosine(), means, reader=space.reader).eval()
        fitted, others = self.embedded(plain, rows), torch.ones(len(self.items), dtype=torch.bool)
        others[rows] = False
        fold = Fold(rows, others.nonzero().flatten()) if others.any() else 3
        return self._with(fitted, fitted.embedded, folds=fold, choice=choice)

    def _with(
        self, fitted: Fitted, items: Items, *, folds: Fold | int = 3, choice: Choice | None = None
    ) -> Fitted:
        """What is given, with similarities fitted to items whose inputs are embeddings."""
        assert isinstance(items.inputs, Tensor)
        chosen = fit_similarities(
            fitted.space,
            items.inputs,
            items.labels,
            folds=folds,
            groups=items.groups,
            seed=self.run.seed,
            choice=choice,
        )
        return fitted._replace(choice=chosen)

    def embedded(self, space: MetricSpace, rows: Tensor) -> Fitted:
        """All items by a space, which is moved to the device of the training; compressed, if the run asks for
        it, by a projection that is fitted to the rows.
        """
        space = space.to(launch(self.device, self.run.precision).device)
        if self.run.compress:
            space = compress(space, self.items.take(rows), dimension=self.run.compress)
        return Fitted(space, replace(self.items, inputs=embed(space, self.items.inputs), reader=None))
