"""Features once, a head on them, and the whole as one space."""

import copy

import pytest
import torch

from samekind.data import Items, digits
from samekind.encoders import MLP, SmallConvnet, Unchanged
from samekind.errors import SpaceError
from samekind.inference import embed, feature_items, headed_space
from samekind.inference.embed import embed_by
from samekind.inference.features import without_encoder
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


def test_a_space_without_its_encoder_answers_about_embeddings(encoder, items):
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=6))
    space.enroll("a", embed(space, items.inputs[:2]))
    alone, z = without_encoder(space), feature_items(encoder, items).inputs
    assert torch.equal(embed(alone, z), z)
    assert torch.equal(alone.score_classes(z), space.score_classes(z))
    assert space.encoder is encoder


def test_a_head_for_other_features_is_refused(encoder, items):
    space = MetricSpace(MLP(inputs=5), Cosine(), SupportMeans(dimension=64))
    with pytest.raises(SpaceError, match="takes items of 5 numbers, the encoder gives 6"):
        headed_space(encoder, space, items)


def test_a_cache_is_read_where_encoder_and_items_are_the_same(encoder, items, tmp_path, monkeypatch):
    cache = tmp_path / "features"
    computed = []

    def counting(*arguments, **settings):
        computed.append(1)
        return embed_by(*arguments, **settings)

    monkeypatch.setattr("samekind.inference.features.embed_by", counting)
    plain = feature_items(encoder, items).inputs
    for _ in range(2):
        assert torch.equal(feature_items(encoder, items, cache=cache).inputs, plain)
    assert len(computed) == 2  # without a cache, and once with it
    [file] = cache.iterdir()
    others = items.take(torch.arange(5))
    assert torch.equal(feature_items(encoder, others, cache=cache).inputs, embed_by(encoder, others.inputs))
    changed = copy.deepcopy(encoder)
    with torch.no_grad():
        next(changed.parameters()).mul_(2)
    assert not torch.equal(feature_items(changed, items, cache=cache).inputs, plain)
    assert len(list(cache.iterdir())) == 3
    whole = file.read_bytes()
    for damaged in (whole[:-4], b"no array", b""):
        file.write_bytes(damaged)
        assert torch.equal(feature_items(encoder, items, cache=cache).inputs, plain)
        assert file.read_bytes() == whole


def test_what_has_no_weights_is_not_cached(tmp_path):
    few = Items(torch.ones(3, 2), torch.tensor([0, 1, 1]), ("a", "b"), "few")
    assert torch.equal(feature_items(Unchanged(inputs=2), few, cache=tmp_path).inputs, few.inputs)
    assert list(tmp_path.iterdir()) == []
