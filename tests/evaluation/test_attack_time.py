"""How long attacks take: the estimate grows with what is asked, and is above what they take."""

import time

import pytest
import torch

from samekind.data import Items
from samekind.encoders import MLP
from samekind.evaluation.attack_time import most_seconds
from samekind.evaluation.attacked_questions import class_curve
from samekind.evaluation.robustness import subject_of
from samekind.evaluation.under_attack import Strength
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def subject():
    with torch.random.fork_rng():
        torch.manual_seed(0)
        encoder = MLP(inputs=64, hidden=[2048, 2048], dimension=8)
        items = Items(torch.rand(32, 1, 8, 8), torch.arange(32) % 2, ("a", "b"), "noise")
    space = MetricSpace(encoder, Euclidean(), SupportMeans(dimension=8)).eval()
    for label, name in enumerate(items.classes):
        space.enroll(name, space.embed(items.inputs[items.labels == label]))
    return subject_of(space, items, Strength((0.001,), steps=5), name="noise")[0]


def test_each_question_adds_its_time(subject):
    few, many = (
        most_seconds(subject, ["enrolment"]),
        most_seconds(subject, ["class", "pair"], heads=3, cells=True),
    )
    assert 0 < few < many  # 40 attacked items, and 192


def test_the_model_is_left_as_it_was(subject):
    before = {name: value.clone() for name, value in subject.space.state_dict().items()}
    most_seconds(subject, ["class"])
    assert all(torch.equal(value, before[name]) for name, value in subject.space.state_dict().items())
    assert all(parameter.grad is None for parameter in subject.space.parameters())


def test_of_the_size_of_what_it_takes(subject):
    """Wide bounds, because others may use the processor."""
    expected = most_seconds(subject, ["class"])
    began = time.perf_counter()
    class_curve(subject, "similarity")
    assert (time.perf_counter() - began) / 20 < expected
