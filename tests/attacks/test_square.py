"""Square: patches of pictures and blocks of vectors, in any region, by scores alone."""

import pytest
import torch

from samekind.attacks import L1, L2, PICTURES, Linf, Logits, Raised, RandomSearch, Square
from samekind.attacks.square import _hill, _moved, _patch, _patched

REGIONS = (Linf(0.2), L2(1.0), L1(4.0))


@pytest.mark.parametrize("region", REGIONS, ids=lambda region: type(region).__name__)
def test_it_beats_random_points_of_pictures_and_vectors(pictures, region):
    model, x, labels = pictures
    random = RandomSearch(region, tries=60)(Logits(model, labels), x, limits=PICTURES)
    square = Square(region, queries=60)(Logits(model, labels), x, limits=PICTURES)
    assert square.succeeded.sum() > random.succeeded.sum()
    assert square.queries.max() <= 62
    vectors = Square(region, queries=60)(Logits(model, labels), x.flatten(1), limits=PICTURES)
    assert vectors.succeeded.sum() > random.succeeded.sum()
    assert region.contains(square.x, x).all()
    assert region.contains(vectors.x, x.flatten(1)).all()


def test_more_queries_help_and_a_raised_value_rises(pictures):
    model, x, labels = pictures
    few, more = (
        Square(Linf(0.15), queries=queries)(Logits(model, labels), x, limits=PICTURES).succeeded.sum()
        for queries in (10, 150)
    )
    assert more > few
    goal = Raised(Logits(model, labels))
    attacked = Square(Linf(0.05), queries=20)(goal, x, limits=PICTURES)
    rows = torch.arange(len(x))
    with torch.no_grad():
        assert (goal.outcomes(attacked.x, rows) > goal.outcomes(x, rows)).float().mean() > 0.9


def test_a_hill_goes_up_and_down_and_has_the_length_one():
    for height, width, across in ((4, 4, False), (5, 3, True), (1, 7, False), (1, 1, True)):
        hill = _hill(height, width, across=across)
        assert hill.shape == (height, width)
        assert float(hill.norm()) == pytest.approx(1)
    hill = _hill(6, 6, across=True)
    assert (hill[:, :3] > 0).all()
    assert (hill[:, 3:] < 0).all()
    assert hill[3, 1] == hill.max()  # the middle of the left half


def test_patches_have_their_share_and_leave_the_rest():
    generator = torch.Generator().manual_seed(0)
    plane = torch.zeros(2, 3, 10, 10)
    for _ in range(20):
        rows, columns = _patch(plane, 0.25, generator)
        assert rows.stop - rows.start == columns.stop - columns.start == 5
        assert 0 <= rows.start <= rows.stop <= 10
        assert 0 <= columns.start <= columns.stop <= 10
    rows, columns = _patch(plane[:, :1, :1], 0.5, generator)
    assert (rows, columns.stop - columns.start) == (slice(0, 1), 5)
    changed = _patched(plane, 0.3, 0.25, generator)
    assert (changed != 0).sum(dim=(2, 3)).tolist() == [[25] * 3] * 2
    assert changed.abs().unique().tolist() == [0.0, pytest.approx(0.3)]


def test_a_move_keeps_the_length():
    generator = torch.Generator().manual_seed(0)
    plane = torch.randn(4, 3, 9, 9, generator=generator)
    for _ in range(5):
        plane = _moved(plane, 2.0, 0.3, generator)
        torch.testing.assert_close(plane.flatten(1).norm(dim=1), torch.full((4,), 2.0))
