"""A decision: where it accepts, and its probabilities."""

import math

import pytest
import torch

from samekind.decisions import Decision
from samekind.errors import SettingError, SpaceError


def test_a_decision_accepts_from_its_threshold_on():
    decision = Decision("similarity", 0.5, "eer", "four trials", 0.0, 0.0, (2.0, -1.0))
    scores = torch.tensor([0.4, 0.5, 0.6])
    assert decision.accepts(scores).tolist() == [False, True, True]
    expected = [1 / (1 + math.exp(-(2 * score - 1))) for score in (0.4, 0.5, 0.6)]
    torch.testing.assert_close(decision.probability(scores), torch.tensor(expected))


def test_another_prior_moves_the_odds():
    decision = Decision("similarity", 0.5, "eer", "four trials", 0.0, 0.0, (2.0, -1.0))
    even, rare = (decision.probability(torch.tensor(0.75), prior=prior) for prior in (0.5, 0.1))
    assert float(rare / (1 - rare)) == pytest.approx(float(even / (1 - even)) / 9, rel=1e-5)
    with pytest.raises(SettingError, match="expected a prior between 0 and 1, got 1"):
        decision.probability(torch.zeros(1), prior=1.0)


def test_a_decision_without_calibration_gives_no_probability():
    decision = Decision("similarity", 0.5, "eer", "four trials", 0.0, 0.0)
    with pytest.raises(SpaceError, match="without a calibration; fit it again"):
        decision.probability(torch.zeros(1))
