"""What losses and penalties may ask for, and that every member is offered what it asks for."""

import dataclasses
import inspect
import itertools
import typing

import pytest
import torch
from torch import Tensor

from samekind import losses, penalties
from samekind.errors import SettingError
from samekind.miners import everything, hardest
from samekind.training import Penalty, Term, build_space
from samekind.training.context import FOR_LOSSES, FOR_PENALTIES, BuiltPenalty, BuiltTerm, Context
from samekind.training.memory import Memory
from samekind.training.objective import objective
from samekind.training.step import observe
from samekind.training.terms import build_penalties

LABELS = torch.tensor([0, 0, 2, 2, 0, 3])  # class 1 is absent, class 3 is alone


def step(space, z, y, terms=(), penalties=(), **context):
    """A step up to its objective."""
    projected = observe(space, z, y)
    return objective(space, z, y, Context(dict(terms), dict(penalties), **context), projected=projected)


def recording(seen, *, asked):
    """A loss that notes what it is handed."""

    def loss(scores, positive, negative, **handed):
        seen.append((scores, positive, negative, handed))
        return scores.sum(1)

    return BuiltTerm(Term("mine"), loss, everything, asked)


def remembered(space, count):
    memory = Memory(size=10, dimension=space.prototypes.dimension)
    memory.push(torch.randn(count, space.prototypes.dimension), torch.arange(count) % 3)
    return memory


@pytest.mark.parametrize("asked", [(), ("scale",), ("generator",), ("scale", "generator")])
def test_scale_and_generator_are_handed_over_only_where_asked(space, z, asked):
    seen, generator = [], torch.Generator()
    step(space, z, LABELS, {"mine": recording(seen, asked=asked)}, generator=generator)
    handed = seen[0][3]
    assert set(handed) == set(asked)
    if "scale" in asked:
        assert handed["scale"] == 1
    if "generator" in asked:
        assert handed["generator"] is generator


@pytest.mark.parametrize(("against", "scale"), [("batch", 3.0), ("prototypes", 3.0), ("auxiliary", 7.0)])
def test_the_scale_is_that_of_the_similarity_that_scored(run, items, z, against, scale):
    here = {"name": "Cosine", "scale": {"name": "FixedScale", "value": 3.0}}
    head = {"name": "Cosine", "scale": {"name": "FixedScale", "value": 7.0}}
    space = build_space(run.update({"space": {"similarity": here, "auxiliary": {"similarity": head}}}), items)
    seen = []
    term = dataclasses.replace(recording(seen, asked=("scale",)), term=Term("mine", against=against))
    step(space, z, LABELS, {"mine": term})
    assert seen[0][3]["scale"] == scale


@pytest.mark.parametrize(
    ("term", "known"),
    [
        (Term("mine", against="prototypes"), True),
        (Term("mine", against="auxiliary"), True),
        (Term("mine", against="batch"), False),
        (Term("mine", against="prototypes", miner="mine"), False),
    ],
    ids=str,
)
def test_the_targets_are_handed_over_where_the_classes_are_the_candidates(space, z, term, known):
    seen = []
    built = dataclasses.replace(recording(seen, asked=("targets",)), term=term)
    step(space, z, LABELS, {"mine": built})
    targets = seen[0][3]["targets"]
    assert (targets is LABELS) if known else (targets is None)


@pytest.mark.parametrize("against", ["batch", "prototypes", "memory"])
def test_candidates_of_different_classes_are_scored_with_each_other(space, z, against):
    seen, memory = [], remembered(space, 3)
    term = dataclasses.replace(recording(seen, asked=("between",)), term=Term("mine", against=against))
    space.eval()
    step(space, z, LABELS, {"mine": term}, memory=memory)
    between = seen[0][3]["between"]
    vectors, labels = {
        "batch": (z, LABELS),
        "memory": (torch.cat([z, memory.content()[0]]), torch.cat([LABELS, memory.content()[1]])),
        "prototypes": (space.prototypes.vectors[:, 0], torch.arange(len(space.classes))),
    }[against]
    for row, column in itertools.product(range(len(vectors)), repeat=2):
        if labels[row] == labels[column]:
            assert between[row, column] == -torch.inf
        else:
            expected = space.similarity(vectors[row : row + 1], vectors[column : column + 1])
            torch.testing.assert_close(between[row, column], expected[0], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("against", ["batch", "prototypes", "auxiliary"])
@pytest.mark.parametrize("miner", [everything, hardest])
def test_the_lengths_are_those_of_the_vectors_that_were_scored(run, items, z, against, miner):
    changed = run.update({"space": {"auxiliary": {"normalise": True}}})
    space, seen = build_space(changed, items).eval(), []
    term = Term("mine", against=against, miner=miner.__name__)
    step(
        space,
        z,
        LABELS,
        {"mine": dataclasses.replace(recording(seen, asked=("lengths",)), term=term, miner=miner)},
    )
    scores, _, _, handed = seen[0]
    anchors, candidates = {
        "batch": (z, z),
        "prototypes": (z, space.prototypes.vectors[:, 0]),
        "auxiliary": (space.auxiliary.project(z), space.auxiliary.prototypes.vectors[:, 0]),
    }[against]
    expected = anchors.norm(dim=1)[:, None] * candidates.norm(dim=1)
    assert handed["lengths"].shape == scores.shape
    if miner is everything:
        torch.testing.assert_close(handed["lengths"], expected)
    else:  # each row is that of an anchor
        assert all((row - expected).abs().sum(1).min() < 1e-5 for row in handed["lengths"])


def test_a_penalty_gets_what_it_asks_for(space, z):
    def crowding(y, prototypes):
        return y.double().mean() + prototypes.sum() * 0

    penalty = BuiltPenalty(2.0, crowding, ("y", "prototypes"))
    costs = step(space, z, LABELS, penalties={"crowding": penalty}).costs
    assert costs["crowding"].item() == pytest.approx(2 * LABELS.double().mean().item())


# --- every member of the rooms --------------------------------------------------------------------


def asked_for(function):
    """The parameters that no run can set: tensors and generators."""
    hints = typing.get_type_hints(function)
    tensors = (Tensor, Tensor | None, torch.Generator, torch.Generator | None)
    return {name for name in inspect.signature(function).parameters if hints[name] in tensors}


def test_every_loss_is_offered_what_it_asks_for():
    offered = {"scores", "positive", "negative", *FOR_LOSSES}
    missing = {name: asked_for(getattr(losses, name)) - offered for name in losses.__all__}
    assert {name: keywords for name, keywords in missing.items() if keywords} == {}


def test_every_penalty_is_offered_what_it_asks_for(run):
    for name in penalties.__all__:
        changed = dataclasses.replace(run, penalties={"only": Penalty(name)})
        built = build_penalties(changed)
        assert asked_for(getattr(penalties, name)) <= FOR_PENALTIES.keys()
        assert set(built["only"].needs) == asked_for(getattr(penalties, name))


def test_a_penalty_that_asks_for_more_is_refused(run, monkeypatch):
    monkeypatch.delitem(FOR_PENALTIES, "prototypes")
    changed = dataclasses.replace(run, penalties={"only": Penalty("sparse_centres")})
    with pytest.raises(SettingError, match=r"run\.penalties\.only: sparse_centres needs prototypes, which a"):
        build_penalties(changed)


def test_a_new_offer_is_one_line(space, z, monkeypatch):
    monkeypatch.setitem(FOR_LOSSES, "tree", lambda call: len(call.candidates.labels))
    seen = []
    step(space, z, LABELS, {"mine": recording(seen, asked=("tree",))})
    assert seen[0][3] == {"tree": len(LABELS)}
