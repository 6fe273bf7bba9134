"""Recomputed gradients against autograd's on the concatenation, and against finite differences."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode

from samekind.errors import SettingError
from samekind.similarities import Fused, PairsNetwork, recomputed, score_all
from samekind.similarities.pairs_network import concatenated
from samekind.similarities.recomputed import recomputed_scores, worth_recomputing

DIMENSION = 5


@pytest.fixture(autouse=True)
def always(monkeypatch):
    """However few pairs, they are recomputed, seven at a time."""
    monkeypatch.setitem(recomputed.KEPT_BYTES, "cpu", -1)
    monkeypatch.setitem(recomputed.BLOCK_BYTES, "cpu", 7 * 8 * 6 * 5)


def network(*, seed=0, **arguments):
    torch.manual_seed(seed)
    arguments = {"hidden": 6, "depth": 3, "dropout": 0.0, **arguments}
    return PairsNetwork(dimension=DIMENSION, **arguments).double()


def some(count, *, seed=1, dtype=torch.double, width=DIMENSION):
    return torch.randn(count, width, generator=torch.Generator().manual_seed(seed)).to(dtype)


def gradients(score, a, b, parameters, *, seed=3):
    """Of a weighted sum of the scores, by everything that needs one."""
    scores = score(a, b)
    pull = some(len(a), width=len(b), seed=seed).to(scores.dtype)
    target = [value for value in (a, b, *parameters) if value.requires_grad]
    return scores, torch.autograd.grad((pull * scores).sum(), target)


def both(similarity, a, b):
    parameters = list(similarity.parameters())
    actual = gradients(similarity.score_all, a, b, parameters)
    assert type(actual[0].grad_fn).__name__.startswith("_Recomputed")
    return actual, gradients(lambda a, b: concatenated(similarity, a, b), a, b, parameters)


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("slope", [0.1, 0.0, 0.7])
def test_scores_and_gradients_are_those_of_the_concatenation(depth, slope):
    similarity = network(depth=depth, slope=slope)
    for rows, columns in [(5, 9), (1, 8), (8, 1), (1, 1), (13, 40)]:
        a, b = some(rows).requires_grad_(), some(columns, seed=2).requires_grad_()
        (scores, gradient), (expected, plain_gradient) = both(similarity, a, b)
        torch.testing.assert_close(scores, expected)
        torch.testing.assert_close(gradient, plain_gradient)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.integers(1, 9),
    columns=st.integers(1, 9),
    block_pairs=st.integers(1, 90),
    hidden=st.integers(1, 5),
    depth=st.integers(1, 4),
)
def test_the_size_of_the_blocks_changes_nothing(rows, columns, block_pairs, hidden, depth):
    similarity = network(hidden=hidden, depth=depth)
    first, second = some(rows, width=hidden), some(columns, width=hidden, seed=2)
    result = [
        gradients(
            lambda a, b, pairs=pairs: recomputed_scores(
                a, b, list(similarity.layers), similarity.last, slope=0.1, block_pairs=pairs
            ),
            first.requires_grad_(),
            second.requires_grad_(),
            [
                parameter
                for layer in [*similarity.layers, similarity.last]
                for parameter in layer.parameters()
            ],
        )
        for pairs in (block_pairs, rows * columns)
    ]
    torch.testing.assert_close(result[0], result[1])


@pytest.mark.parametrize("depth", [1, 2, 4])
@pytest.mark.parametrize("dropout", [0.0, 0.4])
def test_has_the_gradient_it_claims(depth, dropout):
    """By finite differences: with dropout they see the mask of the forward pass, the gradient backward's."""
    similarity = network(depth=depth, dropout=dropout, hidden=4).train()
    a, b = some(3).requires_grad_(), some(4, seed=2).requires_grad_()

    def scores(a, b, *_parameters):
        torch.manual_seed(7)
        return similarity.score_all(a, b)

    # The differences change the parameters in place, so that the network sees them.
    assert torch.autograd.gradcheck(scores, (a, b, *similarity.parameters()))


@pytest.mark.parametrize("frozen", ["a", "b", "both", "layers", "last", "all but one bias"])
def test_what_needs_no_gradient_gets_none_and_the_rest_is_right(frozen):
    similarity = network()
    a, b = some(4).requires_grad_(frozen not in ("a", "both")), some(5, seed=2)
    b.requires_grad_(frozen not in ("b", "both"))
    if frozen == "layers":
        similarity.layers.requires_grad_(False)
    if frozen == "last":
        similarity.last.requires_grad_(False)
    if frozen == "all but one bias":
        similarity.requires_grad_(False)
        similarity.layers[0].bias.requires_grad_(True)
    (_, actual), (_, expected) = both(similarity, a, b)
    torch.testing.assert_close(actual, expected)


def test_neither_inputs_nor_the_gradient_need_be_contiguous():
    similarity = network()
    result = []
    for score in (similarity.score_all, lambda a, b: concatenated(similarity, a, b)):
        a, b = some(DIMENSION, width=12).requires_grad_(), some(9, width=10, seed=2).requires_grad_()
        scores = score(a.t()[::2], b[:, ::2])
        cost = scores.t().square()[1:].sum() + scores.sum()  # a strided gradient, and an expanded one
        result.append(torch.autograd.grad(cost, (a, b, *similarity.parameters())))
    torch.testing.assert_close(result[0], result[1])


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (3, 0)])
def test_no_items_have_a_gradient_of_zero(rows, columns):
    similarity = network()
    a, b = some(rows).requires_grad_(), some(columns).requires_grad_()
    scores = similarity.score_all(a, b)
    scores.sum().backward()
    assert scores.shape == (rows, columns)
    for value in (a, b, *similarity.parameters()):
        assert (value.grad == 0).all()


def test_dropout_keeps_each_unit_with_its_probability_and_scales_it_up():
    """One unit, copies of one pair: the bias alone, or the bias and 1/(1 - dropout) of the rest."""
    similarity = network(hidden=1, depth=1, dropout=0.4).train()
    a, b = some(1).expand(40, -1), some(1, seed=2).expand(50, -1)
    with torch.no_grad():
        rest = concatenated(similarity.eval(), a[:1], b[:1]) - similarity.last.bias
    scores = similarity.train().score_all(a, b).detach()
    chosen = (scores - similarity.last.bias.detach()).abs() > 1e-12
    expected = torch.where(chosen, rest / 0.6, 0) + similarity.last.bias
    torch.testing.assert_close(scores, expected.detach())
    assert 0.55 < chosen.double().mean() < 0.65  # 2,000 draws: more than four standard deviations either side
    assert (
        len({tuple(value.tolist()) for value in chosen.unfold(1, 7, 7).reshape(-1, 7)}) > 50
    )  # blocks differ


def test_dropout_follows_the_global_seed_and_only_in_training():
    similarity = network(dropout=0.5, hidden=32).train()
    a, b = some(4), some(5, seed=2)
    torch.manual_seed(0)
    one, other = similarity.score_all(a, b), similarity.score_all(a, b)
    torch.manual_seed(0)
    assert torch.equal(similarity.score_all(a, b), one)
    assert not torch.equal(one, other)
    similarity.eval()
    assert torch.equal(similarity.score_all(a, b), similarity.score_all(a, b))


@pytest.mark.parametrize("depth", [1, 3])
def test_respects_autocast(monkeypatch, depth):
    """Scores in bfloat16, gradients in the parameters' precision, both those of autograd but for rounding."""
    similarity = network(hidden=32, depth=depth).float()
    result = []
    for limit in (-1, 2**30):
        monkeypatch.setitem(recomputed.KEPT_BYTES, "cpu", limit)
        a, b = some(12, dtype=torch.float).requires_grad_(), some(20, dtype=torch.float, seed=2)
        with torch.autocast("cpu", dtype=torch.bfloat16):
            result.append(gradients(similarity.score_all, a, b.requires_grad_(), similarity.parameters()))
    (scores, actual), (plain, expected) = result
    assert scores.dtype == plain.dtype == torch.bfloat16
    torch.testing.assert_close(scores, plain)
    for one, other in zip(actual, expected, strict=True):
        assert one.dtype == other.dtype == torch.float32
        assert (one - other).norm() < 0.03 * other.norm()


def test_follows_the_precision_of_the_network():
    similarity = network(hidden=16).bfloat16()
    a, b = some(6, dtype=torch.bfloat16).requires_grad_(), some(7, dtype=torch.bfloat16, seed=2)
    scores = similarity.score_all(a, b)
    scores.sum().backward()
    assert scores.dtype == a.grad.dtype == similarity.layers[0].weight.grad.dtype == torch.bfloat16


def test_refuses_to_be_differentiated_twice():
    similarity = network()
    a, b = some(3).requires_grad_(), some(4, seed=2)
    scores = similarity.score_all(a, b)
    with pytest.raises(SettingError, match="cannot be differentiated again; call backward without"):
        torch.autograd.grad(scores.sum(), a, create_graph=True)


class Largest(TorchDispatchMode):
    """Notes the most numbers that any one tensor made inside has."""

    numbers = 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for value in result if isinstance(result, tuple | list) else [result]:
            if isinstance(value, torch.Tensor):
                self.numbers = max(self.numbers, value.untyped_storage().nbytes() // value.element_size())
        return result


def test_nothing_of_pairs_times_hidden_is_ever_made():
    similarity = network(dropout=0.5).train()
    a, b = some(40).requires_grad_(), some(30, seed=2).requires_grad_()
    with Largest() as largest:
        scores = similarity.score_all(a, b)
        chosen = recomputed_bytes(scores)
        scores.square().sum().backward()
    assert largest.numbers == 40 * 30  # the scores themselves
    assert chosen < 40 * 30 * 8


def recomputed_bytes(scores):
    """What the graph keeps for the backward pass, the parameters aside."""
    return sum(
        saved_tensor.numel() * saved_tensor.element_size()
        for saved_tensor in scores.grad_fn.saved_tensors[:2]
    )


def test_few_pairs_keep_their_layers_and_many_do_not(monkeypatch):
    similarity = network(hidden=6, depth=3)
    monkeypatch.setitem(recomputed.KEPT_BYTES, "cpu", 20 * 6 * 3 * 8)
    a = some(4).requires_grad_()
    assert "Recomputed" not in type(similarity.score_all(a, some(5)).grad_fn).__name__
    assert "Recomputed" in type(similarity.score_all(a, some(6)).grad_fn).__name__
    assert similarity.requires_grad_(False).score_all(a.detach(), some(6)).grad_fn is None


def test_the_limit_is_beyond_ordinary_batches_and_below_the_largest(monkeypatch):
    monkeypatch.undo()
    for device in ("cpu", "meta"):
        assert not worth_recomputing(torch.empty(256, 512, device=device), 256 * 256, 1)
        assert worth_recomputing(torch.empty(2048, 256, device=device).bfloat16(), 2048 * 2048, 4)


def test_reaches_the_fused_score_and_the_walk_in_blocks(monkeypatch):
    """Each with the gradient that it has by autograd alone."""
    similarity = network()
    for score in (Fused(similarity).score_all, lambda a, b: score_all(similarity, a, b, memory_budget=900)):
        result = []
        for limit in (-1, 2**30):
            monkeypatch.setitem(recomputed.KEPT_BYTES, "cpu", limit)
            a, b = some(5).requires_grad_(), some(6, seed=2).requires_grad_()
            result.append(gradients(score, a, b, similarity.parameters()))
        torch.testing.assert_close(result[0], result[1])


def test_refuses_a_negative_slope():
    similarity = network()
    first, second = some(3, width=6), some(4, width=6)
    with pytest.raises(SettingError, match=r"a slope of at least 0, got -0.1"):
        recomputed_scores(first, second, list(similarity.layers), similarity.last, slope=-0.1)
