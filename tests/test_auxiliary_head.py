"""The auxiliary head by itself: a linear layer, on the sphere or projected; and what it forgets."""

import pytest
import torch
from torch import nn

from samekind.auxiliary_head import AuxiliaryHead, class_scores
from samekind.errors import SettingError
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import Cosine, Dot, Euclidean


def a_head(**settings):
    torch.manual_seed(0)
    head = AuxiliaryHead(Dot(), LearnedProxies(["ant", "bee", "cat"], dimension=2), **settings)
    if head.offsets is not None:
        nn.init.normal_(head.offsets)
    return head.eval()


def test_dot_with_a_bias_is_a_linear_layer():
    head, z = a_head(bias=True), torch.randn(5, 2)
    expected = z @ head.prototypes.vectors[:, 0].T + head.offsets
    torch.testing.assert_close(head.score_classes(z), expected)


def test_a_head_on_the_sphere_ignores_lengths():
    head, z = a_head(normalise=True), torch.randn(5, 2)
    torch.testing.assert_close(head.score_classes(z), head.score_classes(3 * z))


def test_there_and_back_and_a_class_forgotten():
    head = AuxiliaryHead.build(a_head(bias=True).describe())
    head.drop("bee")
    head.drop("owl")
    assert (head.prototypes.classes, len(head.offsets)) == (["ant", "cat"], 2)
    with pytest.raises(SettingError, match="bias must be true or false"):
        AuxiliaryHead.build({**a_head().describe(), "bias": 1})


@pytest.mark.parametrize("similarity", [Cosine(), Euclidean()])
def test_scores_of_classes_pool_those_of_their_vectors(similarity):
    known = SupportMeans(["ant", "bee"], dimension=2, count=3, pooling="max")
    known.assign(["ant", "bee"], torch.randn(2, 3, 2))
    z = torch.randn(4, 2)
    for item, row in zip(z, class_scores(similarity, known, z), strict=True):
        for vectors, score in zip(known.vectors, row, strict=True):
            scores = [float(similarity(vector[None], item[None])) for vector in vectors]
            assert float(score) == pytest.approx(max(scores), abs=1e-5)


def test_it_orders_its_own_classes_and_leaves_the_others():
    head, z, classes = a_head(bias=True), torch.randn(5, 2), ["dog", "cat", "ant", "bee"]
    logits = torch.randn(5, 4)
    with torch.no_grad():
        ordered, own = head.ordered(logits, z, classes), head.score_classes(z)
    for before, after, scores in zip(logits, ordered, own, strict=True):
        assert after[0] == before[0]
        assert float(after[1:].max()) == pytest.approx(float(before[1:].max()), abs=1e-6)
        by_name = dict(zip(["ant", "bee", "cat"], scores, strict=True))
        for one, other in ((1, 2), (2, 3)):
            difference = by_name[classes[one]] - by_name[classes[other]]
            assert float(after[one] - after[other]) == pytest.approx(float(difference), abs=1e-5)
    for name in ("ant", "bee"):
        head.drop(name)
    assert head.ordered(logits, z, classes) is logits
