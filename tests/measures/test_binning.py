"""Bins and cells of scores against the bits that Python knows."""

import math
import struct

import pytest
import torch
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st

from samekind.measures.binning import BINS, CELLS, StoredScores, count_bins, count_cells, lowest_of

# No subnormal numbers: some libraries have the processor take them for 0 once they are loaded.
FLOATS = st.lists(
    st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False), min_size=1, max_size=20
)


def place(score):
    """Bin and cell by hand: the bits, negative ones counted backwards from the middle."""
    (bits,) = struct.unpack("<I", struct.pack("<f", score + 0.0))
    order = 2**31 + bits if bits < 2**31 else 2**32 - 1 - bits
    return divmod(order, CELLS)


def one(score, same=True):
    return torch.tensor([score], dtype=torch.float32), torch.tensor([same])


@examples(max_examples=60)
@given(FLOATS)
def test_every_score_is_in_its_bin_and_its_cell(scores):
    kinds = [value > 0 for value in scores]
    counts, errors = count_bins([(torch.tensor(scores), torch.tensor(kinds))])
    assert errors is None
    assert int(counts.sum()) == len(scores)
    for score in scores:
        bin, cell = place(score)
        assert int(counts[bin, int(score > 0)]) == sum(place(entry)[0] == bin for entry in scores)
        cells = count_cells(
            [(torch.tensor(scores), torch.tensor(kinds))],
            [bin],
            [],
            StoredScores(0, 0),
            dtype=torch.int64,
            device=torch.device("cpu"),
        )
        assert cells.shape == (1, 2, CELLS)
        assert int(cells[0, int(score > 0), cell]) == sum(place(element) == (bin, cell) for element in scores)
        assert lowest_of(bin, cell) == score


@examples(max_examples=60)
@given(
    st.floats(width=32, allow_nan=False, allow_infinity=False, allow_subnormal=False),
    st.floats(width=32, allow_nan=False, allow_subnormal=False),
)
def test_places_are_in_the_order_of_the_scores(first, second):
    if math.isfinite(second):
        assert (place(first) < place(second)) == (first < second)


def test_both_zeros_share_a_cell():
    assert place(0.0) == place(-0.0) == (BINS // 2, 0)
    counts, _ = count_bins([one(0.0), one(-0.0)])
    assert int(counts[BINS // 2, 1]) == 2


@pytest.mark.parametrize("extreme", [3.4028234663852886e38, -3.4028234663852886e38, 1e-45, -1e-45])
def test_the_largest_floats_are_counted(extreme):
    counts, _ = count_bins([one(extreme)])
    assert int(counts[place(extreme)[0], 1]) == 1


@pytest.mark.parametrize("broken", [math.nan, -math.nan, math.inf, -math.inf])
def test_refuses_nan_and_infinity(broken):
    with pytest.raises(ValueError, match="expected finite scores, got 1 of 2 that are NaN or infinite"):
        count_bins([one(broken), one(0.5)])


@examples(max_examples=20)
@given(FLOATS, st.sampled_from([-math.inf, -1.0, 0.0, 0.7, math.inf]))
def test_the_errors_at_a_threshold(scores, threshold):
    scores, kinds = torch.tensor(scores), torch.arange(len(scores)) % 3 == 0
    _, errors = count_bins([(scores, kinds)], threshold)
    accepted = scores >= threshold
    assert errors == (int((accepted & ~kinds).sum()), int((~accepted & kinds).sum()))


def test_stored_trials_are_those_of_their_bins():
    scores, same = torch.tensor([0.5, 0.5, 4.0, -4.0, 0.5001]), torch.tensor([True, False, True, True, True])
    places = sorted({place(0.5)[0], place(0.5001)[0]})
    store = StoredScores(2, 1)
    counted = [place(4.0)[0]]
    cells = count_cells(
        [(scores[:2], same[:2]), (scores[2:], same[2:])],
        counted,
        places,
        store,
        dtype=torch.int32,
        device=torch.device("cpu"),
    )
    assert int(cells.sum()) == 1
    targets, impostors = store.sorted()
    numbers = [lowest_of(*divmod(order + 2**31, CELLS)) for order in [*targets.tolist(), *impostors.tolist()]]
    assert numbers == [0.5, float(scores[4]), 0.5]


@pytest.mark.parametrize("sizes", [(0, 1), (3, 1), (2, 0)])
def test_refuses_more_or_fewer_trials_than_expected(sizes):
    store = StoredScores(*sizes)
    same = torch.tensor([True, False, True])
    store.add(torch.tensor([1, 2, 3], dtype=torch.int32), same, torch.ones_like(same))
    with pytest.raises(ValueError, match=f"got {sum(sizes)} in some bins on the first and 3 on a later one"):
        store.sorted()


@pytest.mark.parametrize(
    ("scores", "same", "message"),
    [
        (torch.zeros(2, dtype=torch.double), torch.ones(2).bool(), "float32 or shorter, got torch.float64"),
        (torch.zeros(2, dtype=torch.int64), torch.ones(2).bool(), "float32 or shorter, got torch.int64"),
        (torch.zeros(2), torch.ones(2), "expected a boolean same, got torch.float32"),
        (torch.zeros(2), torch.ones(3).bool(), r"shape \(trials,\), got \(2,\) and \(3,\)"),
    ],
)
def test_refuses_invalid_blocks(scores, same, message):
    with pytest.raises(ValueError, match=message):
        count_bins([(scores, same)])


def test_refuses_a_nan_threshold():
    with pytest.raises(ValueError, match=r"expected a threshold .* got NaN"):
        count_bins([one(0.5)], math.nan)
