"""What every similarity promises, checked on all of them; a new one is covered by joining a list.

Each is tried with its defaults and with every argument set to something else.
"""

import copy
import inspect
import itertools
import json

import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

from samekind import parts, similarities
from samekind.similarities import Dot, FixedScale, LearnedScale, blocks, score_all

DIMENSION = 5

# One possible value for each argument that any similarity has, and none of them a default.
OTHER = {
    "bias": True,
    "centre": True,
    "clip": 0.125,
    "curvature": 0.5,
    "depth": 3,
    "dimension": DIMENSION,
    "dropout": 0.5,
    "epsilon": 1e-6,
    "form": "as",
    "hidden": 7,
    "iterations": 3,
    "method": "likelihood",
    "neighbours": 3,
    "normalise": True,
    "p": 3.0,
    "rank": 4,
    "scale": LearnedScale(5.0),
    "shrinkage": 0.25,
    "similarity": Dot(),
    "size": 6,
    "slope": 0.3,
}

# Where an item's copy need not score highest: a longer vector has the larger inner product, and a network
# may learn anything.
COPY_NEED_NOT_WIN = {"CorrectedCosine", "Dot", "Fused", "Neighbourhood", "PairsNetwork"}


@pytest.fixture(params=[*similarities.SIMILARITIES, *similarities.FITTED, "Fused"])
def kind(request):
    return getattr(similarities, request.param)


@pytest.fixture(params=["defaults", "other"])
def similarity(request, kind):
    torch.manual_seed(0)
    return kind(**arguments(kind, request.param)).eval()


def arguments(kind, which):
    """Those it cannot do without, or all of them; its own copies, so that no test sees another's changes."""
    names = [
        name
        for name, parameter in inspect.signature(kind).parameters.items()
        if which == "other" or parameter.default is inspect.Parameter.empty
    ]
    return copy.deepcopy({name: OTHER[name] for name in names})


def some(count, *, seed, dtype=torch.float32):
    return torch.randn(count, DIMENSION, generator=torch.Generator().manual_seed(seed)).to(dtype)


class Largest(TorchDispatchMode):
    """Notes the most bytes that any one tensor made inside has."""

    bytes = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in result if isinstance(result, tuple | list) else [result]:
            if isinstance(tensor, torch.Tensor) and not tensor._is_view():
                self.bytes = max(self.bytes, tensor.numel() * tensor.element_size())
        return result


def test_the_family_is_public():
    assert set(similarities.SIMILARITIES) <= set(similarities.__all__)


def test_stores_its_arguments_under_their_names(kind):
    given = arguments(kind, "other")
    other, plain = kind(**given), kind(**arguments(kind, "defaults"))
    for name, parameter in inspect.signature(kind).parameters.items():
        assert getattr(other, name) == given[name]
        assert parameter.kind is parameter.KEYWORD_ONLY or name == "similarity"
        if parameter.default is not inspect.Parameter.empty and name != "scale":
            assert getattr(plain, name) == parameter.default != OTHER[name]
    assert isinstance(plain.scale, FixedScale)
    assert plain.scale() == 1


def test_says_what_its_scores_are(similarity):
    assert isinstance(similarity.quantity, str)
    assert similarity.quantity
    assert similarity.scale().shape == ()
    assert similarity.scale() > 0


def test_can_be_written_down_and_built_again(similarity):
    description = parts.describe(similarity)
    again = parts.build(json.loads(json.dumps(description)), room="similarities").eval()
    assert type(again) is type(similarity)
    assert parts.describe(again) == description
    again.load_state_dict(similarity.state_dict())
    a, b = some(3, seed=1), some(4, seed=2)
    assert torch.equal(again.score_all(a, b), similarity.score_all(a, b))
    assert again.scale() == similarity.scale()


def test_pairs_are_the_diagonal_of_all_against_all(similarity):
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        scorer = copy.deepcopy(similarity).to(dtype)
        a, b = some(6, seed=1, dtype=dtype), some(6, seed=2, dtype=dtype)
        paired, crossed = scorer(a, b), scorer.score_all(a, b)
        assert paired.shape == (6,)
        assert crossed.shape == (6, 6)
        assert paired.dtype == crossed.dtype == dtype
        rough = {"atol": 0.03, "rtol": 0.03} if dtype == torch.bfloat16 else {}
        torch.testing.assert_close(paired, crossed.diagonal(), **rough)


def test_all_against_all_is_every_pair_in_turn(similarity):
    similarity = similarity.double()
    a, b = some(4, seed=1, dtype=torch.double), some(3, seed=2, dtype=torch.double)
    one_by_one = [[similarity(x[None], y[None]).item() for y in b] for x in a]
    expected = torch.tensor(one_by_one, dtype=torch.double)
    torch.testing.assert_close(similarity.score_all(a, b), expected)
    assert len(expected.unique()) == 12  # a constant would agree with anything


def test_leaves_its_arguments_alone(similarity):
    a, b = some(4, seed=1), some(4, seed=2)
    before = a.clone(), b.clone()
    similarity(a, b)
    similarity.score_all(a, b)
    assert torch.equal(a, before[0])
    assert torch.equal(b, before[1])


def test_no_items_give_no_scores(similarity):
    for rows, columns in [(0, 3), (3, 0), (0, 0)]:
        a, b = some(rows, seed=1), some(columns, seed=2)
        assert similarity.score_all(a, b).shape == (rows, columns)
        assert score_all(similarity, a, b).shape == (rows, columns)
        assert list(blocks(similarity, a, b)) == []
        assert similarity(a[:0], b[:0]).shape == (0,)


def test_blocks_have_every_pair_once_in_order_and_within_the_budget(similarity):
    """The budget is given in pairs here; half a pair is too small, and a block has one pair at least."""
    sizes = [(1, 1), (1, 9), (9, 1), (5, 8), (8, 5)]
    for pairs, (rows, columns) in itertools.product([0.5, 1, 7, 10_000], sizes):
        budget = int(pairs * similarity.pair_bytes(DIMENSION))
        a, b = some(rows, seed=1), some(columns, seed=2)
        expected, visits, corners = similarity.score_all(a, b), torch.zeros(rows, columns), []
        for down, across, block in blocks(similarity, a, b, memory_budget=budget):
            assert 1 <= block.numel() <= max(1, pairs)
            torch.testing.assert_close(block, expected[down, across])
            visits[down, across] += 1
            corners.append((down.start, across.start))
        assert (visits == 1).all()
        assert corners == sorted(corners)
        torch.testing.assert_close(score_all(similarity, a, b, memory_budget=budget), expected)


def test_one_pair_takes_no_more_than_it_says(similarity):
    rows, columns = 40, 30
    a, b = some(rows, seed=1), some(columns, seed=2)
    with torch.no_grad(), Largest() as largest:
        similarity.score_all(a, b)
    assert rows * columns * 4 <= largest.bytes <= rows * columns * similarity.pair_bytes(DIMENSION)


def test_the_gradient_reaches_both_sides_by_either_way(similarity):
    for score in (
        similarity,
        similarity.score_all,
        lambda a, b: score_all(similarity, a, b, memory_budget=64),
    ):
        a, b = some(4, seed=1).requires_grad_(), some(4, seed=2).requires_grad_()
        scores = score(a, b)
        (scores * torch.randn(scores.shape, generator=torch.Generator().manual_seed(3))).sum().backward()
        assert (a.grad.abs().sum(1) > 0).all()
        assert (b.grad.abs().sum(1) > 0).all()


def test_has_the_gradient_it_claims(similarity):
    similarity = similarity.double()
    a = some(3, seed=1, dtype=torch.double).requires_grad_()
    b = some(3, seed=2, dtype=torch.double).requires_grad_()
    assert torch.autograd.gradcheck(similarity, (a, b))
    assert torch.autograd.gradcheck(similarity.score_all, (a, b))


def test_has_the_second_derivatives_of_its_gradient(similarity):
    """A gradient that autograd cannot follow would silently give zeros. Two pairs are close together."""
    similarity = similarity.double()
    b = some(3, seed=2, dtype=torch.double)
    a = torch.cat([some(2, seed=1, dtype=torch.double), b[:2] + 0.01 * some(2, seed=3, dtype=torch.double)])
    for score in (similarity.score_all, lambda a, b: similarity(a[1:], b)):
        for seed in range(3):
            weights = torch.randn(4, 3, dtype=torch.double, generator=torch.Generator().manual_seed(seed))

            def total(a, b, score=score, weights=weights):
                scores = score(a, b)
                return (scores * (weights if scores.dim() == 2 else weights[0])).sum()

            directions = (
                some(4, seed=seed + 4, dtype=torch.double),
                some(3, seed=seed + 8, dtype=torch.double),
            )
            _, products = torch.autograd.functional.vhp(total, (a, b), directions)
            ahead, behind = (
                torch.autograd.functional.jacobian(
                    total, tuple(x + sign * 1e-6 * way for x, way in zip((a, b), directions, strict=True))
                )
                for sign in (1, -1)
            )
            for product, up, down in zip(products, ahead, behind, strict=True):
                torch.testing.assert_close(product, (up - down) / 2e-6, rtol=1e-4, atol=1e-4)


def test_goes_through_the_transforms_of_torch_func(similarity):
    """Scores and gradients of two batches at once, as one by one."""
    similarity = similarity.double()
    several, b = (
        some(6, seed=1, dtype=torch.double).view(2, 3, DIMENSION),
        some(4, seed=2, dtype=torch.double),
    )
    weights = torch.randn(3, 4, dtype=torch.double, generator=torch.Generator().manual_seed(3))

    def total(a):
        return (similarity.score_all(a, b) * weights).sum()

    scores = torch.vmap(lambda a: similarity.score_all(a, b))(several)
    torch.testing.assert_close(scores, torch.stack([similarity.score_all(a, b) for a in several]))
    leaves = [a.clone().requires_grad_() for a in several]
    expected = torch.stack([torch.autograd.grad(total(a), a)[0] for a in leaves])
    torch.testing.assert_close(torch.vmap(torch.func.grad(total))(several), expected)


def test_copies_and_zero_vectors_have_finite_scores_and_gradients(similarity):
    """A batch against itself has every item's copy in it, and a dead encoder gives zeros."""
    for dtype, method in itertools.product([torch.float32, torch.bfloat16], ["forward", "score_all"]):
        items = some(5, seed=1, dtype=dtype)
        items[3:] = 0
        score = getattr(copy.deepcopy(similarity).to(dtype), method)
        a, b = items.clone().requires_grad_(), items.clone().requires_grad_()
        scores = score(a, b)
        assert scores.isfinite().all()
        scores.sum().backward()
        assert a.grad.isfinite().all()
        assert b.grad.isfinite().all()


def test_zero_vectors_score_in_half_precision_what_they_score_in_full(similarity):
    """float16 has no number as small as the one that keeps a length from being 0."""
    items = some(5, seed=1)
    items[3:] = 0
    for score in ("forward", "score_all"):
        full = getattr(similarity.float(), score)(items, items)
        half = getattr(similarity.half(), score)(items.half(), items.half())
        assert half.dtype == torch.float16
        torch.testing.assert_close(half.float(), full, atol=0.02, rtol=0.01)


def test_nothing_is_closer_than_a_copy(similarity):
    if type(similarity).__name__ in COPY_NEED_NOT_WIN:
        return
    items = some(8, seed=1, dtype=torch.double)
    scores = similarity.double().score_all(items, items)
    apart = ~torch.eye(8, dtype=torch.bool)
    assert (scores.diagonal()[:, None] > scores)[apart].all()


def test_follows_to_another_precision(similarity):
    for name, tensor in similarity.double().state_dict().items():
        assert tensor.dtype == torch.double, name
    a, b = some(2, seed=1, dtype=torch.double), some(3, seed=2, dtype=torch.double)
    assert similarity.score_all(a, b).dtype == torch.double


def test_says_whether_the_order_of_the_two_matters(similarity):
    """Not only at first: once its weights have moved."""
    torch.manual_seed(2)
    with torch.no_grad():
        for parameter in similarity.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    a, b = some(5, seed=0), some(4, seed=1)
    forward, reverse = similarity.score_all(a, b), similarity.score_all(b, a).T
    assert torch.allclose(forward, reverse, rtol=1e-5, atol=1e-5) == similarity.symmetric


def test_says_whether_its_distances_are_chords(similarity):
    """By what its kind then makes of the chord, the longest of which is 2."""
    z = torch.randn(6, DIMENSION, generator=torch.Generator().manual_seed(3))
    a, b = z[:3], z[3:]
    chord = (torch.nn.functional.normalize(a) - torch.nn.functional.normalize(b)).norm(dim=1)
    expected = {"negative distance": -chord, "log-distance": -chord.log()}.get(similarity.quantity)
    is_chord = expected is not None and torch.allclose(similarity(a, b), expected, atol=1e-4)
    assert similarity.chords == is_chord
