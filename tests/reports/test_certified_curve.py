"""The curve of certified accuracy: it begins at the accuracy and ends at the largest radius."""

import pytest
import torch

from samekind.evaluation.smoothing import Certified, Smoothing
from samekind.reports.certified_curve import certified_curve


def test_the_line_is_the_certified_accuracy():
    radii, right = torch.tensor([0.0, 0.5, 1.0, 0.9]), torch.tensor([True, True, True, False])
    answer = Certified("items", "similarity", Smoothing(0.25), "unit", radii, right)
    [axes] = certified_curve({"space": answer}).axes
    x, y = axes.lines[0].get_data()
    assert (x[0], y[0]) == (0, 50)  # two of four are right and certified
    assert (x[-1], y[-1]) == (1, 0)
    assert y[list(x).index(0.5)] == 25
    assert axes.get_xlabel().endswith("draws 0.616 at most")


def test_no_answer_is_refused():
    with pytest.raises(ValueError, match="expected"):
        certified_curve({})
