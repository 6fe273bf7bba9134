"""None of these on classes that were never trained on: half of them enrolled, against a loop."""

import pytest
import torch
from torch import nn

from samekind.data import clusters
from samekind.inference.balancing import Labelled, drawn_examples
from samekind.inference.half_enrolled import half_enrolled
from samekind.inference.open_set import decide
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Euclidean
from samekind.space import MetricSpace

NEW = clusters(classes=8, items=9, dimension=4, spread=0.5, seed=3)
LABELLED = Labelled(NEW.inputs, NEW.labels)


def a_space(similarity=None, *, classes=("old", "older")):
    space = MetricSpace(nn.Identity(), similarity or Euclidean(), SupportMeans(dimension=4)).eval()
    generator = torch.Generator().manual_seed(0)
    space.enroll_classes({name: torch.randn(1, 4, generator=generator) for name in classes})
    return space


@pytest.mark.parametrize("classes", [("old", "older"), ()])
def test_one_draw_is_the_loop(classes):
    space = a_space(classes=classes)
    told = half_enrolled(space, LABELLED, draws=1, seed=5)
    examples = drawn_examples(LABELLED, 4, 5, 5)
    rows = [
        row
        for row, label in enumerate(NEW.labels.tolist())
        if examples.asked[row] or label not in examples.names.tolist()
    ]
    assert told.labels.tolist() == NEW.labels[rows].tolist()
    assert told.known.tolist() == [int(NEW.labels[row]) in examples.names.tolist() for row in rows]
    assert int(told.known.sum()) == 4 * (9 - 5)
    vectors = [*examples.means, *space.prototypes.vectors[:, 0]]
    for place, row in enumerate(rows):
        nearest = max(-float((NEW.inputs[row] - vector).norm()) for vector in vectors)
        assert float(told.scores["similarity"][place]) == pytest.approx(nearest, abs=1e-5)


def test_the_threshold_tells_enrolled_classes_from_unknown_ones():
    """Far apart, it errs on none of them; the examples themselves are not asked about."""
    apart = clusters(classes=12, items=9, dimension=8, spread=0.1, seed=3)
    space = MetricSpace(nn.Identity(), Euclidean(), SupportMeans(dimension=8)).eval()
    decision = decide(half_enrolled(space, Labelled(apart.inputs, apart.labels)), name="apart")
    assert (decision.false_accepts, decision.false_rejects) == (0, 0)
    assert (decision.same_trials, decision.different_trials) == (5 * 6 * 4, 5 * 6 * 9)
    space.open_set = decision
    space.enroll_classes({str(label): apart.inputs[apart.labels == label][:5] for label in range(6)})
    best = space.score_classes(apart.inputs, kind=decision.kind).amax(1)
    assert torch.equal(decision.accepts(best), apart.labels < 6)


def test_every_kind_of_score_is_compared_and_draws_are_put_together():
    told = half_enrolled(a_space(), LABELLED, draws=3)
    assert list(told.scores) == ["similarity", "cosine"]
    assert len(told.known) == len(told.labels) == len(told.scores["cosine"]) == 3 * (16 + 36)
    assert list(half_enrolled(a_space(Cosine()), LABELLED).scores) == ["similarity"]


def test_too_few_classes_say_nothing():
    some = NEW.only(NEW.classes[:5])
    assert half_enrolled(a_space(), Labelled(some.inputs, some.labels)) is None
    alone = Labelled(NEW.inputs[::9], NEW.labels[::9])  # one item of each class
    assert half_enrolled(a_space(), alone) is None
