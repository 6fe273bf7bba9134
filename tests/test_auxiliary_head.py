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
