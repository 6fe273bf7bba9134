"""What does not fit the weights of another space is said, down to the setting; what fits: test_loop.py."""

import pytest

from samekind.encoders import MLP, Conv4, EfficientNetLite, Standardised
from samekind.encoders.attended import Attended
from samekind.errors import SettingError
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace
from samekind.training.starting import MOST_LISTED, take_weights


def a_space(encoder, similarity=None):
    return MetricSpace(encoder, similarity or Cosine(), SupportMeans(dimension=encoder.dimension))


def refused(ours, theirs):
    with pytest.raises(SettingError) as refusal:
        take_weights(ours, theirs)
    message = str(refusal.value)
    assert message.startswith("cannot start from that space: its ")
    assert message.endswith("; use the recipe and settings it was trained with")
    return message


def test_a_setting_that_differs_is_named_with_both_values():
    message = refused(a_space(MLP(inputs=3, hidden=[4])), a_space(MLP(inputs=3, hidden=[5])))
    assert "its encoder (MLP) does not fit this run's (MLP): hidden is [5] there, [4] here;" in message


def test_so_is_the_variant_of_a_pretrained_network():
    pytest.importorskip("efficientnet_lite_pytorch")
    ours, theirs = (a_space(EfficientNetLite(variant=each, weights=False)) for each in (0, 1))
    assert "(EfficientNetLite): variant is 1 there, 0 here;" in refused(ours, theirs)


def test_one_inside_another_has_its_settings_told_with_dots():
    ours, theirs = (a_space(Attended(backbone=Conv4(channels=each, size=16), dimension=4)) for each in (1, 3))
    assert "(Attended): backbone.channels is 3 there, 1 here;" in refused(ours, theirs)


def test_what_is_standardised_is_compared_within():
    def made(width):
        inner = MLP(inputs=2, hidden=[width])
        return a_space(Standardised(encoder=inner, means=[float(width), 0.0], deviations=[1.0, 1.0]))

    assert "(MLP, standardised): hidden is [5] there, [4] here;" in refused(made(4), made(5))


def test_a_long_list_of_differences_is_cut_and_counted():
    def made(hidden, dropout, normalise, depth, dimension):
        network = PairsNetwork(
            dimension=dimension, hidden=hidden, dropout=dropout, normalise=normalise, depth=depth
        )
        return a_space(MLP(inputs=2, dimension=3), network)

    message = refused(made(4, 0.1, False, 1, 3), made(5, 0.2, True, 2, 4))
    assert message.count(" there, ") == MOST_LISTED
    assert ", and 1 more differ;" in message


def test_two_of_other_names_are_told_by_their_names_alone():
    message = refused(a_space(Conv4(channels=1, size=16)), a_space(MLP(inputs=256)))
    assert "its encoder (MLP) does not fit this run's (Conv4); use" in message
