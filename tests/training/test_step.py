"""What moves before the loss and after the step, in which order, and without gradient."""

import dataclasses

import pytest
import torch

from samekind.losses import softmax
from samekind.miners import everything
from samekind.training import Term, build_space
from samekind.training.context import BuiltTerm, Context
from samekind.training.memory import Memory
from samekind.training.objective import objective
from samekind.training.step import observe, settle
from samekind.training.terms import build_terms

LABELS = torch.tensor([0, 0, 2, 2, 0, 3])  # class 1 is absent, class 3 is alone


def step(space, z, y, terms=(), penalties=(), **context):
    """A step up to its objective."""
    projected = observe(space, z, y)
    return objective(space, z, y, Context(dict(terms), dict(penalties), **context), projected=projected)


def test_the_hooks_come_in_order_and_without_gradient(plain, space, z):
    events = []

    def spy(owner, name, label):
        real = getattr(owner, name)

        def called(embeddings, *rest):
            events.append((label, torch.is_grad_enabled(), embeddings.requires_grad))
            return real(embeddings, *rest)

        object.__setattr__(owner, name, called)

    for name in ("before_loss", "after_step"):
        spy(space.prototypes, name, f"prototypes {name}")
        spy(space.auxiliary.prototypes, name, f"head {name}")
    spy(space, "score_classes", "scores")
    spy(space.auxiliary, "score_projected", "head scores")

    done = step(space, z, LABELS, build_terms(plain, space))
    assert events == [
        ("prototypes before_loss", False, False),
        ("head before_loss", False, False),
        ("scores", True, True),
        ("head scores", True, True),
    ]
    events.clear()
    settle(space, z, LABELS, done)
    assert events == [("prototypes after_step", False, False), ("head after_step", False, False)]


def test_a_space_without_a_head_takes_a_step(plain, items, z):
    headless = dataclasses.replace(
        plain,
        space=dataclasses.replace(plain.space, auxiliary=None),
        terms={"pair": plain.terms["pair"]},
    )
    space = build_space(headless, items)
    done = step(space, z, LABELS, build_terms(headless, space))
    assert done.costs["pair"].isfinite()
    settle(space, z, LABELS, done)


def test_the_memory_is_filled_after_the_step(space, z):
    memory = Memory(size=10, dimension=space.prototypes.dimension)
    settle(space, z, LABELS, step(space, z, LABELS), memory=memory)
    assert torch.equal(memory.content()[0], z[:10].detach())


def test_a_scale_sees_the_class_scores_after_the_step(space, z, monkeypatch):
    seen = []
    monkeypatch.setattr(space.similarity.scale, "after_step", lambda *given: seen.append(given))
    term = BuiltTerm(Term("softmax", against="prototypes"), softmax, everything, ("scale",))
    done = step(space, z, LABELS, {"class": term})
    settle(space, z, LABELS, done)
    scores, positive = seen[0]
    assert torch.equal(scores, done.candidates["prototypes"].scores)
    assert not scores.requires_grad
    assert positive.nonzero()[:, 1].tolist() == LABELS.tolist()


@pytest.mark.parametrize("prototypes", ["LearnedProxies", "RunningAverages", "EMAProxies"])
def test_the_head_projects_once_and_all_see_the_same(plain, items, z, prototypes):
    """With dropout a second projection is another one, and after the optimiser's step so is a third."""
    head = {
        "similarity": {"name": "Cosine"},
        "prototypes": {"name": prototypes},
        "projection": {"name": "MLP", "hidden": [8], "dimension": 3, "dropout": 0.5},
    }
    changed = plain.update({"space": {"auxiliary": {**head, "bias": False}}})
    space = build_space(changed, items).train()
    calls, seen, prototypes = [], [], space.auxiliary.prototypes
    space.auxiliary.projection.register_forward_hook(lambda *call: calls.append(call[2].detach().clone()))
    for name in ("before_loss", "after_step"):
        real = getattr(prototypes, name)
        object.__setattr__(
            prototypes, name, lambda given, y, real=real: seen.append(given.clone()) or real(given, y)
        )
    done = step(space, z, LABELS, build_terms(changed, space))
    scores = space.auxiliary.similarity.score_all(calls[0], done.candidates["auxiliary"].vectors)
    torch.testing.assert_close(done.candidates["auxiliary"].scores, scores)
    with torch.no_grad():  # as an optimiser would
        for weight in space.auxiliary.projection.parameters():
            weight.add_(1)
    settle(space, z, LABELS, done)
    assert len(calls) == 1
    assert len(seen) == 2
    assert all(torch.equal(value, calls[0]) for value in seen)
