"""PGD: the worst case of a linear model, foolbox's points, and what its options promise."""

import copy

import pytest
import torch

from samekind.attacks import FGSM, L1, L2, PGD, PICTURES, Limits, Linf, Logits


@pytest.mark.parametrize(("region", "dual"), [(L1(0.3), torch.inf), (L2(0.3), 2), (Linf(0.3), 1)])
def test_the_worst_case_of_a_linear_model(region, dual):
    """Epsilon times the dual norm of the weights."""
    generator = torch.Generator().manual_seed(0)
    weights = torch.randn(12, generator=generator, dtype=torch.float64)
    model = torch.nn.Linear(12, 1, bias=False).double()  # one outcome: it is only raised
    model.weight.data = weights[None]
    x = torch.randn(8, 12, generator=generator, dtype=torch.float64)
    goal = Logits(model, torch.zeros(8, dtype=torch.long))
    attacked = PGD(region, steps=60, step=0.1)(goal, x, limits=Limits())
    expected = 0.3 * torch.linalg.vector_norm(weights, dual)
    torch.testing.assert_close((attacked.x - x) @ weights, expected.expand(8).clone(), rtol=1e-3, atol=1e-6)
    assert not attacked.succeeded.any()


@pytest.mark.parametrize("name", ["Linf", "L2"])
@pytest.mark.parametrize("steps", [1, 7])
def test_the_points_of_foolbox(trained, name, steps):
    foolbox = pytest.importorskip("foolbox")
    model, x, labels = copy.deepcopy(trained)
    model, x = model.float(), x.float()
    region = {"Linf": Linf(0.1), "L2": L2(0.3)}[name]
    if steps == 1:
        theirs = getattr(
            foolbox.attacks, {"Linf": "LinfFastGradientAttack", "L2": "L2FastGradientAttack"}[name]
        )()
        ours = FGSM(region, classic=True)
    else:
        kind = getattr(foolbox.attacks, f"{name}ProjectedGradientDescentAttack")
        theirs = kind(steps=steps, abs_stepsize=region.epsilon / 3, random_start=False)
        ours = PGD(region, steps=steps, step=region.epsilon / 3, random_start=False, classic=True)
    wrapped = foolbox.PyTorchModel(model, bounds=(0, 1), device="cpu")
    _, points, success = theirs(wrapped, x, labels, epsilons=region.epsilon)
    attacked = ours(Logits(model, labels), x, limits=PICTURES)
    right = model(x).argmax(1) == labels
    torch.testing.assert_close(attacked.x[right], points[right], atol=1e-6, rtol=0)
    assert torch.equal(attacked.succeeded[right], success[right])


def test_the_default_step_crosses_the_region(trained):
    model, x, labels = trained
    attacked = PGD(Linf(0.1), steps=4, random_start=False, stop=False)(
        Logits(model, labels), x, limits=Limits()
    )
    right = model(x).argmax(1) == labels
    torch.testing.assert_close(attacked.distance[right], torch.full((int(right.sum()),), 0.1).double())


def test_stopping_early_finds_the_same_items(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    brief = PGD(Linf(0.1), steps=10)(goal, x, limits=PICTURES)
    full = PGD(Linf(0.1), steps=10, stop=False)(goal, x, limits=PICTURES)
    assert torch.equal(brief.succeeded, full.succeeded)
    assert brief.queries.sum() < full.queries.sum()


def test_restarts_and_the_worst_point_never_help_the_defender(trained):
    model, x, labels = trained
    goal = Logits(model, labels)
    last = PGD(Linf(0.08), steps=5, step=0.06, classic=True)(goal, x, limits=PICTURES)
    worst = PGD(Linf(0.08), steps=5, step=0.06)(goal, x, limits=PICTURES)
    more = PGD(Linf(0.08), steps=5, step=0.06, restarts=4)(goal, x, limits=PICTURES)
    assert (last.succeeded <= worst.succeeded).all()
    assert (worst.succeeded <= more.succeeded).all()


def test_classic_asks_the_model_once_a_step_and_to_judge(trained):
    """Before the steps, in each, and at the point that is returned, whatever ``stop`` says."""
    model, x, labels = trained
    right = model(x).argmax(1) == labels
    for stop in (True, False):
        attack = PGD(Linf(0.1), steps=4, restarts=2, stop=stop, classic=True)
        queries = attack(Logits(model, labels), x, limits=PICTURES).queries
        assert set(queries[right].tolist()) == {1 + 2 * 4 + 1}
        assert set(queries[~right].tolist()) == {1}


def test_momentum_succeeds_too(trained):
    model, x, labels = trained
    plain = PGD(Linf(0.1), steps=10)(Logits(model, labels), x, limits=PICTURES)
    heavy = PGD(Linf(0.1), steps=10, momentum=1.0)(Logits(model, labels), x, limits=PICTURES)
    assert heavy.succeeded.sum() >= plain.succeeded.sum() - 2


@pytest.mark.parametrize("region", [L1(0.5), L2(0.5)])
def test_a_step_is_not_spent_on_pixels_that_cannot_move(region):
    """The pixels with the largest weights are at the end of their range, and one is fixed."""
    model = torch.nn.Linear(8, 1, bias=False)
    model.weight.data = torch.tensor([[9.0, 8.0, 7.0, -6.0, 5.0, 0.1, 0.1, 0.1]])
    x = torch.tensor([[1.0, 1.0, 0.5, 0.0, 1.0, 0.5, 0.5, 0.5]])
    limits = Limits(0.0, 1.0, fixed=torch.arange(8) == 2)
    goal = Logits(model, torch.tensor([0]))
    attacked = PGD(region, steps=40, random_start=False)(goal, x, limits=limits)
    best = 0.05 if isinstance(region, L1) else 0.1 * 3**0.5 * 0.5
    assert float((attacked.x - x) @ model.weight[0].detach()) == pytest.approx(best, rel=1e-3)
    assert FGSM(region)(goal, x, limits=limits).distance[0] == pytest.approx(0.5)
    assert FGSM(region, classic=True)(goal, x, limits=limits).distance[0] < 0.2
