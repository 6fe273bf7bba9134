"""The bonus of enrolled classes, as a plain value."""

import pytest

from samekind.decisions import Balance
from samekind.settings import check


def test_its_shares_are_shares():
    check(Balance(-0.5, "voices", 0.9, 0.8), where="balance")
    with pytest.raises(Exception, match="known"):
        check(Balance(0.5, "voices", 1.9, 0.8), where="balance")
