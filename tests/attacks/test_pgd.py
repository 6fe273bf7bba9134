"""PGD on a linear model, where the worst case is known: epsilon times the dual norm of the weights."""

import pytest
import torch

from samekind.attacks import L1, L2, PGD, Limits, Linf, Logits


@pytest.mark.parametrize(("region", "dual"), [(L1(0.3), torch.inf), (L2(0.3), 2), (Linf(0.3), 1)])
def test_the_worst_case_of_a_linear_model(region, dual):
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(12, generator=generator, dtype=torch.float64)
    model = torch.nn.Linear(12, 1, bias=False).double()  # one outcome: it is only raised
    model.weight.data = weights[None]
    x = torch.randn(8, 12, generator=generator, dtype=torch.float64)
    goal = Logits(model, torch.zeros(8, dtype=torch.long))
    attacked = PGD(region, steps=60)(goal, x, limits=Limits())
    expected = 0.3 * weights.norm(p=dual)
    torch.testing.assert_close((attacked.x - x) @ weights, expected.expand(8).clone(), rtol=1e-3, atol=1e-6)
