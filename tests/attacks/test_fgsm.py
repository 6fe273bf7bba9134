"""FGSM by its formula."""

import torch
from torch.nn import functional as F

from samekind.attacks import FGSM, PICTURES, Linf, Logits


def test_one_step_of_signs(trained):
    model, x, labels = trained
    attacked = FGSM(Linf(0.1))(Logits(model, labels), x, limits=PICTURES)
    inputs = x.clone().requires_grad_()
    [gradient] = torch.autograd.grad(F.cross_entropy(model(inputs), labels, reduction="sum"), inputs)
    right = model(x).argmax(1) == labels
    expected = (x + 0.1 * gradient.sign()).clamp(0, 1)
    torch.testing.assert_close(attacked.x[right], expected[right])
