"""Starting from the weights of a space: messages about what does not fit, and scales for a number of classes.

What fits is in test_loop.py.
"""

import math

import pytest
import torch

from samekind.encoders import MLP, Conv4, EfficientNetLite, Standardised
from samekind.encoders.attended import Attended
from samekind.errors import SettingError
from samekind.prototypes import SupportMeans
from samekind.similarities import AdaCosScale, Cosine, DynamicScale, LearnedScale, PairsNetwork
from samekind.space import MetricSpace
from samekind.training.starting import MOST_DIFFERENCES, take_weights


def a_space(encoder, similarity=None):
    return MetricSpace(encoder, similarity or Cosine(), SupportMeans(dimension=encoder.dimension))


def refused(target, source):
    with pytest.raises(SettingError) as refusal:
        take_weights(target, source)
    message = str(refusal.value)
    assert message.startswith("cannot start from that space: its ")
    assert message.endswith("; use the recipe and settings it was trained with")
    return message


def test_a_setting_that_differs_is_named_with_both_values():
    message = refused(a_space(MLP(inputs=3, hidden=[4])), a_space(MLP(inputs=3, hidden=[5])))
    assert "its encoder (MLP) does not fit this run's (MLP): hidden is [5] there, [4] here;" in message


def test_the_variant_of_a_pretrained_network_is_named():
    pytest.importorskip("efficientnet_lite_pytorch")
    target, source = (a_space(EfficientNetLite(variant=variant, weights=False)) for variant in (0, 1))
    assert "(EfficientNetLite): variant is 1 there, 0 here;" in refused(target, source)


def test_settings_of_an_inner_encoder_have_dotted_names():
    target, source = (
        a_space(Attended(backbone=Conv4(channels=count, size=16), dimension=4)) for count in (1, 3)
    )
    assert "(Attended): backbone.channels is 3 there, 1 here;" in refused(target, source)


def test_standardised_encoders_are_compared_inside():
    def build(width):
        inner = MLP(inputs=2, hidden=[width])
        return a_space(Standardised(encoder=inner, means=[float(width), 0.0], deviations=[1.0, 1.0]))

    assert "(MLP, standardised): hidden is [5] there, [4] here;" in refused(build(4), build(5))


def test_a_long_list_of_differences_is_cut_and_counted():
    def build(hidden, dropout, normalise, depth, dimension):
        network = PairsNetwork(
            dimension=dimension, hidden=hidden, dropout=dropout, normalise=normalise, depth=depth
        )
        return a_space(MLP(inputs=2, dimension=3), network)

    message = refused(build(4, 0.1, False, 1, 3), build(5, 0.2, True, 2, 4))
    assert message.count(" there, ") == MOST_DIFFERENCES
    assert ", and 1 more differ;" in message


def test_encoders_of_two_classes_differ_by_their_names_alone():
    message = refused(a_space(Conv4(channels=1, size=16)), a_space(MLP(inputs=256)))
    assert "its encoder (MLP) does not fit this run's (Conv4); use" in message


# --- the scale ------------------------------------------------------------------------------------


def scaled_by(scale):
    return a_space(MLP(inputs=2, dimension=3), Cosine(scale=scale))


def of_classes(count, *, dynamic):
    """A scale for so many classes, after a step if it follows the scores."""
    scale = DynamicScale(classes=count, rate=0.1) if dynamic else AdaCosScale(classes=count)
    scores = torch.linspace(-0.9, 0.9, 5 * count).view(5, count)
    scale.after_step(scores, torch.eye(5, count, dtype=torch.bool))
    return scale


@pytest.mark.parametrize("dynamic", [False, True])
def test_a_scale_for_another_number_of_classes_is_not_copied(dynamic):
    target, source = scaled_by(of_classes(10, dynamic=dynamic)), scaled_by(of_classes(1000, dynamic=dynamic))
    before = {name: value.clone() for name, value in target.similarity.state_dict().items()}
    take_weights(target, source)
    after = target.similarity.state_dict()
    assert before
    assert all(torch.equal(after[name], value) for name, value in before.items())
    assert torch.equal(target.encoder.state_dict()["embedding.weight"], source.encoder.embedding.weight)
    if not dynamic:
        assert float(target.similarity.scale()) == pytest.approx(math.sqrt(2) * math.log(9))


@pytest.mark.parametrize(
    "start", [of_classes(10, dynamic=True), LearnedScale(3.0)], ids=["dynamic", "learned"]
)
def test_a_scale_for_as_many_classes_or_any_number_is_copied(start):
    fresh = DynamicScale(classes=10, rate=0.1) if isinstance(start, DynamicScale) else LearnedScale(7.0)
    assert not torch.allclose(fresh(), start())
    take_weights(scaled_by(fresh), scaled_by(start))
    assert torch.equal(fresh(), start())


def test_refuses_a_scale_of_another_class():
    for other in (DynamicScale(classes=1000), LearnedScale()):
        assert "its similarity (Cosine) does not fit" in refused(
            scaled_by(AdaCosScale(classes=10)), scaled_by(other)
        )


def test_the_run_decides_what_is_frozen():
    """A space of one of our networks, trained as a whole, is fine-tuned with its statistics as they are."""
    source, target = (a_space(Conv4(channels=1, size=16, batch_norm=mode)) for mode in ("train", "frozen"))
    torch.manual_seed(0)
    source.train().embed(torch.rand(4, 1, 16, 16))
    take_weights(target, source)
    before = {name: value.clone() for name, value in source.encoder.named_buffers()}
    target.train().embed(torch.rand(4, 1, 16, 16)).sum().backward()
    assert all(torch.equal(value, before[name]) for name, value in target.encoder.named_buffers())
    assert all(value.grad is not None for value in target.encoder.parameters())
