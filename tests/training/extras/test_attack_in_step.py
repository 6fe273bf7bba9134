"""Attacks inside a step: they raise what they are to raise, stay where they may go, and leave no trace."""

import pytest
import torch

from samekind.acoustics import as_samples
from samekind.attacks import L1, L2, SOUNDS, Limits, Linf
from samekind.data import Items, SoundReader, scaled
from samekind.recipes import RECIPES
from samekind.training import Defence, build_space
from samekind.training.extras.attack_in_step import Ground, attacked_items
from samekind.training.extras.extra import Step
from samekind.training.fabric import launch
from samekind.training.learner import Learner


@pytest.fixture
def step(plain, items):
    return step_of(plain, items, "32-true")


def step_of(run, items, precision):
    torch.manual_seed(0)
    learner = Learner(run, build_space(run, items), items, launch("cpu", precision), batches=1)
    x, y = items.inputs[:16].float(), items.labels[:16]
    z, _ = learner.forward(x)
    return Step(5, learner.space, x, y, z, None, learner.forward, learner.value, learner.value(z, y))


@torch.no_grad()
def raised_by(step, x, through):
    """The loss of the run, or the cross-entropy of a head, in evaluation mode."""
    step.space.eval()
    z = step.forward(x)[0]
    loss = step.objective(z, step.y).total
    if through != "loss":
        logs = step.space.log_probabilities(z, head=through)
        loss = -logs[torch.arange(len(z)), step.y].mean()
    step.space.train()
    return loss.item()


@pytest.mark.parametrize("through", ["loss", "similarity", "auxiliary"])
@pytest.mark.parametrize("ball", [Linf(0.5), L2(0.5)])
def test_what_is_attacked_rises_within_the_ball(step, through, ball):
    settings = Defence("all", epsilon=0.5, through=through)
    x = attacked_items(step, Ground(ball, Limits()), settings, seed=0)
    assert bool(ball.contains(x, step.x).all())
    assert raised_by(step, x, through) > raised_by(step, step.x, through) + 0.002


def test_trades_moves_the_answers_away(step):
    x = attacked_items(step, Ground(Linf(0.5), Limits()), Defence("trades", epsilon=0.5), seed=0)
    at = attacked_items(
        step, Ground(Linf(0.5), Limits()), Defence("trades", epsilon=0.5, steps=1, step=0.0), seed=0
    )

    def moved(x):
        step.space.eval()
        clean, other = (step.space.log_probabilities(step.forward(x)[0]) for x in (step.x, x))
        step.space.train()
        return (clean.exp() * (clean - other)).sum().item()

    assert moved(x) > 2 * moved(at) > 0


def test_the_space_is_left_as_it_was_and_the_draw_follows_the_step(step):
    ground, settings = Ground(Linf(0.5), Limits()), Defence("all", epsilon=0.5)
    before = {name: tensor.clone() for name, tensor in step.space.state_dict().items()}
    random = torch.get_rng_state()
    first = attacked_items(step, ground, settings, seed=0)
    assert torch.equal(first, attacked_items(step, ground, settings, seed=0))
    assert not torch.equal(first, attacked_items(step, ground, settings, seed=1))
    assert step.space.training
    assert all(torch.equal(before[name], tensor) for name, tensor in step.space.state_dict().items())
    assert torch.equal(random, torch.get_rng_state())
    assert all(weight.requires_grad for weight in step.space.similarity.parameters())


def test_limits_are_kept(step):
    low, high = float(step.x.min()), float(step.x.max())
    x = attacked_items(step, Ground(Linf(2.0), Limits(low, high)), Defence("all", epsilon=2.0), seed=0)
    assert low <= float(x.min()) <= float(x.max()) <= high


@pytest.mark.parametrize(("precision", "dtype"), [("32-true", torch.float32), ("bf16-mixed", torch.bfloat16)])
def test_the_attack_runs_in_the_precision_of_the_run(plain, items, precision, dtype):
    step, seen = step_of(plain, items, precision), []
    layer = next(part for part in step.space.encoder.modules() if isinstance(part, torch.nn.Linear))
    layer.register_forward_hook(lambda _layer, _x, answer: seen.append(answer.dtype))
    x = attacked_items(step, Ground(Linf(0.5), Limits()), Defence("all", epsilon=0.5, steps=3), seed=0)
    assert len(seen) >= 3
    assert set(seen) == {dtype}
    assert x.dtype == step.x.dtype


# --- sounds of unequal length ---------------------------------------------------------------------

LENGTHS = (4800, 3200, 4000, 1600)


@pytest.fixture(scope="module")
def voices():
    """Two voices, each a tone with two recordings of unequal length, padded with NaN."""
    inputs = torch.full((4, 1, max(LENGTHS)), torch.nan)
    for row, length in enumerate(LENGTHS):
        time = torch.arange(length) / 16000
        inputs[row, 0, :length] = 0.3 * torch.sin(2 * torch.pi * (120 + 60 * (row % 2)) * time)
    labels = torch.arange(4) % 2
    return Items(as_samples(inputs), labels, ("a", "b"), "voices", reader=SoundReader())


@pytest.fixture
def step_of_sounds(voices):
    narrow = [f"space.encoder.encoder.{name}=8" for name in ("width", "last_width", "dimension")]
    run = RECIPES["prototypical"](voices).override(["space.encoder.encoder={name='XVector'}", *narrow])
    torch.manual_seed(0)
    learner = Learner(run, build_space(run, voices), voices, launch("cpu", "32-true"), batches=1)
    x, y = scaled(voices.inputs), voices.labels
    z, _ = learner.forward(x)
    return Step(5, learner.space, x, y, z, None, learner.forward, learner.value, learner.value(z, y))


@pytest.mark.parametrize("method", ["all", "trades"])
@pytest.mark.parametrize("ball", [Linf(0.01), L2(0.3), L1(3.0)])
def test_padded_sounds_stay_padded_and_within_their_ball(step_of_sounds, ball, method):
    step, seen = step_of_sounds, []
    step.space.encoder.register_forward_pre_hook(lambda _, given: seen.append(given[0].isnan()))
    settings = Defence(method, epsilon=ball.epsilon, steps=3)
    x = attacked_items(step, Ground(ball, SOUNDS), settings, seed=0)
    assert len(seen) >= 3
    assert all(torch.equal(padding, step.x.isnan()) for padding in seen)
    assert torch.equal(x.isnan(), step.x.isnan())
    changed, clean = x.nan_to_num(0), step.x.nan_to_num(0)
    assert bool(ball.contains(changed, clean).all())
    assert bool((ball.distance(changed, clean) > 0.5 * ball.epsilon).all())
