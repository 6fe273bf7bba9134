"""Grad-CAM against its definition, on networks with known gradients; and the space does not change."""

import pytest
import torch
from torch import nn

from samekind.encoders import MLP, Attended, Conv4, Standardised, Views
from samekind.errors import SpaceError
from samekind.inference import grad_cam
from samekind.inference.grad_cam import layer_of
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Euclidean
from samekind.space import MetricSpace


def space_of(encoder, similarity=None):
    return MetricSpace(encoder, similarity or Cosine(), SupportMeans(dimension=encoder.dimension))


def conv4(**arguments):
    torch.manual_seed(0)
    return Conv4(channels=1, size=32, dimension=5, **arguments)


def attended(**arguments):
    torch.manual_seed(0)
    return Attended(backbone=Conv4(channels=1, size=32), **{"dimension": 5, **arguments})


def pictures(count=2):
    return torch.rand(count, 1, 32, 32, generator=torch.Generator().manual_seed(1))


class Averages(nn.Module):
    """One stage that is the picture itself; the embedding is the mean of each channel."""

    dimension = feature_dimension = 2

    def __init__(self):
        super().__init__()
        self.stage = nn.Identity()
        self.map_channels = {"stage": 2}

    def stages(self):
        return {"stage": [self.stage], "embedding": []}

    def forward(self, x):
        return self.stage(x).mean((2, 3))


def test_of_a_mean_it_is_the_map_weighted_by_the_slopes():
    """The score 3 mean(A0) - mean(A1) has the slopes 3/4 and -1/4 at every one of four places."""
    x = torch.tensor([[[[1.0, 2.0], [0.0, 4.0]], [[1.0, 9.0], [2.0, 0.0]]]])
    result = grad_cam(space_of(Averages()), x, lambda z: 3 * z[:, 0] - z[:, 1])
    first, second = x[0].flatten(1).tolist()
    by_hand = [max(0.0, 0.75 * a - 0.25 * b) for a, b in zip(first, second, strict=True)]
    assert result.flatten().tolist() == by_hand == [0.5, 0.0, 0.0, 3.0]


@pytest.mark.parametrize("layer", ["layer2", "layer4"])
def test_agrees_with_slopes_by_finite_differences(layer):
    """The rest of the network is run by hand from the layer on; no hook, no automatic slope."""
    encoder = conv4().eval().double()
    space, x = space_of(encoder), pictures(1).double()
    names = list(encoder.map_channels)

    def score_from(start):
        for name in names[names.index(layer) + 1 :]:
            start = encoder.stages()[name][0](start)
        return encoder.embedding(start.flatten(1))[:, 2]

    with torch.no_grad():
        start = encoder.maps(x)[layer]
        weights = []
        for channel in range(start.shape[1]):
            # All places of a channel moved alike: the sum of its slopes.
            moved = [start.clone(), start.clone()]
            moved[0][:, channel] += 1e-7
            moved[1][:, channel] -= 1e-7
            up, down = (score_from(value) for value in moved)
            weights.append(float(up - down) / 2e-7 / start[0, 0].numel())
        by_hand = sum(weight * plane for weight, plane in zip(weights, start[0], strict=True)).relu()
    result = grad_cam(space, x, lambda z: z[:, 2], layer=layer)
    torch.testing.assert_close(result[0], by_hand.float(), atol=1e-4 * float(by_hand.max()), rtol=1e-3)
    assert result.max() > 0


def test_items_do_not_mix():
    space, x = space_of(conv4()), pictures(3)
    together = grad_cam(space, x, lambda z: z[:, 0])
    for item in range(3):
        alone = grad_cam(space, x[item : item + 1], lambda z: z[:, 0])[0]
        torch.testing.assert_close(alone, together[item])


@pytest.mark.parametrize(
    "encoder",
    [
        lambda: attended(),
        lambda: attended(activation="none"),
        lambda: Attended(backbone=Conv4(channels=1, size=32, checkpointing=True), dimension=5),
        lambda: conv4(checkpointing=True),
        lambda: Standardised(encoder=attended(), means=[0.5], deviations=[2.0]),
        lambda: conv4().requires_grad_(False),
    ],
    ids=["attended", "attended, linear", "both, recomputed", "recomputed", "standardised", "frozen"],
)
def test_any_network_with_maps_will_do_and_is_left_as_it_was(encoder):
    space = space_of(encoder()).train()
    before = {name: tensor.clone() for name, tensor in space.state_dict().items()}
    result = grad_cam(space, pictures(), lambda z: z.square().sum(1))
    assert result.shape == (2, *space.encoder.maps(pictures())[layer_of(space.encoder)].shape[2:])
    assert (result >= 0).all()
    assert result.any()
    assert not result.requires_grad
    assert all(module.training for module in space.modules())
    assert all(parameter.grad is None for parameter in space.parameters())
    assert not any(module._forward_hooks for module in space.modules())
    space.eval()
    space.load_state_dict(before)  # the maps asked for above moved batch statistics, in training mode
    again = grad_cam(space, pictures(), lambda z: z.square().sum(1))
    assert torch.equal(again, result)


def test_no_hook_is_left_behind_by_a_mistake():
    space = space_of(conv4())
    with pytest.raises(ZeroDivisionError):
        grad_cam(space, pictures(), lambda _: 1 / 0)
    assert not any(module._forward_hooks for module in space.modules())


@pytest.mark.parametrize("similarity", [Cosine, Euclidean])
def test_a_picture_compared_with_itself_has_an_empty_map(similarity):
    space, x = space_of(conv4(), similarity()).eval(), pictures(1)
    z = space.embed(x).detach()
    assert grad_cam(space, x, lambda other: space.score(z, other)).isfinite().all()


def test_the_layer_is_the_last_that_the_features_are_made_of():
    assert layer_of(conv4()) == "layer4"
    assert layer_of(attended()) == "layer3"
    assert layer_of(attended(layers=["layer2", "layer1"])) == "layer2"
    assert layer_of(attended(with_last=True)) == "layer4"
    assert layer_of(Standardised(encoder=attended(), means=[0.5], deviations=[2.0])) == "layer3"
    assert layer_of(attended(), "layer4") == "layer4"


def test_refuses_encoders_without_maps_and_unknown_layers():
    with pytest.raises(SpaceError, match='the encoder has no map "layer9"; did you mean "layer4"'):
        grad_cam(space_of(conv4()), pictures(), lambda z: z[:, 0], layer="layer9")
    for encoder in (
        MLP(inputs=4),
        Standardised(encoder=MLP(inputs=4), means=[0.0] * 4, deviations=[1.0] * 4),
    ):
        with pytest.raises(SpaceError, match="MLP has no maps to look at"):
            layer_of(encoder)


def test_it_looks_at_the_picture_and_not_at_its_mirrored_copy():
    network = conv4()
    space = space_of(Views(encoder=network))
    result = grad_cam(space.eval(), pictures(), lambda z: z[:, 0])
    torch.testing.assert_close(result, grad_cam(space_of(network), pictures(), lambda z: z[:, 0]))
    assert not space.encoder.training
