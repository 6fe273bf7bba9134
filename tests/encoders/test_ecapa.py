"""ECAPA-TDNN: its size is that of the paper, and one frame is enough."""

import pytest
import torch

from samekind.encoders import ECAPA
from samekind.errors import SettingError


def test_it_has_as_many_parameters_as_in_the_paper():
    """The paper counts 6.2 million with 512 channels, 14.7 with 1024."""
    with torch.device("meta"):
        counts = [sum(p.numel() for p in ECAPA(width=width).parameters()) / 1e6 for width in (512, 1024)]
    assert counts == pytest.approx([6.2, 14.7], abs=0.2)


def test_one_frame_is_enough_and_widths_are_in_eight_parts():
    assert ECAPA(width=16, last_width=8).eval()(torch.randn(1, 80, 1)).isfinite().all()
    with pytest.raises(SettingError, match="width a multiple of 8"):
        ECAPA(width=12)
