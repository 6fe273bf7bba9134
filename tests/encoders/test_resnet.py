"""Residual networks: the published sizes, and the shapes on the way. The blocks have their own test."""

import pytest
import torch
from torch import nn

from samekind.encoders import PreActResNet18, ResNet10, ResNet12, ResNet18, ResNet34, ResNet50, WideResNet
from samekind.errors import DataError, SettingError


def size_of(module):
    return sum(parameter.numel() for parameter in module.parameters())


@pytest.mark.parametrize(
    ("kind", "published", "classifier"),
    [  # of 1000 classes: 512 (or 2048) * 1000 + 1000
        (ResNet18, 11_689_512, 513_000),
        (ResNet34, 21_797_672, 513_000),
        (ResNet50, 25_557_032, 2_049_000),
    ],
)
def test_has_the_published_number_of_parameters(kind, published, classifier):
    with torch.device("meta"):
        assert size_of(kind(stem="imagenet")) == published - classifier


@pytest.mark.parametrize(("kind", "widest"), [(ResNet18, 512), (ResNet34, 512), (ResNet50, 2048)])
def test_maps_of_224_pixels(kind, widest):
    with torch.device("meta"):
        maps = kind(stem="imagenet").maps(torch.empty(2, 3, 224, 224))
    assert list(maps) == ["stem", "layer1", "layer2", "layer3", "layer4"]
    assert [tuple(value.shape[1:]) for value in maps.values()] == [
        (64, 56, 56),
        (widest // 8, 56, 56),
        (widest // 4, 28, 28),
        (widest // 2, 14, 14),
        (widest, 7, 7),
    ]


def normalised(name, channels):
    """The tensors of a batch normalisation."""
    four = {f"{name}.{value}": (channels,) for value in ("weight", "bias", "running_mean", "running_var")}
    return {**four, f"{name}.num_batches_tracked": ()}


def published(counts, kernels, widening):
    """Names and shapes of the weights torchvision publishes, but for its classifier ``fc``: blocks of so many
    convolutions, the last of them ``widening`` times as wide, each followed by its normalisation.
    """
    tensors, inputs = {"conv1.weight": (64, 3, 7, 7), **normalised("bn1", 64)}, 64
    for layer, count in enumerate(counts):
        width = 64 * 2**layer
        for block in range(count):
            name, outputs, before = f"layer{layer + 1}.{block}", widening * width, inputs
            for place, kernel in enumerate(kernels, start=1):
                after = outputs if place == len(kernels) else width
                tensors[f"{name}.conv{place}.weight"] = (after, before, kernel, kernel)
                tensors |= normalised(f"{name}.bn{place}", after)
                before = after
            if block == 0 and (layer > 0 or inputs != outputs):
                tensors[f"{name}.downsample.0.weight"] = (outputs, inputs, 1, 1)
                tensors |= normalised(f"{name}.downsample.1", outputs)
            inputs = outputs
    return tensors


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (ResNet10, published((1, 1, 1, 1), (3, 3), 1)),
        (ResNet18, published((2, 2, 2, 2), (3, 3), 1)),
        (ResNet34, published((3, 4, 6, 3), (3, 3), 1)),
        (ResNet50, published((3, 4, 6, 3), (1, 3, 1), 4)),
    ],
)
def test_published_weights_fit_by_name_and_shape(kind, expected):
    with torch.device("meta"):
        tensors = kind(stem="imagenet").state_dict()
    assert {name: tuple(tensor.shape) for name, tensor in tensors.items()} == expected


def test_the_stem_for_84_pixels_halves_them():
    with torch.device("meta"):
        encoder = ResNet18(stem="miniimagenet")
        maps = encoder.maps(torch.empty(2, 3, 84, 84))
    assert encoder.conv1.weight.shape == (64, 3, 5, 5)
    assert [value.shape[-1] for value in maps.values()] == [41, 41, 21, 11, 6]


def test_the_small_stem_differs_by_its_kernel_alone():
    def block(inputs, outputs):
        """Two convolutions and two normalisations, and a projected shortcut where the width changes."""
        shortcut = inputs * outputs + 2 * outputs if inputs != outputs else 0
        return 9 * inputs * outputs + 9 * outputs * outputs + 4 * outputs + shortcut

    widths = [64, 64, 64, 128, 128, 256, 256, 512, 512]
    by_hand = 9 * 3 * 64 + 2 * 64 + sum(map(block, widths[:-1], widths[1:]))
    assert by_hand == 11_168_832
    assert size_of(ResNet18()) == by_hand
    assert size_of(ResNet18(dimension=10)) == by_hand + 512 * 10 + 10


@pytest.mark.parametrize(("stem", "side"), [("cifar", 4), ("imagenet", 1)])
def test_the_stem_decides_how_much_is_left_of_32_pixels(stem, side):
    encoder = ResNet18(stem=stem).eval()
    maps = []
    encoder.layer4.register_forward_hook(lambda _module, _inputs, output: maps.append(output))
    with torch.no_grad():
        features = encoder.features(torch.rand(1, 3, 32, 32))
    assert maps[0].shape == (1, 512, side, side)
    torch.testing.assert_close(features, maps[0].flatten(2).mean(2))


def test_with_512_dimensions_the_embeddings_are_the_features():
    torch.manual_seed(0)
    encoder, images = ResNet18().eval(), torch.rand(2, 3, 16, 16)
    with torch.no_grad():
        assert torch.equal(encoder(images), encoder.features(images))


def test_takes_images_that_are_not_square():
    with torch.no_grad():
        assert ResNet18(dimension=5).eval()(torch.rand(1, 3, 16, 24)).shape == (1, 5)


def test_convolutions_start_with_the_variance_of_the_paper():
    torch.manual_seed(0)
    for module in ResNet18().modules():
        if isinstance(module, nn.Conv2d):
            fan_out = module.out_channels * module.kernel_size[0] ** 2
            assert module.weight.std().item() == pytest.approx((2 / fan_out) ** 0.5, rel=0.08)


def test_refuses_another_stem():
    with pytest.raises(SettingError, match='"cifar", "imagenet" or "miniimagenet"; got "mnist"'):
        ResNet18(stem="mnist")


def test_pre_activation_has_the_published_number_of_parameters():
    # 11,171,146 with the classifier of ten classes, which has 512 * 10 + 10, and no last normalisation.
    with torch.device("meta"):
        encoder = PreActResNet18()
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 11_171_146 - 5_130


def test_pre_activation_maps_of_a_cifar_image():
    with torch.device("meta"):
        maps = PreActResNet18().maps(torch.empty(2, 3, 32, 32))
    assert [tuple(value.shape[1:]) for value in maps.values()] == [
        (64, 32, 32),
        (64, 32, 32),
        (128, 16, 16),
        (256, 8, 8),
        (512, 4, 4),
    ]


def test_pre_activation_embeddings_have_both_signs():
    torch.manual_seed(0)
    with torch.no_grad():
        embeddings = PreActResNet18()(torch.rand(4, 3, 8, 8))
    assert embeddings.min() < 0 < embeddings.max()


def test_wide_networks_have_the_published_number_of_parameters():
    # WRN-28-10, 36.5 million: 36,479,194 with the classifier of ten classes, which has 640 * 10 + 10.
    # WRN-16-8, 11.0 million: 10,961,370 with 512 * 10 + 10; WRN-40-2, 2.2 million: 2,243,546 with 128 *
    # 10 + 10.
    with torch.device("meta"):
        assert size_of(WideResNet()) == 36_479_194 - 6_410
        assert size_of(WideResNet(depth=16, width=8)) == 10_961_370 - 5_130
        assert size_of(WideResNet(depth=40, width=2)) == 2_243_546 - 1_290


@pytest.mark.parametrize("depth", [10, 28])
def test_depth_counts_the_convolutions_shortcuts_included(depth):
    with torch.device("meta"):
        encoder = WideResNet(depth=depth, width=2)
    assert sum(isinstance(module, nn.Conv2d) for module in encoder.modules()) == depth


def test_wide_maps_of_a_cifar_image():
    with torch.device("meta"):
        maps = WideResNet().maps(torch.empty(2, 3, 32, 32))
    shapes = {name: tuple(value.shape[1:]) for name, value in maps.items()}
    assert shapes == {
        "stem": (16, 32, 32),
        "layer1": (160, 32, 32),
        "layer2": (320, 16, 16),
        "layer3": (640, 8, 8),
        "active": (640, 8, 8),
    }


def test_the_pooled_map_is_active_and_the_one_before_is_not():
    torch.manual_seed(0)
    with torch.no_grad():
        maps = WideResNet(depth=10, width=1).maps(torch.rand(4, 3, 8, 8))
    assert (maps["active"] >= 0).all()
    assert maps["layer3"].min() < 0


def test_every_block_has_the_dropout():
    with torch.device("meta"):
        encoder = WideResNet(depth=10, width=1, dropout=0.25)
    assert [module.p for module in encoder.modules() if isinstance(module, nn.Dropout)] == [0.25] * 3


@pytest.mark.parametrize(
    ("wrong", "says"), [({"depth": 4}, "got 4"), ({"depth": 27}, "6 x blocks"), ({"dropout": 1.0}, "below 1")]
)
def test_wide_networks_refuse_impossible_settings(wrong, says):
    with pytest.raises(SettingError, match=says):
        WideResNet(**wrong)


def test_resnet12_has_the_published_number_of_parameters():
    # 12.4 million for the features alone: 12,424,320.
    with torch.device("meta"):
        encoder = ResNet12()
    assert sum(parameter.numel() for parameter in encoder.parameters()) == 12_424_320


def test_maps_of_84_pixels():
    with torch.device("meta"):
        maps = ResNet12().maps(torch.empty(2, 3, 84, 84))
    assert [tuple(value.shape[1:]) for value in maps.values()] == [
        (64, 42, 42),
        (160, 21, 21),
        (320, 10, 10),
        (640, 5, 5),
    ]


def test_resnet12_refuses_images_that_would_vanish():
    encoder = ResNet12()
    with pytest.raises(DataError, match="16 pixels or more"):
        encoder(torch.rand(2, 3, 16, 15))
