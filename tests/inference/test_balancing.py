"""What is named rightly beside known classes, and the bonus: against loops, and where the answer is known."""

import pytest
import torch

from samekind.inference.balancing import Labelled, Task, balanced, enrolments, naming, naming_share
from samekind.prototypes import SupportMeans
from samekind.similarities import Dot, Euclidean
from samekind.space import MetricSpace


def a_space(vectors, similarity=None):
    known = SupportMeans(dimension=2)
    known.assign([str(number) for number in range(len(vectors))], torch.tensor(vectors)[:, None])
    return MetricSpace(torch.nn.Identity(), similarity or Euclidean(), known).eval()


def around(points, items, spread, seed=0):
    generator = torch.Generator().manual_seed(seed)
    centres = torch.tensor(points).repeat_interleave(items, dim=0)
    z = centres + spread * torch.randn(len(centres), 2, generator=generator)
    return z, torch.arange(len(points)).repeat_interleave(items)


def test_the_share_is_a_harmonic_mean():
    known, new = torch.tensor([1.0, 1.0, 0.0, 0.0]), torch.tensor([1.0])
    assert float(naming_share(known, new)) == pytest.approx(2 / 3)
    assert float(naming_share(known, new[:0])) == 0.5
    assert float(naming_share(known[:0], new)) == 1.0
    assert float(naming_share(torch.zeros(2), torch.zeros(3))) == 0


def test_known_items_alone_are_named_by_the_best_class():
    space = a_space([[0.0, 0.0], [4.0, 0.0]])
    z = torch.tensor([[0.0, 0.0], [1.0, 0.0], [3.0, 0.0]])
    result = naming(space, Labelled(z, torch.tensor([0, 0, 0])), None, kind="similarity")
    assert result.known.tolist() == [1, 1, 0]
    assert (len(result.new), result.share) == (0, pytest.approx(2 / 3))
    # A quarter of nearly the smaller of the margins 4 - 0 and 3 - 1 of what was right.
    assert result.bonus == pytest.approx((2 + 0.02 * 2) / 4, abs=1e-5)


def test_normalised_scores_get_no_bonus_unmeasured():
    space = a_space([[0.0, 0.0], [4.0, 0.0]])
    space.normalised = Dot()
    z = torch.tensor([[0.0, 0.0], [5.0, 0.0]])
    assert naming(space, Labelled(z, torch.tensor([0, 1])), None, kind="normalised").bonus == 0


def test_the_bonus_moves_the_border_between_known_and_new_classes():
    """Inner products with long prototypes of known classes win by habit; a bonus undoes it."""
    space = a_space([[6.0, 0.0], [0.0, 6.0]], Dot())
    known_z, known = around([[2.0, 0.0], [0.0, 2.0]], 20, 0.1)
    new_z, new = around([[1.2, -1.2], [-1.2, 1.2]], 20, 0.1, seed=1)
    plain = (new_z @ space.prototypes.vectors[:, 0].T).amax(1) > (new_z * new_z.mean(0)).sum(1)
    assert plain.all()
    result = naming(space, Labelled(known_z, known), Labelled(new_z, new + 2), kind="similarity")
    assert result.bonus > 0
    assert result.share > 0.95
    assert (float(result.known.mean()), float(result.new.mean())) == pytest.approx((1, 1), abs=0.1)


def test_new_classes_alone_are_distinguished_from_each_other():
    space = a_space([[0.0, 0.0]])
    new_z, new = around([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]], 6, 0.05)
    result = naming(space, None, Labelled(new_z, new), kind="similarity")
    assert (result.share, result.bonus, len(result.known)) == (1, None, 0)


def test_copies_of_an_example_are_no_queries():
    """Every item has a copy in its group, so only groups without an example count."""
    space = a_space([[0.0, 0.0]])
    z, labels = around([[1.0, 0.0], [0.0, 1.0]], 4, 0.3)
    twice = Labelled(torch.cat([z, z]), torch.cat([labels, labels]), torch.arange(8).repeat(2))
    alone = naming(space, None, twice._replace(groups=None), kind="similarity", shots=1, draws=1)
    apart = naming(space, None, twice, kind="similarity", shots=1, draws=1)
    assert (len(alone.new), len(apart.new)) == (14, 12)


def test_at_most_so_many_classes_are_enrolled_at_a_time():
    space = a_space([[0.0, 0.0]])
    new_z, new = around([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, -1.0]], 4, 0.01)
    known = Labelled(torch.zeros(2, 2), torch.zeros(2, dtype=torch.long))
    for task in enrolments(space, known, Labelled(new_z, new), kind="similarity", way=2, shots=3, draws=6):
        assert len(torch.unique(new[task.asked])) == 2
        assert int(task.asked.sum()) == 2
        assert task.new[task.asked].all()
        assert task.known.all()


def a_task(known, new):
    """Margins of known and of new items, all of them right if the side of the border is."""
    margins = torch.tensor([*known, *new], dtype=torch.double)
    return Task(margins, torch.ones(len(known)).bool(), *torch.ones(2, len(new)).bool())


def test_the_bonus_is_none_where_it_gains_nothing():
    result = balanced([[a_task([-1.0, -2.0], [1.0, 2.0])]])
    assert (result.bonus, result.share) == (0, 1)


@pytest.mark.parametrize(("shift", "sign"), [(-3.0, 1), (3.0, -1)])
def test_several_folds_choose_one_bonus_of_either_sign(shift, sign):
    """New classes win by habit where the known prototypes are stale: the bonus is then below 0."""
    parts = [
        [a_task([shift - 1.0, shift - 2.0], [shift + 1.0, shift + 2.0])],
        [a_task([shift - 1.0], [shift + 1.0, shift + 3.0, shift + 4.0])],
    ]
    result = balanced(parts)
    assert sign * result.bonus > 1
    assert result.share == 1
    assert (len(result.known), len(result.new)) == (3, 5)
    # The smallest of the bonuses that name all rightly.
    assert abs(result.bonus) == pytest.approx(2, abs=0.1)


def test_two_folds_that_disagree_meet_between():
    """What one fold asks for costs the other more."""
    result = balanced([[a_task([-1.0] * 9, [-0.5] * 9)], [a_task([-1.0], [1.0])]])
    assert 0.5 < result.bonus <= 1
    assert result.share == 1


def test_classes_that_would_win_already_get_less():
    """Prototypes that lag behind their items: fresh means of the same items draw the items of others."""
    points = [[2.0, 0.0], [0.0, 2.0], [-2.0, 0.0], [0.0, -2.0]]
    fresh, stale = a_space(points), a_space([[0.5, 0.0], [0.0, 0.5], [-0.5, 0.0], [0.0, -0.5]])
    fresh.similarity = stale.similarity = Euclidean()
    items = Labelled(*around(points, 12, 0.4))
    assert naming(fresh, items, None, kind="similarity").bonus > 0
    moved = naming(stale, items._replace(z=items.z + 1.0), None, kind="similarity")
    assert moved.bonus < 0
    assert naming(stale, Labelled(items.z[:12], items.labels[:12]), None, kind="similarity").bonus > 0
