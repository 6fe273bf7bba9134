"""Every loss over real embeddings at their worst: finite, with a finite gradient for every vector."""

import inspect
import itertools

import pytest
import torch

from samekind import losses, similarities
from samekind.losses.lineage import Lineage
from samekind.pairs import class_masks, pair_masks

# A similarity for each kind of score, by name.
GIVERS = {
    "cosine": lambda: similarities.Cosine(),
    "inner product": lambda: similarities.Dot(bias=True),
    "negative distance": lambda: similarities.Euclidean(normalise=True),
    "log-distance": lambda: similarities.LogDistance(),
    "logit": lambda: similarities.PairsNetwork(dimension=4, hidden=8),
}
SMALL, LARGE = 1e-4, 1e4


def batches():
    """Embeddings (n, 4) and labels (n,), each hard in its own way."""
    torch.manual_seed(0)
    some, labels = torch.randn(8, 4), torch.tensor([0, 0, 0, 1, 1, 2, 2, 3])
    twins = some[:2].repeat(4, 1)
    return {
        "exact matches": (some[labels], labels),
        "antipodes": (torch.cat([some[:4], -some[:4]]), labels),
        "duplicates": (twins, labels),
        "zero vectors": (torch.zeros(8, 4), labels),
        "one class": (some, torch.zeros(8, dtype=torch.long)),
        "all alone": (some, torch.arange(8)),
        "tiny": (SMALL * some, labels),
        "huge": (LARGE * some, labels),
    }


BATCHES = batches()


def scored(loss, kind, case, against, dtype):
    """The shares of a loss on a batch scored by this kind, and the vectors that have a gradient."""
    z, labels = BATCHES[case]
    z = z.to(dtype, copy=True).requires_grad_()
    torch.manual_seed(1)
    similarity = GIVERS[kind]().to(dtype)
    candidates = z if against == "batch" else torch.randn(8, 4).to(dtype).requires_grad_()
    masks = pair_masks(labels) if against == "batch" else class_masks(labels, 8)
    handed = {}
    if "between" in inspect.signature(loss).parameters:
        owners = labels if against == "batch" else torch.arange(8)
        same = owners[:, None] == owners
        handed["between"] = similarity.score_all(candidates, candidates).masked_fill(same, -torch.inf)
    handed |= in_a_tree(loss)
    return loss(similarity.score_all(z, candidates), *masks, **handed), [z, candidates]


def in_a_tree(loss):
    """What a loss asks for about the tree of eight candidates: four and four."""
    known = {
        "lineage": Lineage.of([-1, 0, 0, *[1] * 4, *[2] * 4], range(3, 11)),
        "distances": 4.0
        - 2 * torch.eye(2).repeat_interleave(4, 0).repeat_interleave(4, 1)
        - 2 * torch.eye(8),
    }
    return {name: value for name, value in known.items() if name in inspect.signature(loss).parameters}


@pytest.mark.parametrize("name", losses.__all__)
def test_is_finite_and_so_is_its_gradient(name):
    offences = []
    kinds = losses.ACCEPTS.get(name, tuple(GIVERS))
    precisions, against = (torch.float32, torch.bfloat16), ("batch", "prototypes")
    for kind, case, candidates, dtype in itertools.product(kinds, BATCHES, against, precisions):
        shares, vectors = scored(getattr(losses, name), kind, case, candidates, dtype)
        gradients = torch.autograd.grad(shares.sum(), vectors, allow_unused=True)
        if not all(part is None or part.isfinite().all() for part in (shares, *gradients)):
            offences.append((kind, case, candidates, dtype, shares, gradients))
    assert offences == []


@pytest.mark.parametrize(
    "name",
    [name for name in losses.__all__ if "scale" in inspect.signature(getattr(losses, name)).parameters],
)
def test_is_finite_at_any_scale(name):
    vectors, labels = BATCHES["antipodes"]
    for scale in (SMALL, LARGE):
        z, factor = vectors.clone().requires_grad_(), torch.tensor(scale, requires_grad=True)
        scores = similarities.Cosine().score_all(z, z)
        shares = getattr(losses, name)(
            scores, *pair_masks(labels), scale=factor, **in_a_tree(getattr(losses, name))
        )
        shares.sum().backward()
        assert shares.isfinite().all()
        assert z.grad.isfinite().all()
        assert factor.grad.isfinite()
