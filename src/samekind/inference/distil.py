"""A similarity distilled into an inner product: where in an index its nearest lie.

An index finds the vectors nearest to a point; the learned similarity's favourites of a query lie elsewhere
than around the query itself. A small map of the query, fitted on sampled pairs, moves it there: the inner
product of the mapped query and a stored vector then stands for the similarity. A linear map of the stored
side could always be moved to the query's, so the stored vectors stay as they are and any index serves.

The loss is the listwise one of Cao et al., "Learning to Rank: From Pairwise Approach to Listwise Approach",
ICML 2007, where the first few of a list count, all alike, and the scores of the others do not.
"""

import base64
import binascii
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Self

import safetensors.torch
import torch
import torch.nn.functional as F
from safetensors import SafetensorError
from torch import Tensor, nn

from samekind.errors import SettingError, SpaceError
from samekind.index.contract import Score
from samekind.similarities import Similarity, score_all
from samekind.similarities.distances import unit_vectors

HIDDEN = 256
#: Weights of a map at most, so that it stays a note in the header of an index.
MOST_WEIGHTS = 2**18
SLOPE = 0.1
SHARPNESS = 20.0  # of the softmax over cosines
BATCH = 64
#: How often the index is asked what it finds at the mapped queries, and for how many.
ROUNDS, NEARBY = 3, 32
#: Numbers of all that is found then, at most; two bytes each.
MOST_NUMBERS = 2**27

#: A feature is divided by its deviation in the sample, or by this part of a typical one if that is more: a
#: unit that was silent there would else drown all others as soon as a query has it.
LEAST_DEVIATION = 0.3

#: What an index finds at points (n, d) that it has not given yet, so many for each: (n, count, d).
Near = Callable[[Tensor, int], Tensor]


class QueryMap(nn.Module):
    """A query (n, d) to the point (n, d) an index is searched at: the query moved by one hidden layer.

    Fresh, it moves nothing. ``score`` is that of the index: for the cosine the query is put on the sphere
    first, where the stored vectors are compared.
    """

    def __init__(self, *, dimension: int, hidden: int = HIDDEN, score: Score = "cosine") -> None:
        super().__init__()
        self.dimension = dimension
        self.hidden = hidden
        self.score: Score = score
        # Without the draws of a fresh layer: a search must not touch the global generator.
        self.first: nn.Linear = nn.utils.skip_init(nn.Linear, dimension, hidden)  # type: ignore[no-untyped-call]
        self.last: nn.Linear = nn.utils.skip_init(nn.Linear, hidden, dimension)  # type: ignore[no-untyped-call]
        for each in self.parameters():
            nn.init.zeros_(each)
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
        """The map as JSON has it; its weights in half precision, as `distil` rounds them."""
        weights = {name: each.detach().cpu().contiguous() for name, each in self.state_dict().items()}
        for name in ("first.weight", "last.weight"):
            weights[name] = weights[name].half()
        content = base64.b64encode(safetensors.torch.save(weights)).decode()
        return {"dimension": self.dimension, "hidden": self.hidden, "score": self.score, "weights": content}

    @classmethod
    def from_note(cls, note: Mapping[str, Any]) -> Self:
        """The map that `to_note` wrote, in evaluation mode; anything else is refused."""
        try:
            made = cls(dimension=note["dimension"], hidden=note["hidden"], score=note["score"])
            made.load_state_dict(_decoded(note["weights"]))
        except (KeyError, TypeError, ValueError, RuntimeError, binascii.Error, SafetensorError) as error:
            wrong = " ".join(str(error).split())
            raise SpaceError(
                f"the index is damaged: its map of queries cannot be read ({wrong}); make the index again"
            ) from error
        return made.requires_grad_(False).eval()


@lru_cache(maxsize=8)
def _decoded(text: str) -> dict[str, Tensor]:
    """The weights in a note. Kept, because every search of an index looks at its note."""
    weights = safetensors.torch.load(base64.b64decode(text, validate=True))
    return {name: each.float() for name, each in weights.items()}


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
    """Fit a map on a sample (n, d) of what is stored, so that a search by the index's ``score`` at the mapped
    query comes upon what the ``scorer``, given the query first, ranks highest.

    Every vector of the sample is a query, and the first ``shared`` of them are what each is compared with:
    that many times n pairs are scored, and none finds itself. Only which are the ``top`` of each matters,
    not their scores, so that similarities of any scale can be distilled. In a large index a sample is too
    thin to hold what matters: ``near`` then tells, a few times while the map is fitted, what the index finds
    where the map points, and is compared as well. None ``steps`` are as many as the sample is good for: more
    of them learn the few queries by heart.
    """
    if vectors.ndim != 2 or min(len(vectors), shared) <= top + 1:
        raise SettingError(
            f"expected more than {top + 1} vectors (n, d) to distil from, got {tuple(vectors.shape)}"
        )
    dimension, rounds = vectors.shape[1], ROUNDS if near is not None else 1
    steps = steps or min(1000, max(200, len(vectors) // 4))
    count = min(NEARBY, MOST_NUMBERS // (len(vectors) * rounds * dimension))
    found = vectors.new_empty(len(vectors), 0, dimension, dtype=torch.float16)
    with torch.no_grad():
        taught = score_all(scorer, vectors, vectors[:shared])
    taught.fill_diagonal_(-torch.inf)
    made = _fresh(
        vectors, hidden=max(1, min(hidden, MOST_WEIGHTS // (2 * dimension))), score=score, seed=seed
    )
    fitting = _Fitting(made, vectors, vectors[:shared], steps=steps, rate=rate, seed=seed)
    for done in range(rounds):
        if near is not None and count:
            with torch.no_grad():
                more = near(made(vectors), count).to(vectors)
                scores = [
                    score_all(scorer, one[None], its)[0] for one, its in zip(vectors, more, strict=True)
                ]
            found = torch.cat([found, made.stored(more).div(made.unit).half()], dim=1)
            taught = torch.cat([taught, torch.stack(scores)], dim=1)
        with torch.enable_grad():
            fitting.go_on(found, taught.topk(top, dim=1).indices, until=steps * (done + 1) // rounds)
    for layer in (made.first, made.last):
        layer.weight.data = layer.weight.data.half().float()  # as they are stored: what is measured is used
    return made.requires_grad_(False).eval()


def _fresh(vectors: Tensor, *, hidden: int, score: Score, seed: int) -> QueryMap:
    made = QueryMap(dimension=vectors.shape[1], hidden=hidden, score=score).to(vectors.device)
    generator = torch.Generator().manual_seed(seed)
    reach = vectors.shape[1] ** -0.5
    for each in (made.first.weight, made.first.bias):
        each.data = torch.empty(each.shape).uniform_(-reach, reach, generator=generator).to(vectors.device)
    made.mean = vectors.mean(0)
    deviation = vectors.std(0)
    typical = deviation.square().mean().sqrt()
    made.deviation = deviation.clamp(min=LEAST_DEVIATION * typical) if typical else torch.ones_like(deviation)
    made.unit = made.stored(vectors).norm(dim=1).mean().clamp(min=1e-6)
    return made


class _Fitting:
    """Adam on the likelihood of the wanted in a softmax over what is shared and what each query found."""

    def __init__(
        self, made: QueryMap, queries: Tensor, shared: Tensor, *, steps: int, rate: float, seed: int
    ) -> None:
        self.made, self.queries, self.step = made, queries, 0
        self.items = made.stored(shared)
        self.generator = torch.Generator().manual_seed(seed)
        self.optimiser = torch.optim.Adam(made.parameters(), lr=rate)
        self.schedule = torch.optim.lr_scheduler.CosineAnnealingLR(self.optimiser, steps)

    def go_on(self, found: Tensor, wanted: Tensor, *, until: int) -> None:
        """``found`` (queries, m, d), as the index compares them and in its unit, follow what is shared;
        ``wanted`` (queries, top) are places in both.
        """
        for _ in range(until - self.step):
            asked = torch.randperm(len(wanted), generator=self.generator)[:BATCH].to(wanted.device)
            points = self.made(self.queries[asked])
            itself = asked[:, None] == torch.arange(len(self.items), device=asked.device)
            among = self._scores(points, self.items).masked_fill(itself, -torch.inf)
            nearby = self._scores(points[:, None], found[asked].to(points) * self.made.unit).squeeze(1)
            likelihood = torch.cat([among, nearby], dim=1).log_softmax(1).gather(1, wanted[asked])
            self.optimiser.zero_grad()
            torch.autograd.backward(-likelihood.mean())
            self.optimiser.step()
            self.schedule.step()
        self.step = until

    def _scores(self, points: Tensor, items: Tensor) -> Tensor:
        """Points (…, n, d) and items (…, m, d) to (…, n, m), sharp enough for a softmax."""
        scores = points @ items.mT
        if self.made.score == "euclidean":
            # A distance is an inner product less half a square that belongs to the stored vector.
            scores = scores - items.square().sum(-1).unsqueeze(-2) / 2
        return SHARPNESS / self.made.unit.square() * scores
