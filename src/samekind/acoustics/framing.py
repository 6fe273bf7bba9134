"""A waveform as overlapping frames, the way Kaldi cuts them with ``snip-edges=false``."""

import torch
from torch import Tensor


def frame_counts(lengths: Tensor, shift: int) -> Tensor:
    """How many frames waveforms of these lengths (n,) have: one for each shift, rounded; at least one.

    >>> frame_counts(torch.tensor([16000, 239, 240, 10]), 160).tolist()
    [100, 1, 2, 1]
    """
    return ((lengths + shift // 2) // shift).clamp(min=1)


def frames_of(x: Tensor, lengths: Tensor, *, window: int, shift: int) -> Tensor:
    """Waveforms (n, samples) of these lengths (n,) as frames (n, frames, window), centred ``shift`` apart.

    A frame that reaches beyond an end of its waveform has the waveform mirrored there, as often as needed.
    Frames behind `frame_counts` mean nothing.
    """
    before = window // 2 - shift // 2
    count = int(frame_counts(lengths, shift).max())
    places = torch.arange((count - 1) * shift + window, device=x.device) - before
    places = torch.remainder(places, 2 * lengths[:, None].clamp(min=1))
    places = torch.where(places < lengths[:, None], places, 2 * lengths[:, None] - 1 - places)
    return x.gather(1, places.clamp_(min=0)).unfold(1, window, shift)
