"""Pre-activation ResNet-18: the published size, the shapes, and that nothing follows the last block."""

import torch

from samekind.encoders import PreActResNet18


def test_has_the_published_number_of_parameters():
    # 11,171,146 with the classifier of ten classes, which has 512 * 10 + 10, and no last normalisation.
    with torch.device("meta"):
        encoder = PreActResNet18()
    assert sum(each.numel() for each in encoder.parameters()) == 11_171_146 - 5_130


def test_maps_of_a_cifar_image():
    with torch.device("meta"):
        maps = PreActResNet18().maps(torch.empty(2, 3, 32, 32))
    assert [tuple(each.shape[1:]) for each in maps.values()] == [
        (64, 32, 32),
        (64, 32, 32),
        (128, 16, 16),
        (256, 8, 8),
        (512, 4, 4),
    ]


def test_embeddings_have_both_signs():
    torch.manual_seed(0)
    with torch.no_grad():
        embeddings = PreActResNet18()(torch.rand(4, 3, 8, 8))
    assert embeddings.min() < 0 < embeddings.max()
