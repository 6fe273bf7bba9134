"""Shared by all prototypes: the contract, means of classes, and the pooling of several vectors' scores."""

import math
from collections.abc import Sequence
from typing import Any, Protocol

import torch
from torch import Tensor, nn

from samekind.data.words import composed
from samekind.errors import SettingError, SpaceError, expect

A_NAME = 'the name of a class, such as "7"'

#: How the scores of several vectors become one.
POOLINGS = ("mean", "max", "soft", "sum")


class Prototypes(Protocol):
    """The contract of all prototypes."""

    classes: list[str]
    trained: bool  # by a training run; else filled from examples afterwards
    needs_term: bool  # whether only a term of the loss brings them and the embeddings together
    pooling: str
    temperature: float  # of the pooling, if it is soft
    dimension: int
    count: int
    vectors: Tensor  # (classes, k, d)
    counts: list[int] | None  # of each class, how many examples a vector is the mean of; 0: many, or unknown

    def before_loss(self, z: Tensor, y: Tensor) -> None: ...

    def after_step(self, z: Tensor, y: Tensor) -> None: ...

    def assign(
        self, classes: Sequence[str], vectors: Tensor, counts: Sequence[int] | None = None
    ) -> None: ...


def unmoved(self: Any, z: Tensor, y: Tensor) -> None:
    """Does nothing: the hook of prototypes that do not move there."""


def assign_one_each(
    self: Any, classes: Sequence[str], vectors: Tensor, counts: Sequence[int] | None = None
) -> None:
    """Replace the classes and their vectors, one for each, the mean of ``counts`` (classes,) examples."""
    check_vectors(classes, vectors, dimension=self.dimension, count=1)
    self.counts = checked_counts(counts, classes)
    self.classes, self.vectors = list(classes), vectors.detach().clone()


def assign_several(
    self: Any, classes: Sequence[str], vectors: Tensor, counts: Sequence[int] | None = None
) -> None:
    """The same with ``k`` vectors for each. An optimiser of old ones, if they learn, must be built again."""
    check_vectors(classes, vectors, dimension=self.dimension)
    self.counts, self.count = checked_counts(counts, classes), vectors.shape[1]
    copied = vectors.detach().clone()
    learned = isinstance(self.vectors, nn.Parameter)
    self.classes, self.vectors = list(classes), nn.Parameter(copied) if learned else copied


def class_means(z: Tensor, y: Tensor, classes: int) -> tuple[Tensor, Tensor]:
    """The mean embedding of each class and whether it is present: (n, d), (n,) -> (classes, d), (classes,).

    The mean of an absent class is 0.
    """
    sums = torch.zeros(classes, z.shape[1], dtype=z.dtype, device=z.device).index_add_(0, y, z)
    # Not `torch.bincount`, which makes a GPU wait for the size of its result.
    counts = torch.zeros(classes, dtype=torch.int64, device=z.device).index_add_(0, y, torch.ones_like(y))
    return sums / counts.clamp(min=1)[:, None], counts > 0


def from_examples(prototypes: Prototypes, examples: Tensor) -> Tensor:
    """The vectors that prototypes of this kind make of a few examples of each class, with their gradient:
    (…, classes, examples, d) -> (…, classes, k, d). Each example is one where `by_examples` says so; else
    their mean is the only one.
    """
    return examples if by_examples(prototypes) else examples.mean(-2, keepdim=True)


def by_examples(prototypes: Prototypes) -> bool:
    """Whether each example is a vector of its class: with several vectors, or a pooling of several."""
    return prototypes.count > 1 or prototypes.pooling != "mean"


def pool(scores: Tensor, how: str, *, temperature: float = 0.1) -> Tensor:
    """One score a class from the scores of its k vectors: (n, classes, k) -> (n, classes).

    ``mean``, ``max``, or ``soft``: the mean weighted by the softmax of score / temperature, which is nearer
    to the maximum the lower the temperature (γ of Qian et al., "SoftTriple Loss", ICCV 2019). ``sum`` is
    temperature x ln Σ exp(score / temperature): with the scale 1 / temperature each vector has its part of
    the softmax, and a class the sum of them, as in Vinyals et al., "Matching Networks", NeurIPS 2016.
    """
    match how:
        case "mean":
            return scores.mean(-1)
        case "max":
            return scores.amax(-1)
        case "soft":
            # Items last, as they lie in memory when prototypes were scored first: several times faster.
            turned = scores.permute(1, 2, 0)
            return ((turned / temperature).softmax(1) * turned).sum(1).T
        case "sum":
            return temperature * (scores / temperature).logsumexp(-1)
    raise SettingError(f'pooling must be "mean", "max", "soft" or "sum", got "{how}"')


def check_pooling(pooling: str, *, count: int, temperature: float) -> None:
    """Raises SettingError for an unknown pooling, a count below 1, or a temperature that is not positive."""
    if pooling not in POOLINGS:
        raise SettingError(f'pooling must be "mean", "max", "soft" or "sum", got "{pooling}"')
    if count < 1:
        raise SettingError(f"a class needs at least one vector, got count={count}")
    if not (temperature > 0 and math.isfinite(temperature)):
        raise SettingError(f"the temperature of the pooling must be a positive number, got {temperature}")


def checked_counts(counts: Sequence[int] | None, classes: Sequence[str]) -> list[int] | None:
    """The counts as a list; None if none of them is known. Raises SettingError unless each class has one."""
    if counts is None:
        return None
    if len(counts) != len(classes) or any(count < 0 for count in counts):
        raise SettingError(
            f"expected a count from 0 up for each of {len(classes)} classes, got {list(counts)[:10]}"
        )
    return list(counts) if any(counts) else None


def example_counts(prototypes: Prototypes) -> list[int]:
    """How many examples the vectors of each class were made from, 0 for many or an unknown number."""
    return [0] * len(prototypes.classes) if prototypes.counts is None else list(prototypes.counts)


def put_means(prototypes: Prototypes, names: Sequence[str], examples: Sequence[Tensor]) -> None:
    """Make the means of examples (k, d) the vectors of classes, known ones or new ones behind them. Raises
    SettingError for a name that is there twice, be it that its accents are stored in another way.
    """
    if len({composed(name) for name in names}) < len(names):
        raise SettingError("class names must differ, got one of them twice: " + ", ".join(sorted(names)[:10]))
    if not names:
        return
    places = {name: place for place, name in enumerate(prototypes.classes)}
    rows = [places.setdefault(name, len(places)) for name in names]
    vectors, counts = prototypes.vectors.detach(), example_counts(prototypes)
    new = len(places) - len(vectors)
    counts, vectors = counts + [0] * new, torch.cat([vectors, vectors.new_zeros(new, *vectors.shape[1:])])
    means = torch.stack([z.mean(0).to(vectors) for z in examples])
    vectors[rows] = means[:, None].expand(-1, vectors.shape[1], -1)
    for row, z in zip(rows, examples, strict=True):
        counts[row] = len(z)
    prototypes.assign(list(places), vectors, counts)


def expect_examples(name: str, z: Tensor, *, dimension: int) -> None:
    """Raises SpaceError for examples that no class can be made of."""
    expect(name, str, A_NAME)
    expect(z, Tensor, "embeddings of a few examples, such as embed(space, items.inputs)")
    if z.ndim != 2 or not len(z) or z.shape[1] != dimension:
        shapes = f"of shape (examples, {dimension}), at least one example, got {tuple(z.shape)}"
        raise SpaceError(f'to enrol "{name}": expected embeddings {shapes}')
    if not z.isfinite().all():
        raise SpaceError(f'to enrol "{name}": an embedding is not finite; look at the items it came from')


def check_vectors(
    classes: Sequence[str], vectors: Tensor, *, dimension: int, count: int | None = None
) -> None:
    """Raises SettingError for vectors of another shape, or class names that repeat."""
    fits = vectors.ndim == 3 and len(vectors) == len(classes) and vectors.shape[2] == dimension
    if not fits or (count is not None and vectors.shape[1] != count):
        expected = f"({len(classes)} classes, {count or 'k'}, {dimension})"
        raise SettingError(f"expected prototypes of shape {expected}, got {tuple(vectors.shape)}")
    if len(set(classes)) != len(classes):
        raise SettingError("class names must differ, got " + ", ".join(sorted(classes)))
