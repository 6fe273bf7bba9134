"""All pairs of a pairs network in one GPU kernel, which keeps the hidden layers on the chip.

The plain path multiplies block after block and carries every hidden layer to the memory and back. The
kernel goes through all layers with a few pairs at a time, and what is asked of the scores (the best of
a row, their counts, the logarithm of their summed exponentials) it works out where they are: the
matrix of scores is written only for who asks for it. `PairsKernel` is for use, not for training, and
computes in 16 bits with sums in 32; the plain path is always there, and is what it is tested against.
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.similarities.kernels import on_hopper
from samekind.similarities.kernels.gpu import current_gpu, has_triton, multiprocessors
from samekind.similarities.kernels.on_hopper import PIECE, Epilogue
from samekind.similarities.pairs_network import PairsNetwork
from samekind.similarities.scale import Scale

Side = Literal["first", "second"]

#: How the bits of a score are divided into bin and cell: see `measures.binning`.
BINS, CELLS = 2**18, 2**14
#: Programs on a streaming multiprocessor, for the portable kernel.
PROGRAMS = 8
#: Bytes of hidden layers when the best groups of columns are scored again.
REFINED_BYTES = 256 * 2**20


def has_kernel(network: object, device: torch.device) -> bool:
    """Whether the kernel takes a similarity on a device: a pairs network, a GPU, and Triton."""
    return isinstance(network, PairsNetwork) and device.type == "cuda" and has_triton()


class Packed(NamedTuple):
    """A network's layers after the first as the kernels read them, padded with zeros."""

    weights: Tensor  # Hopper: pieces (layers x pieces x pieces x 64, 64); else (layers, width, width)
    bias: Tensor  # (layers, width), float32
    last: Tensor  # (width,), float32
    offset: float
    layers: int
    width: int


class PairsKernel:
    """A pairs network, seen as a similarity that scores all pairs by the kernel.

    ``dtype`` is bfloat16 or float16, what the products are taken in; ``path`` "hopper" or "portable" names
    a kernel, "auto" takes the first where it can. The network's weights are read once, here: make
    another kernel when they have changed.
    """

    symmetric = False
    chords = False

    def __init__(
        self,
        network: PairsNetwork,
        *,
        dtype: torch.dtype = torch.bfloat16,
        path: Literal["auto", "hopper", "portable"] = "auto",
    ) -> None:
        if dtype not in (torch.bfloat16, torch.float16):
            raise SettingError(f"the kernel computes in bfloat16 or float16, not {dtype}")
        device = network.last.weight.device
        hopper = on_hopper.takes(device, hidden=network.hidden, depth=network.depth, slope=network.slope)
        if path == "hopper" and not hopper:
            raise SettingError(
                f"the Hopper kernel takes two layers or more of at most {on_hopper.WIDEST} units "
                f"on an H100 or H200; this network has {network.depth} of {network.hidden}, on {device}"
            )
        self.network = network
        self.quantity = network.quantity
        self.dtype = dtype
        self.on_hopper = hopper and path != "portable"
        self.packed = _packed(network, dtype, pieces=self.on_hopper)

    @property
    def scale(self) -> Scale:
        """That of the network."""
        return self.network.scale

    def __call__(self, a: Tensor, b: Tensor) -> Tensor:
        """Paired scores, by the network itself: (n, d), (n, d) -> (n,)."""
        scores: Tensor = self.network(a, b)
        return scores

    def pair_bytes(self, dimension: int) -> int:  # noqa: ARG002 (nothing but the score is kept of a pair)
        """A score in float32."""
        return 4

    @torch.no_grad()
    def score_all(self, a: Tensor, b: Tensor) -> Tensor:
        """Every a against every b: (n, d), (m, d) -> (n, m), float32."""
        scores = torch.empty(len(a), len(b), device=a.device)
        self._launch("scores", self._sides(a, b), scores)
        return scores

    @torch.no_grad()
    def log_sum_exp(self, a: Tensor, b: Tensor, *, over: Side = "second", scale: float = 1.0) -> Tensor:
        """log Σ exp(scale x score) over all b for each a (n,), or over all a for each b (m,).

        With the prototypes first and the items second, ``over="first"`` is what the scores of an item's
        classes are divided by in a softmax.
        """
        sides = self._sides(a, b) if over == "second" else self._sides(a, b)[::-1]
        groups = self._groups(*sides)
        self._launch("log_sum_exp", sides, groups, scale=scale)
        return groups.logsumexp(1)

    @torch.no_grad()
    def best(self, a: Tensor, b: Tensor, k: int) -> tuple[Tensor, Tensor]:
        """Scores and indices (n, min(k, m)) of the best b of each a, best first.

        The kernel finds the groups of 64 columns with the highest scores; the k best are in k of them. Those
        are scored again by the network itself, in its own precision.
        """
        k = min(k, len(b))
        sides = self._sides(a, b)
        groups = self._groups(*sides)
        self._launch("best", sides, groups)
        chosen = groups.sort(dim=1, descending=True, stable=True).indices[:, :k].sort(dim=1).values
        columns = (chosen[:, :, None] * PIECE + torch.arange(PIECE, device=a.device)).flatten(1)
        scores = self._again(a, b, columns.clamp(max=len(b) - 1))
        scores = scores.masked_fill(columns >= len(b), -torch.inf)
        best = scores.sort(dim=1, descending=True, stable=True)
        return best.values[:, :k], columns.gather(1, best.indices[:, :k])

    @torch.no_grad()
    def count_bins(
        self, a: Tensor, b: Tensor, labels: tuple[Tensor, Tensor], *, upper: bool = False,
        threshold: float = float("nan"),
    ) -> tuple[Tensor, Tensor]:  # fmt: skip
        """How many scores of two classes and of one fall into each bin (bins, 2), and at ``threshold`` the
        false accepts and false rejects (2,).

        ``labels`` are the classes of a and of b. With ``upper`` a and b are the same items, and only pairs
        whose first comes before the second count.
        """
        counts = torch.zeros(BINS, 2, dtype=torch.int64, device=a.device)
        errors = torch.zeros(2, dtype=torch.int64, device=a.device)
        self._launch(
            "bins", self._sides(a, b), counts, labels=labels, errors=errors, upper=upper, threshold=threshold
        )
        return counts, errors

    @torch.no_grad()
    def count_cells(
        self, a: Tensor, b: Tensor, labels: tuple[Tensor, Tensor], bins: Sequence[int], *,
        dtype: torch.dtype = torch.int64, upper: bool = False,
    ) -> Tensor:  # fmt: skip
        """How many scores of two classes and of one fall into each cell of the bins: (bins, 2, cells)."""
        slots = torch.zeros(BINS, dtype=torch.int32, device=a.device)
        numbers = torch.arange(1, len(bins) + 1, dtype=torch.int32, device=a.device)
        slots[torch.tensor(bins, dtype=torch.int64, device=a.device)] = numbers
        counts = torch.zeros(len(bins) + 1, 2, CELLS, dtype=dtype, device=a.device)
        self._launch("cells", self._sides(a, b), counts, labels=labels, slots=slots, upper=upper)
        return counts[1:]

    def _sides(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """The parts of both sides in the first layer, in 16 bits and padded to the width of the kernel."""
        first, second = self._halves(a, b)
        more = self.packed.width - self.network.hidden
        return F.pad(first, (0, more)).to(self.dtype), F.pad(second, (0, more)).to(self.dtype)

    def _halves(self, a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
        """The same in the network's own precision."""
        dtype = self.network.first.weight.dtype
        return self.network.halves(a.to(dtype), b.to(dtype))

    def _groups(self, rows: Tensor, columns: Tensor) -> Tensor:
        """Room for a number for each row and 64 columns."""
        return torch.empty(len(rows), -(-len(columns) // PIECE), device=rows.device)

    def _again(self, a: Tensor, b: Tensor, columns: Tensor) -> Tensor:
        """Scores (n, chosen) of each a and the columns chosen for it, by the network."""
        first, second = self._halves(a, b)
        at_once = max(1, REFINED_BYTES // max(1, 8 * self.network.hidden * columns.shape[1]))
        strips = [slice(top, top + at_once) for top in range(0, len(a), at_once)]
        parts = [self.network.rest(first[rows, None] + second[columns[rows]]) for rows in strips]
        return torch.cat(parts).float() if parts else torch.empty(columns.shape, device=a.device)

    def _launch(
        self, epilogue: Epilogue, sides: tuple[Tensor, Tensor], target: Tensor, *,
        labels: tuple[Tensor, Tensor] | None = None, slots: Tensor | None = None,
        errors: Tensor | None = None,
        upper: bool = False, scale: float = 1.0, threshold: float = float("nan"),
    ) -> None:  # fmt: skip
        rows, columns = (side.contiguous() for side in sides)
        if not len(rows) or not len(columns):
            return
        # An argument that an epilogue does not read must still be an address.
        unread = torch.zeros(2, dtype=torch.int64, device=rows.device)
        mine, others = labels if labels is not None else (unread, unread)
        slots, errors = slots if slots is not None else unread.int(), errors if errors is not None else unread
        given = (self.packed.bias, self.packed.last, target, mine.long(), others.long(), slots, errors)
        numbers = (self.network.slope, self.packed.offset, scale, threshold)
        if self.on_hopper:
            weights = self.packed.weights
            on_hopper.score_tiles(rows, columns, weights, given, numbers, epilogue=epilogue, upper=upper)
        else:
            _portably(self.packed, rows, columns, given, numbers, epilogue, upper)


def _portably(
    packed: Packed, rows: Tensor, columns: Tensor, given: tuple[Tensor, ...], numbers: tuple[float, ...],
    epilogue: Epilogue, upper: bool,
) -> None:  # fmt: skip
    from samekind.similarities.kernels import pairs_kernel_portable as portable

    n, m, pairs = len(rows), len(columns), portable.PAIRS.value
    tiles = -(-m // PIECE) * -(-n // (pairs // PIECE))
    programs = min(PROGRAMS * multiprocessors(rows.device), tiles)
    scratch = torch.empty(programs, 2, pairs, packed.width, dtype=rows.dtype, device=rows.device)
    with current_gpu(rows):
        portable.score_tiles[(programs,)](
            rows, columns, packed.weights, *given, scratch,
            tiles, n, m, packed.width, packed.layers, *numbers, epilogue, upper,
        )  # fmt: skip


@torch.no_grad()
def _packed(network: PairsNetwork, dtype: torch.dtype, *, pieces: bool) -> Packed:
    layers, width = network.depth - 1, -(-network.hidden // PIECE) * PIECE
    device, more = network.last.weight.device, width - network.hidden
    weights = torch.zeros(layers, width, width, dtype=dtype, device=device)
    bias = torch.zeros(layers, width, device=device)
    for number, layer in enumerate(network.layers):
        assert isinstance(layer, nn.Linear)
        weights[number, : network.hidden, : network.hidden] = layer.weight
        bias[number, : network.hidden] = layer.bias
    if pieces:
        weights = on_hopper.in_pieces(weights)
    last = F.pad(network.last.weight[0].float(), (0, more))
    return Packed(weights, bias, last, float(network.last.bias), layers, width)
