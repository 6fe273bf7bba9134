"""The plain walk, block by block: see test_recomputed.py for its gradients."""

import pytest
import torch

from samekind.similarities import PairsNetwork
from samekind.similarities.recomputed_walk import Walk, Way, blocks_of


@pytest.mark.parametrize("shape", [(1, 1), (3, 4), (5, 2), (100, 100)])
def test_every_pair_is_in_one_block_and_every_block_draws_from_a_seed_of_its_own(shape):
    seen = torch.zeros(7, 10, dtype=torch.int64)
    blocks = list(blocks_of(Way(0.1, 0.5, 2**63 - 2, 0), torch.empty(7, 2), torch.empty(10, 2), shape))
    for block in blocks:
        assert seen[block.rows, block.columns].shape <= shape
        seen[block.rows, block.columns] += 1
    assert (seen == 1).all()
    assert len({block.seed for block in blocks}) == len(blocks)
    assert all(0 <= block.seed < 2**63 for block in blocks)


@pytest.mark.parametrize("depth", [1, 3])
def test_the_scores_of_a_block_are_the_networks(depth):
    torch.manual_seed(0)
    network = PairsNetwork(dimension=4, hidden=6, depth=depth).eval()
    a, b = torch.randn(7, 4), torch.randn(10, 4)
    parameters = [value for layer in [*network.layers, network.last] for value in (layer.weight, layer.bias)]
    with torch.no_grad():
        walk = Walk(Way(network.slope, 0.0, 0, 12), *network.halves(a, b), parameters, back=False)
        for block in walk.blocks():
            result = walk.logits(block).view(len(a[block.rows]), -1)
            torch.testing.assert_close(result, network.score_all(a[block.rows], b[block.columns]))
