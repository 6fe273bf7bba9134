"""What the pair likelihood learns, where that is known: the theory of the verification paper, checked.

For pairs of one class distributed as p+ and pairs of two as p-, the loss is at least log 4 - 2 JSD(p+ || p-),
and only the logit log(p+ / p-) reaches it.

Monteiro et al., "An end-to-end approach for the verification problem: learning the right distance", ICML
2020.
"""

import math

import pytest
import torch
import torch.nn.functional as F

from samekind.losses import pair_likelihood
from samekind.measures import rates_at
from samekind.pairs import pair_masks
from samekind.similarities import PairsNetwork

#: Three classes over four symbols: what an item looks like, given its class.
SYMBOLS = torch.tensor([[0.5, 0.3, 0.1, 0.1], [0.1, 0.5, 0.2, 0.2], [0.1, 0.1, 0.3, 0.5]]).double()
PRIOR = torch.tensor([0.5, 0.3, 0.2]).double()


def pairs_of_symbols(prior=PRIOR, symbols=SYMBOLS):
    """p+ and p-, (symbols, symbols), with a loop over the classes of both sides."""
    same, different = torch.zeros(2, symbols.shape[1], symbols.shape[1], dtype=torch.double)
    for one in range(len(prior)):
        for other in range(len(prior)):
            joint = prior[one] * prior[other] * torch.outer(symbols[one], symbols[other])
            if one == other:
                # Two items of one class: the class is drawn among pairs of one class.
                same += joint
            else:
                different += joint
    return same / same.sum(), different / different.sum()


def divergence(p, q):
    """Kullback-Leibler, in nats; 0 log 0 is 0."""
    return float(torch.xlogy(p, p / q.where(p > 0, 1)).sum())


def jensen_shannon(p, q):
    middle = (p + q) / 2
    return (divergence(p, middle) + divergence(q, middle)) / 2


def expected_loss(logits, same, different, weight=1.0):
    """-E+ log D - E- log(1 - D), the first term weighted."""
    return weight * (same * F.softplus(-logits)).sum() + (different * F.softplus(logits)).sum()


def minimise(loss, start):
    logits = start.clone().requires_grad_()
    optimiser = torch.optim.LBFGS(
        [logits], max_iter=300, tolerance_grad=1e-10, tolerance_change=0, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        value = loss(logits)
        value.backward()
        return value

    optimiser.step(closure)
    return logits.detach(), float(loss(logits).detach())


# --- the optimum ------------------------------------------------------------------------------------


def test_at_the_optimum_the_logit_is_the_log_likelihood_ratio():
    same, different = pairs_of_symbols()
    logits, value = minimise(lambda logits: expected_loss(logits, same, different), torch.zeros_like(same))
    torch.testing.assert_close(logits, (same / different).log(), atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(logits.sigmoid(), same / (same + different), atol=1e-6, rtol=1e-5)
    assert value == pytest.approx(math.log(4) - 2 * jensen_shannon(same, different), abs=1e-10)


@pytest.mark.parametrize("weight", [0.25, 3.0])
def test_a_weight_of_the_positives_is_added_as_its_logarithm(weight):
    same, different = pairs_of_symbols()
    logits, _ = minimise(
        lambda logits: expected_loss(logits, same, different, weight), torch.zeros_like(same)
    )
    torch.testing.assert_close(logits, (same / different).log() + math.log(weight), atol=1e-4, rtol=1e-4)


def test_no_other_logit_does_as_well():
    same, different = pairs_of_symbols()
    best = float(expected_loss((same / different).log(), same, different))
    generator = torch.Generator().manual_seed(0)
    for size in (0.01, 0.1, 1.0):
        other = (same / different).log() + size * torch.randn(4, 4, generator=generator, dtype=torch.double)
        assert float(expected_loss(other, same, different)) > best


def test_classes_that_share_nothing_cost_nothing_and_classes_that_are_one_cost_log_four():
    """Where supports are disjoint the divergence is log 2, so the floor is 0; where nothing tells them, 0."""
    same, different = pairs_of_symbols(symbols=torch.eye(3, 4).double())
    assert jensen_shannon(same, different) == pytest.approx(math.log(2))
    logits = torch.where(same > 0, 40.0, -40.0).double()
    assert float(expected_loss(logits, same, different)) == pytest.approx(0, abs=1e-12)
    same, different = pairs_of_symbols(symbols=SYMBOLS[:1].expand(3, -1))
    assert jensen_shannon(same, different) == pytest.approx(0, abs=1e-12)
    assert float(expected_loss((same / different).log(), same, different)) == pytest.approx(math.log(4))


def test_negatives_are_not_quite_the_product_of_marginals():
    """Pairs of one class are left out of them; the ratio to the product is bounded by that share."""
    same, different = pairs_of_symbols()
    marginal = PRIOR @ SYMBOLS
    together = PRIOR.square().sum()
    product = torch.outer(marginal, marginal)
    torch.testing.assert_close(together * same + (1 - together) * different, product)
    assert not torch.allclose(different, product, atol=1e-3)


# --- the loss of the library, on a batch ------------------------------------------------------------


def a_batch():
    """Items of three classes as symbols, and how often two symbols meet in pairs of one class and of two."""
    counts = torch.tensor([[5, 3, 1, 1], [1, 5, 2, 2], [1, 1, 3, 5]])
    labels = torch.arange(3).repeat_interleave(10)
    symbols = torch.cat([torch.arange(4).repeat_interleave(row) for row in counts])
    positive, negative = pair_masks(labels)
    tables = []
    for mask in (positive, negative):
        first, second = mask.nonzero(as_tuple=True)
        table = torch.zeros(4, 4, dtype=torch.double)
        table.index_put_(
            (symbols[first], symbols[second]), torch.ones((), dtype=torch.double), accumulate=True
        )
        tables.append(table / table.sum())
    return symbols, positive, negative, *tables


def test_the_mean_of_the_shares_is_the_expected_loss_over_the_pairs_of_the_batch():
    symbols, positive, negative, same, different = a_batch()
    table = torch.randn(4, 4, generator=torch.Generator().manual_seed(1), dtype=torch.double)
    shares = pair_likelihood(table[symbols][:, symbols], positive, negative)
    assert float(shares.mean()) == pytest.approx(float(expected_loss(table, same, different)))


def test_the_pair_likelihood_of_a_batch_is_least_at_its_log_likelihood_ratios():
    symbols, positive, negative, same, different = a_batch()

    def loss(table):
        return pair_likelihood(table[symbols][:, symbols], positive, negative).mean()

    table, value = minimise(loss, torch.zeros(4, 4, dtype=torch.double))
    torch.testing.assert_close(table, (same / different).log(), atol=1e-4, rtol=1e-4)
    assert value == pytest.approx(math.log(4) - 2 * jensen_shannon(same, different), abs=1e-9)


# --- deciding ---------------------------------------------------------------------------------------


def test_no_score_decides_with_fewer_errors_than_the_log_likelihood_ratio():
    """At the threshold 0 the two error rates add up to 1 less the total variation, the least there is."""
    same, different = pairs_of_symbols()
    # As many trials of each pair of symbols as its probability says, to a rounding.
    counts = [(share * 20_000).round().long().flatten() for share in (same, different)]
    ratio = (same / different).log().flatten()
    scores = torch.cat([ratio.repeat_interleave(count) for count in counts])
    truth = torch.arange(len(scores)) < counts[0].sum()
    variation = float((same - different).abs().sum()) / 2
    assert sum(rates_at(scores, truth, 0.0)) == pytest.approx(1 - variation, abs=1e-3)
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        other = ratio + torch.randn(16, generator=generator)
        scores = torch.cat([other.repeat_interleave(count) for count in counts])
        assert sum(rates_at(scores, truth, 0.0)) >= 1 - variation - 1e-3


# --- a network that is trained ----------------------------------------------------------------------

CENTRES = torch.tensor([-2.0, 0.0, 2.0]).double()


def gaussian_pairs(grid):
    """Densities of pairs of one class and of two, (cells, cells), for three normal classes of variance 1."""
    density = torch.exp(-(grid[None] - CENTRES[:, None]).square() / 2) / math.sqrt(2 * math.pi)
    return pairs_of_symbols(torch.full((3,), 1 / 3).double(), density / density.sum(1, keepdim=True))


def test_a_trained_network_comes_near_to_the_log_likelihood_ratio():
    """Three normal classes on a line, fresh items at every step."""
    torch.manual_seed(0)
    network = PairsNetwork(dimension=1, hidden=32, depth=2, dropout=0.0)
    optimiser = torch.optim.Adam(network.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, 250)
    labels = torch.arange(3).repeat_interleave(30)
    positive, negative = pair_masks(labels)
    for _ in range(250):
        z = CENTRES.float()[labels, None] + torch.randn(90, 1)
        loss = pair_likelihood(network.score_all(z, z), positive, negative).mean()
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    grid = torch.linspace(-6, 6, 121).double()
    same, different = gaussian_pairs(grid)
    with torch.no_grad():
        logits = network.score_all(grid.float()[:, None], grid.float()[:, None]).double()
    floor = math.log(4) - 2 * jensen_shannon(same, different)
    assert floor <= float(expected_loss(logits, same, different)) < floor + 0.02
    assert floor < math.log(4) - 0.2  # there is something to learn
    ratio = (same / different).log()
    gap = ((same + different) / 2 * (logits - ratio).abs()).sum()
    assert float(gap) < 0.25
