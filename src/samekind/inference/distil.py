"""A similarity distilled into an inner product, so that an index can find its nearest.

An index finds the vectors nearest to a point, but the best matches by a learned similarity lie elsewhere
than around the query. A small map of the query, fitted on sampled pairs, moves it there: the inner product
of the mapped query and a stored vector approximates the similarity. The stored vectors stay as they are, so
any index will do.

The loss is the listwise one of Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach",
ICML 2007, with the first few of a list as equal targets.
"""

import base64
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Self

import safetensors.torch
import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from torch import Tensor, nn

from samekind.archive import NoLargerThan
from samekind.errors import SettingError, SpaceError
from samekind.index.contract import Score
from samekind.settings import typed
from samekind.similarities import Similarity, score_all
from samekind.similarities.distances import unit_vectors

HIDDEN = 256
#: The most weights of a map, which is stored in the header of an index.
MOST_WEIGHTS = 2**18
SLOPE = 0.1
SHARPNESS = 20.0  # of the softmax over cosines
BATCH = 64
#: How often the index is searched at the mapped queries, and for how many vectors.
ROUNDS, NEARBY = 3, 32
#: The most numbers of all these vectors together; two bytes each.
MOST_NUMBERS = 2**27

#: A feature is divided by its deviation in the sample, or by this part of a typical one if that is more:
#: otherwise a feature that hardly varies there would dominate as soon as a query has it.
LEAST_DEVIATION = 0.3

#: Searches an index at points (n, d) for vectors that it has not given yet: (n, count, d).
Near = Callable[[Tensor, int], Tensor]


class QueryMap(nn.Module):
    """A query (n, d) to the point (n, d) an index is searched at: the query moved by one hidden layer.

    A fresh map moves nothing. ``score`` is that of the index: for the cosine the query is normalised first,
    as the stored vectors are.
    """

    def __init__(self, *, dimension: int, hidden: int = HIDDEN, score: Score = "cosine") -> None:
        super().__init__()
        self.dimension = dimension
        self.hidden = hidden
        self.score: Score = score
        # Without random weights: a search must not change the global generator.
        self.first: nn.Linear = nn.utils.skip_init(nn.Linear, dimension, hidden)  # type: ignore[no-untyped-call]
        self.last: nn.Linear = nn.utils.skip_init(nn.Linear, hidden, dimension)  # type: ignore[no-untyped-call]
        for parameter in self.parameters():
            nn.init.zeros_(parameter)
        self.mean: Tensor
        self.deviation: Tensor
        self.unit: Tensor  # the length of a stored vector as the index sees it, on average
        self.register_buffer("mean", torch.zeros(dimension))
        self.register_buffer("deviation", torch.ones(dimension))
        self.register_buffer("unit", torch.ones(()))

    def forward(self, z: Tensor) -> Tensor:
        hidden = F.leaky_relu(self.first((z - self.mean) / self.deviation), SLOPE)
        moved: Tensor = self.stored(z) + self.unit * self.last(hidden)
        return moved

    def stored(self, z: Tensor) -> Tensor:
        """Vectors as the index compares them."""
        return unit_vectors(z) if self.score == "cosine" else z

    def to_note(self) -> dict[str, Any]:
        """The map as JSON, its weights in half precision, as `distil` rounds them."""
        weights = {name: tensor.detach().cpu().contiguous() for name, tensor in self.state_dict().items()}
        for name in ("first.weight", "last.weight"):
            weights[name] = weights[name].half()
        content = base64.b64encode(safetensors.torch.save(weights)).decode()
        return {"dimension": self.dimension, "hidden": self.hidden, "score": self.score, "weights": content}

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> Self:
        """The map that `to_note` wrote, in evaluation mode. Raises SpaceError for anything else."""
        try:
            weights, score = _decoded(note["weights"]), typed(Score, note["score"], "score")
            with NoLargerThan(weights):
                query_map = cls(dimension=note["dimension"], hidden=note["hidden"], score=score)
            query_map.load_state_dict(weights)
        except (KeyError, TypeError, ValueError, RuntimeError, SafetensorError, SettingError) as error:
            wrong = " ".join(str(error).split())
            raise SpaceError(
                f"the index is damaged: its map of queries cannot be read ({wrong}); make the index again"
            ) from error
        return query_map.requires_grad_(False).eval()


@lru_cache(maxsize=8)
def _decoded(text: str) -> dict[str, Tensor]:
    """The weights in a note; cached, because every search of an index reads its note."""
    weights = safetensors.torch.load(base64.b64decode(text, validate=True))
    return {name: tensor.float() for name, tensor in weights.items()}


def distil(
    scorer: Similarity,
    vectors: Tensor,
    *,
    near: Near | None = None,
    score: Score = "cosine",
    shared: int = 1000,
    top: int = 10,
    hidden: int = HIDDEN,
    steps: int | None = None,
    rate: float = 2e-3,
    seed: int = 0,
) -> QueryMap:
    """Fit a map on a sample (n, d) of the stored vectors, so that a search by the index's ``score`` at the
    mapped query finds what the ``scorer``, with the query as first argument, ranks highest.

    Every vector of the sample is a query, compared with the first ``shared`` of them but itself: shared
    times n pairs are scored. Only the ``top`` of each count, not their scores, so similarities of any scale
    can be distilled. In a large index a sample is too sparse: ``near`` then gives, a few times during the
    fit, what the index finds at the mapped queries, which is compared as well. The default number of
    ``steps`` depends on the sample; more would overfit.
    """
    if vectors.ndim != 2 or min(len(vectors), shared) <= top + 1:
        raise SettingError(
            f"expected more than {top + 1} vectors (n, d) to distil from, got {tuple(vectors.shape)}"
        )
    dimension, rounds = vectors.shape[1], ROUNDS if near is not None else 1
    steps = steps or min(1000, max(200, len(vectors) // 4))
    count = min(NEARBY, MOST_NUMBERS // (len(vectors) * rounds * dimension))
    nearby = vectors.new_empty(len(vectors), 0, dimension, dtype=torch.float16)
    targets = _targets(scorer, vectors, shared)
    hidden = max(1, min(hidden, MOST_WEIGHTS // (2 * dimension)))
    query_map = _fresh(vectors, hidden=hidden, score=score, seed=seed)
    fitting = _Fitting(query_map, vectors, vectors[:shared], steps=steps, rate=rate, seed=seed)
    for done in range(rounds):
        if near is not None and count:
            more, scores = _scored_nearby(scorer, query_map, vectors, near, count)
            nearby = torch.cat([nearby, query_map.stored(more).div(query_map.unit).half()], dim=1)
            targets = torch.cat([targets, scores], dim=1)
        with torch.enable_grad():
            fitting.go_on(nearby, targets.topk(top, dim=1).indices, until=steps * (done + 1) // rounds)
    for layer in (query_map.first, query_map.last):
        layer.weight.data = layer.weight.data.half().float()  # as they are stored
    return query_map.requires_grad_(False).eval()


@torch.no_grad()
def _targets(scorer: Similarity, vectors: Tensor, shared: int) -> Tensor:
    """The scores of all vectors with the first ``shared`` of them, each with itself left out."""
    return score_all(scorer, vectors, vectors[:shared]).fill_diagonal_(-torch.inf)


@torch.no_grad()
def _scored_nearby(
    scorer: Similarity, query_map: QueryMap, vectors: Tensor, near: Near, count: int
) -> tuple[Tensor, Tensor]:
    """The ``count`` vectors that the index finds at each mapped query, (n, count, d), and their scores."""
    more = near(query_map(vectors), count).to(vectors)
    scores = [score_all(scorer, query[None], own)[0] for query, own in zip(vectors, more, strict=True)]
    return more, torch.stack(scores)


def _fresh(vectors: Tensor, *, hidden: int, score: Score, seed: int) -> QueryMap:
    query_map = QueryMap(dimension=vectors.shape[1], hidden=hidden, score=score).to(vectors.device)
    generator = torch.Generator().manual_seed(seed)
    bound = vectors.shape[1] ** -0.5
    for tensor in (query_map.first.weight, query_map.first.bias):
        start = torch.empty(tensor.shape).uniform_(-bound, bound, generator=generator)
        tensor.data = start.to(vectors.device)
    query_map.mean = vectors.mean(0)
    deviation = vectors.std(0)
    typical = deviation.square().mean().sqrt()
    least = LEAST_DEVIATION * typical
    query_map.deviation = deviation.clamp(min=least) if typical else torch.ones_like(deviation)
    query_map.unit = query_map.stored(vectors).norm(dim=1).mean().clamp(min=1e-6)
    return query_map


class _Fitting:
    """Adam on the likelihood of the best in a softmax over the shared vectors and those near each query."""

    def __init__(
        self, query_map: QueryMap, queries: Tensor, shared: Tensor, *, steps: int, rate: float, seed: int
    ) -> None:
        self.query_map, self.queries, self.step = query_map, queries, 0
        self.items = query_map.stored(shared)
        self.generator = torch.Generator().manual_seed(seed)
        self.optimiser = torch.optim.Adam(query_map.parameters(), lr=rate)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimiser, steps)

    def go_on(self, nearby: Tensor, best: Tensor, *, until: int) -> None:
        """Steps with the vectors near each query (queries, m, d), as the index compares them and in its unit.
        ``best`` (queries, top) are places among the shared vectors followed by these.
        """
        for _ in range(until - self.step):
            batch = torch.randperm(len(best), generator=self.generator)[:BATCH].to(best.device)
            points = self.query_map(self.queries[batch])
            itself = batch[:, None] == torch.arange(len(self.items), device=batch.device)
            shared = self._scores(points, self.items).masked_fill(itself, -torch.inf)
            own = self._scores(points[:, None], nearby[batch].to(points) * self.query_map.unit).squeeze(1)
            likelihood = torch.cat([shared, own], dim=1).log_softmax(1).gather(1, best[batch])
            self.optimiser.zero_grad()
            torch.autograd.backward(-likelihood.mean())
            self.optimiser.step()
            self.schedule.step()
        self.step = until

    def _scores(self, points: Tensor, items: Tensor) -> Tensor:
        """Points (…, n, d) and items (…, m, d) to (…, n, m), sharp enough for a softmax."""
        scores = points @ items.mT
        if self.query_map.score == "euclidean":
            # The order by distance is that of the inner product less half the square of the stored vector.
            scores = scores - items.square().sum(-1).unsqueeze(-2) / 2
        return SHARPNESS / self.query_map.unit.square() * scores
