"""What a space withstands, as an answer."""

import json

import pytest
import torch
from torch import nn

from samekind.data import clusters, digits
from samekind.data.media.attacked import DEVIATIONS
from samekind.data.media.pictures import EPSILONS
from samekind.errors import SettingError
from samekind.prototypes import SupportMeans
from samekind.questions.robustness import (
    RobustnessSettings,
    known_norm,
    read_epsilon,
    robustness,
)
from samekind.similarities import Euclidean
from samekind.space import MetricSpace


def space_of(items):
    x = items.inputs.float().flatten(1)
    x = x / 255 if items.inputs.dtype == torch.uint8 else x
    means = torch.stack([x[items.labels == label].mean(0) for label in range(len(items.classes))])
    prototypes = SupportMeans(dimension=x.shape[1])
    prototypes.assign(items.classes, means[:, None])
    return MetricSpace(nn.Flatten(), Euclidean(), prototypes)


def test_an_answer_is_plain_json_with_its_warnings():
    items = clusters(classes=3, items=8, dimension=4)
    settings = RobustnessSettings(epsilons=(1.0, 0.5), steps=5, questions=("class",), cells=False, limit=12)
    answer = robustness(space_of(items), items, settings)
    content = json.loads(json.dumps(answer.to_json()))
    assert content["epsilons"] == [0.5, 1.0]
    assert content["unit"] == "in standard deviations of a column"
    assert [point["epsilon"] for point in content["curves"][0]["points"]] == [0, 0.5, 1]
    assert content["warnings"] == list(answer.warnings)


@pytest.mark.parametrize(
    ("items", "usual"),
    [
        (digits().take(torch.arange(40)), EPSILONS),
        (clusters(classes=2, items=6, dimension=3), DEVIATIONS),
    ],
)
def test_usual_epsilons_go_by_the_items(items, usual):
    settings = RobustnessSettings(steps=1, questions=("class",), cells=False, limit=8)
    assert robustness(space_of(items), items, settings).measured.strength.epsilons == usual["linf"]


def test_what_is_named_is_kept():
    """Without limit and steps there are three minutes; what is named does not shrink."""
    assert RobustnessSettings().budget == (180.0, True, True, True)
    assert RobustnessSettings(limit=50).budget is None
    assert RobustnessSettings(steps=5, minutes=2).budget == (120.0, True, False, True)
    named = RobustnessSettings(limit=50, minutes=2, epsilons=(0.1, 0.2))
    assert named.budget == (120.0, False, True, False)


@pytest.mark.parametrize(
    ("text", "epsilon"), [("8/255", 8 / 255), (" 0.3 ", 0.3), ("2", 2.0), ("1e-2", 0.01)]
)
def test_fractions_are_understood(text, epsilon):
    assert read_epsilon(text) == epsilon


@pytest.mark.parametrize("text", ["", "8/0", "0", "-1/255", "many", "nan"])
def test_what_is_no_epsilon_is_refused(text):
    with pytest.raises(SettingError, match="a fraction such as 8/255"):
        read_epsilon(text)


def test_norms_by_name():
    assert known_norm("Linf") == "linf"
    with pytest.raises(SettingError, match='no norm "l3"'):
        known_norm("l3")
