"""The settings of data: to JSON and back, and the message for a wrong value."""

import json

import pytest

from samekind.data import DataSettings
from samekind.errors import SettingError


@pytest.mark.parametrize(
    "settings",
    [
        DataSettings(),
        DataSettings(size=(4, 6), channels=3, fit="pad", columns=("a", "b"), classes=("x",), memory="never"),
        DataSettings(size=(4, 6), cut_from=(5, 8)),
        DataSettings(white=4095),
        DataSettings(size=32, cut_from=36, label="species", skip_unreadable=True, memory_limit=10, workers=3),
    ],
)
def test_goes_through_json_and_back(settings):
    assert DataSettings.from_dict(json.loads(json.dumps(settings.to_dict()))) == settings


def test_one_number_is_a_square():
    assert DataSettings(size=7).sides == (7, 7)
    assert DataSettings(size=[4, 6]).sides == (4, 6)
    assert DataSettings().sides is None
    assert DataSettings(size=7, cut_from=8).larger_sides == (8, 8)
    assert DataSettings(size=[4, 6], cut_from=[4, 7]).larger_sides == (4, 7)
    assert DataSettings(size=7).larger_sides is None


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"lable": "x"}, r'data: there is no setting "lable"; did you mean "label"'),
        ({"size": 0}, r"data\.size: .* got 0"),
        ({"size": [4, 5, 6]}, r"data\.size: .* got \[4, 5, 6\]"),
        (
            {"size": [4, -1]},
            r"data\.size: expected a whole number \(1 or more\) or a list of 2; got \[4, -1\]",
        ),
        ({"size": True}, r"data\.size: .* got True"),
        ({"channels": True}, r'data\.channels: "True" is not a choice; Known: 1, 3'),
        ({"channels": 4}, r'data\.channels: "4" is not a choice; Known: 1, 3'),
        ({"fit": "squeeze"}, r'data\.fit: "squeeze" is not a choice; .*Known: crop, pad, stretch'),
        ({"background": "red"}, r"data\.background"),
        ({"memory": "maybe"}, r"data\.memory"),
        ({"memory_limit": -1}, r"data\.memory_limit: expected a whole number \(0 or more\); got -1"),
        ({"workers": 1.5}, r"data\.workers"),
        ({"columns": "height"}, r"data\.columns: expected a list of texts, got 'height'"),
        ({"ignore": [3]}, r"data\.ignore"),
        ({"ignore": 3}, r"data\.ignore: expected a list of texts, got 3"),
        ({"size": 1.5}, r"data\.size: .* got 1\.5"),
        ({"size": "big"}, r"data\.size: .* got 'big'"),
        ({"size": 4, "cut_from": 0}, r"data\.cut_from: .* got 0"),
        ({"size": 4, "cut_from": 4.5}, r"data\.cut_from: .* got 4\.5"),
        ({"size": 4, "cut_from": 3}, r"data\.cut_from: expected data\.size \(4\) or more.* got 3"),
        ({"size": [4, 6], "cut_from": 5}, r"data\.cut_from: expected data\.size .* or more.* got 5"),
        ({"white": 0}, r"data\.white: expected a whole number \(from 1 to 65535\); got 0"),
        ({"white": 65536}, r"data\.white: .* got 65536"),
        ({"white": True}, r"data\.white: .* got True"),
        ({"cut_from": 5}, r"data\.cut_from does nothing without data\.size"),
        ({"label": 5}, r"data\.label: expected a text, got 5"),
        ({"skip_unreadable": "yes"}, r"data\.skip_unreadable: expected true or false, got 'yes'"),
    ],
)
def test_refuses_a_wrong_value(table, says):
    with pytest.raises(SettingError, match=says):
        DataSettings.from_dict(table)
