"""Scores relative to those that both items have with a cohort: an item that is close to everything is not
called close to each of them.

Conneau et al., "Word Translation Without Parallel Data", ICLR 2018 (CSLS); Kenny, "Bayesian Speaker
Verification with Heavy-Tailed Priors", Odyssey 2010 (S-norm); Matějka et al., "Analysis of Score
Normalization in Multilingual Speaker Recognition", Interspeech 2017 (AS-norm).
"""

from collections.abc import Callable
from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.blocks import (
    MEMORY_BUDGET,
    Scorer,
    Side,
    Similarity,
    counts_matter,
    enrolled_vectors,
    every_pair,
    mapping_of,
    prepared,
    ready,
)
from samekind.similarities.dot import Dot
from samekind.similarities.scale import FixedScale, Scale
from samekind.tracing import exporting

#: An item may be in the cohort itself. Its copy is looked for among so many of its closest.
CLOSEST = 16
#: Numbers that differ by less than this share of the largest are the same.
ROUNDING = 1e-4

Form = Literal["mean", "as", "s"]


class Neighbourhood(nn.Module):
    """A similarity s, normalised by what each of the two scores with a cohort of ``size`` embeddings.

    ``form="mean"``: s(a, b) - ½ m(a) - ½ m(b), where m is the mean score with the ``neighbours`` closest of
    the cohort. ``"as"`` divides by their deviation d as well: ½ (s - m(a)) / d(a) + ½ (s - m(b)) / d(b);
    ``"s"`` is that with the whole cohort. An item's own copy in the cohort is not its neighbour, but for
    ``"s"``. All three are right for pairs and for search; the first costs as much as s itself, the others
    twice as much.

    The ``cohort`` is a buffer: training items, or any items without labels; see `with_cohort`.
    """

    quantity = "normalised"
    chords = False

    def __init__(
        self,
        similarity: Similarity,
        *,
        size: int,
        dimension: int,
        neighbours: int = 10,
        form: Form = "mean",
        scale: Scale | None = None,
    ) -> None:
        super().__init__()
        if size < 1 or neighbours < 1:
            raise SettingError(
                f"a cohort needs an item and a neighbour at least, got size={size}, neighbours={neighbours}"
            )
        self.similarity = similarity
        self.symmetric = similarity.symmetric
        self.size = size
        self.dimension = dimension
        self.neighbours = neighbours
        self.form: Form = form
        self.scale = scale or FixedScale()
        self.cohort: Tensor
        self.register_buffer("cohort", torch.zeros(size, dimension))

    def with_cohort(self, z: Tensor) -> "Neighbourhood":
        """The same with other embeddings (n, d) as its cohort; it shares the similarity."""
        other = Neighbourhood(
            self.similarity,
            size=len(z),
            dimension=self.dimension,
            neighbours=self.neighbours,
            form=self.form,
            scale=self.scale,
        )
        other.cohort, other.training = z.detach().to(self.cohort, copy=True), self.training
        return other

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        first, second = self._level(a, "first"), self._level(b, "second")
        scores = self.similarity(a, b).to(first.factor.dtype) * (first.factor + second.factor)
        return (scores - first.offset - second.offset).to(a.dtype)

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        scorer, first, second = self.prepared(a, b)
        return scorer.score_all(first, second).to(a.dtype)

    @property
    def mapped(self) -> Callable[[Tensor, Side], Tensor] | None:
        """`mapping` if the similarity has one, else None."""
        return self.mapping if mapping_of(self.similarity) is not None else None

    def mapping(self, z: Tensor, side: Side = "first") -> Tensor:
        """Vectors whose inner products are the scores: those of the similarity, and a number of each item."""
        mapped = mapping_of(self.similarity)
        if mapped is None:
            raise SettingError(f"the scores of {type(self.similarity).__name__} are no inner products")
        return self._joined(mapped(z, side), self._level(z, side), side)

    @property
    def enrolled(self) -> Callable[[Tensor, Tensor, Tensor], tuple[Tensor, Tensor]] | None:
        """`enrolment` if the similarity asks how many items an enrolment is the mean of, else None."""
        return self.enrolment if counts_matter(self.similarity) else None

    def enrolment(self, a: Tensor, b: Tensor, counts: Tensor) -> tuple[Tensor, Tensor]:
        """Vectors whose inner products are the scores of enrolments, each the mean of ``counts`` (n,) items
        (0: very many), and items.
        """
        first, second = enrolled_vectors(self.similarity, a, b, counts)
        return (
            self._joined(first, self._level(a, "first", counts), "first"),
            self._joined(second, self._level(b, "second"), "second"),
        )

    def prepared(self, a: Tensor, b: Tensor) -> tuple[Similarity, Tensor, Tensor]:
        """The scorer of the blocks of a and b, and its inputs: no item is compared with the cohort twice."""
        if self.mapped is not None:
            return Dot(), self.mapping(a, "first"), self.mapping(b, "second")
        levels = self._level(a, "first"), self._level(b, "second")
        first, second = (
            torch.cat([z, torch.stack(level, dim=1).to(z.dtype)], dim=1)
            for z, level in zip((a, b), levels, strict=True)
        )
        return _Levelled(self.similarity), first, second

    def pair_bytes(self, dimension: int) -> int:
        return self.similarity.pair_bytes(dimension) + 4

    def _joined(self, vectors: Tensor, level: "_Level", side: Side) -> Tensor:
        """Mapped vectors with what normalises them."""
        offset, one = -level.offset[:, None].to(vectors.dtype), torch.ones_like(vectors[:, :1])
        if self.form != "mean":
            scaled = vectors * level.factor[:, None].to(vectors.dtype)
            vectors = torch.cat([scaled, vectors] if side == "first" else [vectors, scaled], dim=1)
        return torch.cat([vectors, *((offset, one) if side == "first" else (one, offset))], dim=1)

    def _level(self, z: Tensor, side: Side, counts: Tensor | None = None) -> "_Level":
        """The numbers that normalise each item (n, d), from its scores with the cohort, in strips."""
        cohort, scorer = self.cohort.to(z.dtype), self.similarity
        if counts is not None:
            scorer, (own, others) = Dot(), enrolled_vectors(self.similarity, z, cohort, counts)
        elif side == "first":
            scorer, own, others = prepared(self.similarity, z, cohort)
        else:
            scorer, others, own = prepared(self.similarity, cohort, z)
        if exporting():
            scores = every_pair(scorer, own, others) if side == "first" else every_pair(scorer, others, own).T
            return self._levels(scores, z, cohort)
        budget = MEMORY_BUDGET.get(z.device.type, MEMORY_BUDGET["other"])
        strip = max(1, budget // (4 * max(self.size, CLOSEST * z.shape[1])))
        parts = []
        for start in range(0, len(z), strip):
            rows = slice(start, start + strip)
            if side == "first":
                scores = scorer.score_all(own[rows], others)
            else:
                scores = scorer.score_all(others, own[rows]).T
            parts.append(self._levels(scores, z[rows], cohort))
        if not parts:
            return _Level(z.new_zeros(0), z.new_zeros(0))
        return _Level(*(torch.cat(numbers) for numbers in zip(*parts, strict=True)))

    def _levels(self, scores: Tensor, z: Tensor, cohort: Tensor) -> "_Level":
        """The same from scores (n, size)."""
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))
        counted = torch.ones_like(scores, dtype=torch.bool)
        if self.form != "s":
            scores, places = scores.topk(min(self.neighbours + 1, self.size), dim=1)
            near = (cohort[places[:, :CLOSEST]] - z[:, None]).detach().abs().amax(2)
            copies = near <= ROUNDING * z.detach().abs().amax(1, keepdim=True)
            counted = ~torch.nn.functional.pad(copies, (0, scores.shape[1] - copies.shape[1]))
            counted &= counted.cumsum(1) <= self.neighbours
        number = counted.sum(1).clamp(min=1)
        mean = (scores * counted).sum(1) / number
        if self.form == "mean":
            return _Level(torch.full_like(mean, 0.5), mean / 2)
        square = ((scores - mean[:, None]).square() * counted).sum(1) / number
        # Where all scores are equal there is nothing to divide by.
        factor = 0.5 / torch.where(square > 0, square, 1.0).sqrt()
        return _Level(factor, factor * mean)


class _Level(NamedTuple):
    """A score of two items is multiplied by the sum of their factors; both offsets are then subtracted."""

    factor: Tensor  # (n,)
    offset: Tensor  # (n,)


class _Levelled(nn.Module):
    """A similarity over embeddings that have their level as two more numbers."""

    quantity = "normalised"
    chords = False

    def __init__(self, similarity: Similarity) -> None:
        super().__init__()
        self.similarity = similarity
        self.symmetric = similarity.symmetric
        self.scale = similarity.scale

    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        scores = self.similarity(a[..., :-2], b[..., :-2])
        return scores * (a[..., -2] + b[..., -2]) - a[..., -1] - b[..., -1]

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        return _LevelledBlocks(self.similarity).score_all(a, b)

    def frozen(self, a: Tensor, b: Tensor) -> Scorer:
        """The scorer of all blocks of a and b: this with a frozen similarity."""
        return _LevelledBlocks(ready(self.similarity, a[:, :-2], b[:, :-2]))

    def pair_bytes(self, dimension: int) -> int:
        return self.similarity.pair_bytes(dimension - 2) + 4


class _LevelledBlocks(NamedTuple):
    """Scores of blocks of such embeddings."""

    scorer: Scorer

    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d + 2), (m, d + 2) -> (n, m)."""
        scores = self.scorer.score_all(a[:, :-2], b[:, :-2])
        return scores * (a[:, -2, None] + b[:, -2]) - a[:, -1, None] - b[:, -1]
