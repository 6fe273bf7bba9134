"""Every loss on a GPU: the shares and the gradient of the CPU."""

import inspect

import pytest
import torch

from samekind import losses
from samekind.losses.lineage import Lineage
from samekind.pairs import class_masks, pair_masks

pytestmark = pytest.mark.device


@pytest.mark.parametrize("against", ["batch", "prototypes"])
@pytest.mark.parametrize("name", losses.__all__)
def test_the_device_gives_what_the_cpu_gives(name, against):
    loss = getattr(losses, name)
    torch.manual_seed(0)
    labels = torch.arange(48) % 6
    masks = pair_masks(labels) if against == "batch" else class_masks(labels, 6)
    scores = torch.rand(masks[0].shape) * 2 - 1
    handed = {}
    if "between" in inspect.signature(loss).parameters:
        owners = labels if against == "batch" else torch.arange(6)
        between = torch.rand(len(owners), len(owners)).masked_fill(owners[:, None] == owners, -torch.inf)
        handed["between"] = between
    candidates = masks[0].shape[1]
    tree = Lineage.of([-1, 0, 0, *(1 + place % 2 for place in range(candidates))], range(3, 3 + candidates))
    known = {"lineage": tree, "distances": torch.rand(candidates, candidates)}
    handed |= {key: value for key, value in known.items() if key in inspect.signature(loss).parameters}
    answers = []
    for device in ("cpu", "cuda"):
        leaf = scores.detach().clone().to(device).requires_grad_()
        shares = loss(
            leaf, *(mask.to(device) for mask in masks), **{k: v.to(device) for k, v in handed.items()}
        )
        shares.sum().backward()
        answers.append((shares.detach().cpu(), leaf.grad.cpu()))
    torch.testing.assert_close(answers[1], answers[0], rtol=1e-4, atol=1e-4)
