"""Arguments are checked against the type hints of what takes them."""

import pytest

from samekind.errors import SettingError
from samekind.training.arguments import check_arguments


def function(*, margin: float = 0.1, sizes: tuple[int, ...] = (), secret: int = 0):
    """What is checked against."""


def test_arguments_are_returned_as_the_hints_have_them():
    checked = check_arguments({"margin": 1, "sizes": [1, 2]}, ["margin", "sizes"], function, "here")
    assert checked == {"margin": 1, "sizes": (1, 2)}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"margn": 1.0}, 'here: there is no setting "margn"; did you mean "margin"'),
        ({"secret": 1}, 'here: there is no setting "secret"'),
        ({"margin": "wide"}, r"here\.margin: expected a number"),
    ],
)
def test_refuses_an_unknown_argument_and_another_type(arguments, message):
    with pytest.raises(SettingError, match=message):
        check_arguments(arguments, ["margin", "sizes"], function, "here")
