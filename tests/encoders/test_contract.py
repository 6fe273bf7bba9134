"""What every encoder promises, checked on all of them; a new one is covered by being exported.

An encoder of images says by ``channels`` and ``size`` what it takes, or takes any size; any other says
by ``inputs`` how many numbers an item has.
"""

import inspect

import pytest
import torch

from samekind import encoders
from samekind.errors import DataError, SettingError

# One possible value for each argument that any encoder has, and none of them a default.
OTHER = {
    "channels": 2,
    "dimension": 7,
    "dropout": 0.25,
    "hidden": [5, 6],
    "inputs": 12,
    "size": 20,
    "stem": "imagenet",
    "width": 3,
}


@pytest.fixture(params=encoders.__all__)
def kind(request):
    return getattr(encoders, request.param)


def parameters(kind):
    return inspect.signature(kind).parameters


def plain(kind):
    """An encoder with its defaults."""
    torch.manual_seed(0)
    needed = [name for name, each in parameters(kind).items() if each.default is inspect.Parameter.empty]
    return kind(**{name: OTHER[name] for name in needed})


def items_for(encoder, count=6):
    if hasattr(encoder, "inputs"):
        shape = (encoder.inputs,)
    else:
        side = getattr(encoder, "size", 16)
        shape = (encoder.channels, side, side)
    return torch.rand(count, *shape, generator=torch.Generator().manual_seed(1))


def test_takes_keywords_only_and_stores_them_under_their_names(kind):
    assert all(each.kind is each.KEYWORD_ONLY for each in parameters(kind).values())
    encoder = plain(kind)
    for name, parameter in parameters(kind).items():
        if parameter.default is not inspect.Parameter.empty:
            assert getattr(encoder, name) == parameter.default
            assert parameter.default != OTHER[name]
    other = {name: OTHER[name] for name in parameters(kind)}
    encoder = kind(**other)
    assert {name: getattr(encoder, name) for name in other} == other
    assert encoder.eval()(items_for(encoder)).shape == (6, OTHER["dimension"])


def test_gives_one_embedding_per_item(kind):
    encoder = plain(kind)
    items = items_for(encoder)
    embeddings = encoder(items)
    assert embeddings.shape == (len(items), encoder.dimension)
    assert embeddings.dtype == items.dtype
    assert embeddings.isfinite().all()


def test_does_not_normalise(kind):
    encoder = plain(kind).eval()
    norms = encoder(items_for(encoder)).norm(dim=1)
    assert not torch.allclose(norms, torch.ones_like(norms), atol=1e-3)


def test_features_are_what_the_embedding_layer_sees(kind):
    encoder = plain(kind).eval()
    items = items_for(encoder)
    features = encoder.features(items)
    assert features.dim() == 2
    assert len(features) == len(items)
    torch.testing.assert_close(encoder.embedding(features), encoder(items))


def test_an_item_is_embedded_alike_alone_and_in_company(kind):
    encoder = plain(kind).eval()
    items = items_for(encoder)
    torch.testing.assert_close(encoder(items[:1]), encoder(items)[:1], atol=1e-5, rtol=1e-4)
    assert encoder(items[:0]).shape == (0, encoder.dimension)


def test_tells_different_items_apart(kind):
    encoder = plain(kind).eval()
    embeddings = encoder(items_for(encoder))
    assert len(embeddings.unique(dim=0)) == len(embeddings)


def test_the_gradient_reaches_every_parameter(kind):
    encoder = plain(kind)
    embeddings = encoder(items_for(encoder, count=16))
    torch.manual_seed(2)
    (embeddings * torch.randn_like(embeddings)).sum().backward()
    unmoved = [name for name, each in encoder.named_parameters() if each.grad is None or not each.grad.any()]
    assert unmoved == []


def test_weights_travel_to_an_encoder_of_the_same_arguments(kind):
    encoder = plain(kind)
    items = items_for(encoder)
    encoder(items)  # so that batch statistics are not at their start either
    copy = kind(**{name: getattr(encoder, name) for name in parameters(kind)})
    assert not torch.equal(copy.eval()(items), encoder.eval()(items))
    copy.load_state_dict(encoder.state_dict())
    assert torch.equal(copy(items), encoder(items))


def test_refuses_input_of_another_shape_with_a_sentence(kind):
    encoder = plain(kind)
    items = items_for(encoder)
    wrong = [items[0], items[:, :0]]
    if items.dim() == 4:
        wrong += [items[:, [0] * (encoder.channels + 1)], items.flatten(1)]
    if hasattr(encoder, "size"):
        wrong += [items[:, :, 1:, :], items[:, :, :, 1:]]
    if hasattr(encoder, "inputs"):
        wrong += [items[:, 1:]]
    for each in wrong:
        with pytest.raises(DataError, match=r"the encoder takes .* got \(") as caught:
            encoder(each)
        assert str(tuple(each.shape)) in str(caught.value)


@pytest.mark.parametrize("argument", ["channels", "dimension", "inputs", "size", "width"])
def test_refuses_sizes_of_nothing(kind, argument):
    if argument in parameters(kind):
        needed = {"inputs": 12} if "inputs" in parameters(kind) else {}
        with pytest.raises(SettingError, match=r"got .*0"):
            kind(**{**needed, argument: 0})
