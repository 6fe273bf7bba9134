"""Five questions to a space and to a reference."""

import pytest
import torch

from samekind.data import Items, clusters
from samekind.encoders import Unchanged
from samekind.errors import DataError
from samekind.evaluation import Answered, Row, five_questions, unseen_rows
from samekind.prototypes import SupportMeans
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


def plain(items):
    numbers = items.shape[0]
    return MetricSpace(Unchanged(inputs=numbers), Euclidean(), SupportMeans(dimension=numbers)).eval()


@pytest.fixture(scope="module")
def near():
    return clusters(classes=6, items=8, dimension=4, spread=0.1)


@pytest.fixture(scope="module")
def far(near):
    """The same items among noise in forty other directions."""
    noise = torch.randn(len(near), 40, generator=torch.Generator().manual_seed(1))
    return Items(torch.cat([near.inputs, noise], 1), near.labels, near.classes, "noisy")


@pytest.fixture(scope="module")
def answers(near, far):
    rows = [unseen_rows(plain(items), items, tasks=20) for items in (far, near)]
    return five_questions(plain(near), *rows, noun="cluster")


def test_asks_five_questions_in_words(answers):
    assert [answer.question for answer in answers] == [
        "Which of 6, seen 5 times each?",
        "Are these two the same cluster?",
        "What is most like this?",
        "What groups are here?",
        "Is it none of those I know?",
    ]
    assert [str(answer.own.measure) for answer in answers] == [
        "6-way 5-shot",
        "EER",
        "Recall@1",
        "NMI",
        "AUROC",
    ]


def test_items_without_noise_are_better_in_every_line(answers):
    assert all(answer.better for answer in answers)
    assert all(answer.own.measure == answer.reference.measure for answer in answers)


def test_none_of_those_agrees_with_the_definition(near, answers):
    """Even classes are known by the mean of their first five; the score is minus the distance to the next."""
    known, unknown = [], []
    means = torch.stack([near.inputs[near.labels == label][:5].mean(0) for label in (0, 2, 4)])
    for label in range(6):
        members = near.inputs[near.labels == label]
        for item in members[5:] if label % 2 == 0 else members:
            (known if label % 2 == 0 else unknown).append(-(item - means).norm(dim=1).min())
    right = sum((a > b) + 0.5 * (a == b) for a in known for b in unknown) / (len(known) * len(unknown))
    assert answers[4].own.value == pytest.approx(float(right), abs=1e-6)


@pytest.mark.parametrize(
    ("measure", "value", "low", "high", "better"),
    [
        ("Recall@1", 0.6, 0.55, 0.65, True),
        ("Recall@1", 0.6, 0.45, 0.75, False),
        ("EER", 0.4, 0.35, 0.45, True),
        ("EER", 0.4, 0.25, 0.55, False),
        ("EER", 0.4, None, None, True),
    ],
)
def test_better_means_by_more_than_the_interval(measure, value, low, high, better):
    rows = (
        Row("a question", "unseen", measure, "cosine", 0.5),
        Row("a question", "unseen", measure, "cosine", value, low, high),
    )
    answer = Answered("?", *rows)
    assert answer.better is better
    assert answer.to_json()["better"] is better


def test_classes_need_more_items_than_examples():
    few = clusters(classes=3, items=5, dimension=2)
    with pytest.raises(DataError, match="more than 5 items in every class"):
        unseen_rows(plain(few), few, tasks=2)
