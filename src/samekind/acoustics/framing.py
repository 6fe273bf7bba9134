"""A waveform as overlapping frames, the way Kaldi cuts them, with ``snip-edges=false`` or true."""

from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor

#: "mirrored": frames reach beyond both ends, where the waveform is mirrored. "inside": none does, but the
#: only one of a sound that is shorter than it.
Edges = Literal["mirrored", "inside"]


def frame_counts(lengths: Tensor, shift: int, *, window: int = 0, edges: Edges = "mirrored") -> Tensor:
    """How many frames waveforms of these lengths (n,) have: one for each shift, rounded, or as many as lie
    inside; at least one.

    >>> frame_counts(torch.tensor([16000, 239, 240, 10]), 160).tolist()
    [100, 1, 2, 1]
    >>> frame_counts(torch.tensor([16000, 560, 559, 10]), 160, window=400, edges="inside").tolist()
    [98, 2, 1, 1]
    """
    if edges == "inside":
        return (1 + (lengths - window) // shift).clamp(min=1)
    return ((lengths + shift // 2) // shift).clamp(min=1)


def frames_of(
    x: Tensor, lengths: Tensor, *, window: int, shift: int, size: int | None = None, edges: Edges = "mirrored"
) -> Tensor:
    """Waveforms (n, samples) of these lengths (n,) as frames (n, frames, window), ``shift`` apart.

    A frame that reaches beyond an end of its waveform has the waveform mirrored there, as often as needed.
    Frames behind `frame_counts` mean nothing, nor do samples of a larger ``size`` behind the window.
    """
    before, size = window // 2 - shift // 2, window if size is None else size
    before = before if edges == "mirrored" else 0
    longest = int(lengths.max())
    count = int(frame_counts(lengths, shift, window=window, edges=edges).max())
    extended = F.pad(x[:, :longest], (before, size + window))
    # Only the two ends are looked up: all the rest is where it was.
    ends = lengths[:, None].clamp(min=1)
    left = torch.arange(-before, 0, device=x.device).expand(len(x), -1)
    right = ends + torch.arange(window, device=x.device)
    places = torch.cat([left, right], dim=1)
    extended = extended.scatter(1, places + before, x.gather(1, _mirrored(places, ends)))
    return extended[:, : (count - 1) * shift + size].unfold(1, size, shift)


def _mirrored(places: Tensor, lengths: Tensor) -> Tensor:
    """Places (n, k) beyond the ends of sounds of these lengths (n, 1), reflected into them."""
    places = torch.remainder(places, 2 * lengths)
    return torch.where(places < lengths, places, 2 * lengths - 1 - places)
