"""Every question of every set: the rows are those of the protocols, in their order."""

from dataclasses import replace

import pytest
import torch
from torch import nn

from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import clusters
from samekind.encoders import MLP
from samekind.errors import DataError
from samekind.evaluation import (
    claims,
    classification,
    clustering,
    evaluate,
    few_shot,
    few_shot_beside_known,
    open_set,
    retrieval,
    unknown_classes,
    verification,
)
from samekind.inference import embed, settle
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Cosine, Dot, PairsNetwork
from samekind.space import MetricSpace

pytestmark = pytest.mark.usefixtures("few_draws")

SEEN = clusters(classes=3, items=20, dimension=4, spread=0.8)
UNSEEN = clusters(classes=6, items=20, dimension=4, spread=0.8, seed=1).only(["3", "4", "5"])


def a_space():
    torch.manual_seed(0)
    head = AuxiliaryHead(Dot(), LearnedProxies(SEEN.classes, dimension=5))
    similarity = PairsNetwork(dimension=5, hidden=8)
    space = MetricSpace(
        MLP(inputs=4, dimension=5, hidden=[8]), similarity, SupportMeans(dimension=5), auxiliary=head
    )
    settle(space, SEEN, UNSEEN)
    return space


@pytest.fixture(scope="module")
def main(few_draws):
    return evaluate(a_space(), {"seen": SEEN, "unseen": UNSEEN}, tasks=10)


@pytest.fixture(scope="module")
def every(few_draws):
    return evaluate(a_space(), {"seen": SEEN, "unseen": UNSEEN}, tasks=10, measures="all")


@pytest.mark.parametrize("measures", ["main", "all"])
def test_the_rows_are_those_of_the_protocols(measures):
    space, expected = a_space(), []
    how = {"measures": measures, "seed": 7}
    for name, items in {"seen": SEEN, "unseen": UNSEEN}.items():
        z = embed(space, items.inputs)
        expected += classification(space, items, z, name=name, **how)
        expected += unknown_classes(space, items, z, name=name, seed=7) if measures == "all" else []
        expected += claims(space, items, z, name=name, **how) if measures == "all" else []
        expected += verification(space, items, z, name=name, **how)
        expected += retrieval(space, items, z, name=name, **how)
        expected += few_shot(space, items, z, name=name, tasks=3, way=2, shots=(2,), seed=7)
        expected += clustering(space, items, z, name=name, **how)
    both = (SEEN, embed(space, SEEN.inputs), UNSEEN, embed(space, UNSEEN.inputs))
    expected += open_set(space, *both, name="seen, unseen", seed=7)
    expected += few_shot_beside_known(space, *both, name="seen, unseen", tasks=3, way=2, shots=(2,), seed=7)
    sets = {"seen": SEEN, "unseen": UNSEEN}
    assert evaluate(space, sets, tasks=3, way=2, shots=(2,), **how) == expected


def test_questions_that_do_not_apply_have_no_row(main):
    answered = {(row.items, row.question) for row in main}
    everything = {"classification", "verification", "retrieval", "few-shot", "clustering"}
    assert {question for items, question in answered if items == "seen"} == everything
    assert {question for items, question in answered if items == "unseen"} == everything - {"classification"}
    together = {"open set", "few-shot beside known"}
    assert {question for items, question in answered if items == "seen, unseen"} == together


def test_all_measures_are_the_main_ones_and_more(main, every):
    assert set(main) < set(every)
    assert {"minDCF at 1%", "MAP@R", "macro F1"} <= {row.measure for row in main}
    assert {"Cllr", "FAR at threshold", "R-precision", "ECE", "AMI", "F1"} <= {row.measure for row in every}


def test_every_row_has_an_interval_and_says_of_what_unless_all_draws_are_alike(every):
    for row in every:
        if row.low is None:
            assert row.value in (0, 1)
            assert row.unit == ""
        else:
            assert row.low <= row.value <= row.high
            assert row.unit in ("items", "classes", "queries", "episodes")


def test_every_item_is_embedded_once():
    class Counting(nn.Module):
        items = 0

        def forward(self, x):
            self.items += len(x)
            return x

    space = MetricSpace(Counting(), Dot(), SupportMeans(dimension=4))
    evaluate(space, {"seen": SEEN, "unseen": UNSEEN}, tasks=2)
    assert space.encoder.items == len(SEEN) + len(UNSEEN)


def test_no_sets_no_rows():
    assert evaluate(a_space(), {}) == []


@pytest.mark.device
def test_a_space_on_a_device_says_the_same():
    space = a_space()
    sets = {"seen": SEEN, "unseen": UNSEEN}
    on_cpu, on_gpu = evaluate(space, sets, tasks=5), evaluate(space.to("cuda"), sets, tasks=5)
    assert [row[:4] for row in on_cpu] == [row[:4] for row in on_gpu]
    # A score may differ in its last bits, and with it one trial in a hundred.
    assert [row.value for row in on_gpu] == pytest.approx([row.value for row in on_cpu], abs=0.02)


def test_a_small_set_gets_fewer_queries_and_no_shots_it_cannot_have():
    items = clusters(classes=3, items=4, dimension=6, seed=0)
    space = MetricSpace(MLP(inputs=6, dimension=5), Cosine(), SupportMeans(dimension=5)).eval()
    rows = evaluate(space, {"few": items}, tasks=5)
    assert {row.measure for row in rows if row.question == "few-shot"} == {"3-way 1-shot"}


def test_refuses_a_set_with_nothing_to_compare():
    items = clusters(classes=2, items=4, dimension=6, seed=0)
    space = MetricSpace(MLP(inputs=6, dimension=5), Cosine(), SupportMeans(dimension=5)).eval()
    one = items.only([items.classes[0]])
    with pytest.raises(DataError, match=r"two classes .* to evaluate on$"):
        evaluate(space, {"one": one}, tasks=5)
    grouped = replace(one, groups=torch.arange(len(one)))
    with pytest.raises(DataError, match=r"two classes .* needs three groups.*--split random"):
        evaluate(space, {"one": grouped}, tasks=5)
