"""Features once, a head on them, and the whole as one space."""

import pytest
import torch

from samekind.data import Items, digits
from samekind.encoders import MLP, SmallConvnet, Unchanged
from samekind.errors import SpaceError
from samekind.inference import embed, feature_items, headed_space
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def encoder():
    torch.manual_seed(0)
    return SmallConvnet(dimension=6, width=2)


@pytest.fixture(scope="module")
def items():
    few = digits().take(torch.arange(9))
    return Items(few.inputs, few.labels, few.classes, "nine", groups=few.labels, ids=tuple("abcdefghi"))


def test_the_same_items_as_vectors(encoder, items):
    features = feature_items(encoder.train(), items, batch=4)
    with torch.no_grad():
        torch.testing.assert_close(
            features.inputs, encoder.eval()(items.inputs.float()), atol=1e-5, rtol=1e-4
        )
    assert (features.classes, features.ids, features.shape) == (items.classes, items.ids, (6,))
    assert torch.equal(features.labels, items.labels)
    assert torch.equal(features.groups, items.groups)
    assert features.medium.name == "vectors"
    assert feature_items(encoder, items.take(torch.arange(0))).inputs.shape == (0, 6)


@pytest.mark.parametrize("head", [MLP(inputs=6, dimension=3), Unchanged(inputs=6)])
def test_a_space_of_features_becomes_one_of_items(encoder, items, head, tmp_path):
    features = feature_items(encoder, items)
    space = MetricSpace(head, Cosine(), SupportMeans(dimension=head.dimension))
    space.enroll("a", embed(space, features.inputs[:2]))
    whole = headed_space(encoder, space, items)
    torch.testing.assert_close(embed(whole, items.inputs), embed(space, features.inputs))
    assert whole.classes == ["a"]
    assert space.encoder is head
    whole.save(tmp_path / "space")
    again = MetricSpace.load(tmp_path / "space")
    torch.testing.assert_close(embed(again, items.inputs), embed(whole, items.inputs))


def test_a_head_for_other_features_is_refused(encoder, items):
    space = MetricSpace(MLP(inputs=5), Cosine(), SupportMeans(dimension=64))
    with pytest.raises(SpaceError, match="takes items of 5 numbers, the encoder gives 6"):
        headed_space(encoder, space, items)
