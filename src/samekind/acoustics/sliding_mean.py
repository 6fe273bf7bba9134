"""Features less their mean over a sliding window, which takes away what a microphone adds."""

import torch
from torch import Tensor


def without_sliding_mean(values: Tensor, lengths: Tensor, *, window: int = 300) -> Tensor:
    """Features (n, coefficients, frames) less the mean over ``window`` frames around each frame.

    As in Kaldi the window is moved, not cut, where it would reach beyond an end of the sound (n,) lengths; a
    sound shorter than the window has its own mean everywhere.
    """
    steps = torch.arange(values.shape[-1], device=values.device)
    ends = lengths[:, None]
    first = torch.minimum(
        (steps - window // 2).clamp(min=0).expand(len(values), -1), (ends - window).clamp(min=0)
    )
    last = torch.minimum(first + window, ends)
    # In float64, because a sum of many frames is subtracted from another.
    sums = torch.nn.functional.pad(values.double().cumsum(-1), (1, 0))
    first, last = (place[:, None].expand(-1, values.shape[1], -1) for place in (first, last))
    means = (sums.gather(-1, last) - sums.gather(-1, first)) / (last - first).clamp(min=1)
    return values - means.to(values.dtype)
