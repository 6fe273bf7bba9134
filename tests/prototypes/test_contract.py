"""What all prototypes promise, checked on every kind; a new one is covered by joining PROTOTYPES."""

import inspect
import json

import pytest
import torch
from torch import nn

from samekind import parts, prototypes
from samekind.errors import SettingError

CLASSES = ["ant", "bee", "cat"]
DIMENSION = 4

# One possible value for each argument that any kind has, and none of them a default.
OTHER = {
    "beta": 2.0,
    "classes": CLASSES,
    "count": 3,
    "counts": [2, 0, 7],
    "dimension": DIMENSION,
    "initial": "uniform",
    "orientation": "means",
    "layout": "mds",
    "momentum": 0.5,
    "pooling": "max",
    "rate": 0.5,
    "temperature": 0.5,
}

# What a kind must remember beside its vectors.
BESIDES = {"EMAProxies": ["visited"]}


@pytest.fixture(params=prototypes.PROTOTYPES)
def kind(request):
    return getattr(prototypes, request.param)


@pytest.fixture(params=["defaults", "other"])
def bank(request, kind):
    torch.manual_seed(0)
    taken = inspect.signature(kind).parameters if request.param == "other" else ("classes", "dimension")
    return kind(**{name: OTHER[name] for name in taken})


def some(*shape, seed=1):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def fitting(bank, classes):
    """Vectors that the bank can hold for so many classes."""
    return some(classes, bank.count, DIMENSION)


def test_the_family_is_public():
    assert set(prototypes.PROTOTYPES) <= set(prototypes.__all__)


def test_stores_its_arguments_under_their_names(kind):
    parameters = inspect.signature(kind).parameters
    other = kind(**{name: OTHER[name] for name in parameters})
    plain = kind(CLASSES, dimension=DIMENSION)
    for name, parameter in parameters.items():
        assert getattr(other, name) == OTHER[name]
        assert parameter.kind is parameter.KEYWORD_ONLY or name == "classes"
        if name not in ("classes", "dimension"):
            assert getattr(plain, name) == parameter.default != OTHER[name]
    assert other.classes is not CLASSES  # a list of its own


def test_has_the_same_number_of_vectors_for_each_class(bank):
    assert bank.classes == CLASSES
    assert bank.vectors.shape == (3, bank.count, DIMENSION)
    assert bank.dimension == DIMENSION
    assert bank.vectors.isfinite().all()
    assert bank.pooling in ("mean", "max", "soft", "sum")


def test_the_vectors_are_all_there_is_and_travel_with_the_rest(bank):
    """In the checkpoint and through changes of type; before an assignment and after it."""
    for classes in (CLASSES, ["dog", "elk"]):
        if classes != bank.classes:
            bank.assign(classes, fitting(bank, len(classes)))
        assert list(bank.state_dict()) == ["vectors", *BESIDES.get(type(bank).__name__, [])]
        assert all(len(tensor) == len(classes) for tensor in bank.state_dict().values())
        assert torch.equal(bank.state_dict()["vectors"], bank.vectors)
        assert bank.double().vectors.dtype == torch.double
        assert bank.float().vectors.dtype == torch.float32


def test_the_vectors_are_learned_by_the_gradient_or_not_at_all(bank):
    """A parameter that asks for a gradient, or a buffer that never does; an assignment changes neither."""
    learned = isinstance(bank.vectors, nn.Parameter)
    bank.assign(["dog"], fitting(bank, 1).requires_grad_() * 2)
    assert isinstance(bank.vectors, nn.Parameter) == learned
    assert bank.vectors.requires_grad == learned
    assert bank.vectors.grad_fn is None
    assert len(list(bank.parameters())) == learned
    assert len(list(bank.buffers())) == (not learned) + len(BESIDES.get(type(bank).__name__, []))


def test_can_be_written_down_and_built_again(bank):
    for classes in (CLASSES, ["dog", "elk"]):
        if classes != bank.classes:
            bank.assign(classes, fitting(bank, len(classes)))
        description = parts.describe(bank)
        again = parts.build(json.loads(json.dumps(description)), room="prototypes")
        assert type(again) is type(bank)
        assert parts.describe(again) == description
        again.load_state_dict(bank.state_dict())
        assert again.classes == classes
        for name, tensor in bank.state_dict().items():
            assert torch.equal(again.state_dict()[name], tensor)


def test_an_assignment_puts_other_classes_in_place(bank):
    vectors = fitting(bank, 2)
    names = ["dog", "elk"]
    bank.assign(names, vectors)
    assert bank.classes == names
    assert torch.equal(bank.vectors, vectors)
    names.append("fox")
    with torch.no_grad():
        vectors += 1
    assert bank.classes == ["dog", "elk"]
    assert not torch.equal(bank.vectors, vectors)
    bank.assign([], fitting(bank, 0))
    assert bank.classes == []
    assert bank.vectors.shape == (0, bank.count, DIMENSION)


def test_knows_how_many_examples_its_vectors_were_made_from(bank):
    """If it was told so; no number is written down where none is known, as by an older version."""
    bank.assign(["dog", "elk"], fitting(bank, 2), [5, 0])
    assert bank.counts == [5, 0]
    assert parts.describe(bank)["arguments"]["counts"] == [5, 0]
    assert parts.build(parts.describe(bank), room="prototypes").counts == [5, 0]
    for unknown in (None, [0, 0]):
        bank.assign(["dog", "elk"], fitting(bank, 2), unknown)
        assert bank.counts is None
        assert "counts" not in parts.describe(bank)["arguments"]
    for counts in ([5], [5, -1]):
        with pytest.raises(SettingError, match="a count from 0 up for each of 2 classes"):
            bank.assign(["dog", "elk"], fitting(bank, 2), counts)


def test_refuses_an_assignment_that_does_not_fit_and_stays_the_same(bank):
    before = bank.vectors.detach().clone()
    for classes, shape in [
        (["dog", "elk"], (3, 1, DIMENSION)),
        (["dog", "elk"], (2, 1, DIMENSION + 1)),
        (["dog", "elk"], (2, DIMENSION)),
        (["dog", "elk"], (2, 1, 1, DIMENSION)),
        (["dog", "dog"], (2, 1, DIMENSION)),
    ]:
        with pytest.raises(SettingError, match=r"expected prototypes of shape|class names must differ"):
            bank.assign(classes, torch.zeros(shape))
        assert bank.classes == CLASSES
        assert torch.equal(bank.vectors, before)


def test_may_begin_with_no_class_at_all(kind):
    empty = kind([], dimension=DIMENSION)
    assert empty.vectors.shape == (0, empty.count, DIMENSION)
    empty.assign(["dog"], fitting(empty, 1))
    assert empty.classes == ["dog"]


def test_the_hooks_touch_nothing_that_has_a_gradient(bank):
    """Neither the batch, nor a learned vector; and what they do move carries no graph."""
    z, y = some(6, DIMENSION).requires_grad_(), torch.tensor([0, 0, 1, 1, 1, 0])
    before, parameters = z.detach().clone(), [parameter.detach().clone() for parameter in bank.parameters()]
    for hook in (bank.before_loss, bank.after_step):
        hook(z * 1, y)
    assert torch.equal(z, before)
    assert z.grad is None
    assert bank.vectors.grad_fn is None
    assert bank.vectors.shape == (3, bank.count, DIMENSION)
    assert all(
        torch.equal(parameter, old) for parameter, old in zip(bank.parameters(), parameters, strict=True)
    )
    assert all(parameter.grad is None for parameter in bank.parameters())


def test_a_loss_after_the_hooks_can_be_descended(bank):
    z, y = some(6, DIMENSION).requires_grad_(), torch.tensor([0, 0, 1, 1, 1, 0])
    bank.assign(CLASSES, fitting(bank, 3))
    for _ in range(2):  # a second step must not run into the graph of the first
        bank.before_loss(z, y)
        (bank.vectors.flatten(0, 1) @ z.T).square().sum().backward()
        bank.after_step(z, y)
    assert z.grad.isfinite().all()
    assert (z.grad != 0).any()
