"""A classifier of the training classes that trains beside the encoder, or against it.

Al-Kaabi, Monsefi and Zabihzadeh, "A Framework to Enhance Generalization of Deep Metric Learning Methods Using
General Discriminative Feature Learning and Class Adversarial Neural Networks": features that serve the
training classes alone are of no use for others. So a classifier joins the loss, either with smoothed targets,
or with its gradient reversed once it knows too much. The reversal is of Ganin and Lempitsky, "Unsupervised
Domain Adaptation by Backpropagation", ICML 2015.

Its cost is added to the terms of the loss, and never changes them.
"""

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn

from samekind.data import Items, scaled
from samekind.data.stored import fetched
from samekind.encoders.wrapping import network_of
from samekind.errors import SettingError
from samekind.space import MetricSpace
from samekind.training.extras.extra import Cost, Step
from samekind.training.run import Run
from samekind.training.tables import Adversary

#: The weight of the newest step in the running mean of the loss: about the last ten count.
NEWEST = 0.1


def adversarial_coefficient(loss: float, *, weight: float = 0.5, threshold: float = 1.5) -> float:
    """-tanh(loss - threshold) x weight, by which the classifier's gradient is reversed.

    Where the loss is above the threshold it is below 0: the encoder helps the classifier. Where the loss is
    below the threshold it is above 0: the encoder works against it.

    >>> round(adversarial_coefficient(4.6), 6), round(adversarial_coefficient(1.0), 6)
    (-0.497975, 0.231059)
    """
    return math.tanh(threshold - loss) * weight  # no minus before 0


def reversed_gradient(x: Tensor, coefficient: Tensor) -> Tensor:
    """x unchanged; its gradient is multiplied by -coefficient (a number, ())."""
    result: Tensor = _Reversed.apply(x, coefficient)  # type: ignore[no-untyped-call]
    return result


class _Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, coefficient: Tensor) -> Tensor:
        # A copy: the coefficient is changed in place.
        ctx.save_for_backward(coefficient.clone())
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (coefficient,) = ctx.saved_tensors
        return -coefficient * grad, None


class Judgement(NamedTuple):
    """The mean cross-entropy of the classifier, with smoothed and with plain targets."""

    loss: Any  # a tensor () of a step, a number of an epoch
    plain_loss: Any


class ClassAdversary(nn.Module):
    """Features (n, features) to logits (n, classes): one hidden layer, ReLU, dropout.

    The encoder gets its gradient times ``coefficient``: for "soft" the weight; for "adaptive" that of
    `adversarial_coefficient`, first for the loss of a guess, ln(classes), then for the mean of the last epoch
    or (``updated="step"``) of the last steps. An adaptive classifier itself minimises its loss, a soft one
    the weight times its loss, so that with a weight of 0 it learns nothing.
    """

    name = "adversary"
    watched: tuple[str, ...] = ("adversary", "adversary, plain")
    reads_features = True
    coefficient: Tensor
    running: Tensor  # the mean loss of the last steps

    def __init__(self, settings: Adversary, *, features: int, classes: int, rate: float = 0.01) -> None:
        super().__init__()
        if classes < 2:
            raise SettingError(f"run.adversary: a classifier needs two classes or more; got {classes}")
        self.settings, self.classes, self.rate = settings, classes, rate
        self.layers = nn.Sequential(
            nn.Linear(features, settings.hidden),
            nn.ReLU(),
            nn.Dropout(settings.dropout),
            nn.Linear(settings.hidden, classes),
        )
        self.register_buffer("coefficient", torch.tensor(self._coefficient(math.log(classes))))
        self.register_buffer("running", torch.tensor(math.log(classes)))

    def forward(self, features: Tensor) -> Tensor:
        seen = (
            reversed_gradient(features, self.coefficient) if self.settings.method == "adaptive" else features
        )
        logits: Tensor = self.layers(seen)
        return logits

    def judge(self, logits: Tensor, y: Tensor) -> Judgement:
        """The losses of logits (n, classes) for the classes (n,), in float32 at least: 1 - smoothing of the
        target is the true class, the rest in equal parts the others.

        The paper's text has a part for the true class too, smoothing / classes for each: that is this with
        smoothing x (classes - 1) / classes.
        """
        logs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(1)
        own = -logs.gather(1, y[:, None]).squeeze(1)
        others = (-logs.sum(1) - own) / (self.classes - 1)
        smoothing = self.settings.smoothing
        return Judgement(((1 - smoothing) * own + smoothing * others).mean(), own.mean())

    def cost(self, step: Step) -> Cost:
        """Its part of the loss; the coefficient moves in `settle`."""
        assert step.output is not None
        judgement = self.judge(step.output, step.y)
        if self.settings.method == "soft":
            return Cost(self.settings.weight * judgement.loss, judgement)
        return Cost(judgement.loss, judgement)

    @torch.no_grad()
    def settle(self, cost: Cost) -> None:
        """With ``updated="step"`` an adaptive coefficient moves, without waiting for the device."""
        if self.settings.method == "soft" or self.settings.updated == "epoch":
            return
        newest = getattr(Judgement(*cost.watched), self.settings.steered_by)
        self.running.lerp_(newest.to(self.running.dtype), NEWEST)
        self.coefficient.copy_((self.settings.threshold - self.running).tanh() * self.settings.weight)

    def after_epoch(self, means: Sequence[float]) -> dict[str, float]:
        """The coefficient and the mean losses of the epoch; an adaptive coefficient is set for the next."""
        judgement = Judgement(*means)
        entry = {"coefficient": float(self.coefficient), **judgement._asdict()}
        if self.settings.updated == "epoch":
            self.coefficient.fill_(self._coefficient(getattr(judgement, self.settings.steered_by)))
        return entry

    def _coefficient(self, loss: float) -> float:
        weight, threshold = self.settings.weight, self.settings.threshold
        if self.settings.method == "soft":
            return weight
        return adversarial_coefficient(loss, weight=weight, threshold=threshold)


def build_class_adversary(run: Run, space: MetricSpace, items: Items) -> ClassAdversary | None:
    """The adversary of a run, for the features that the encoder makes of these items; None without one."""
    settings = run.adversary
    if settings is None:
        return None
    encoder: Any = space.encoder
    inner = network_of(encoder)
    if not hasattr(inner, "features") or not hasattr(inner, "embedding"):
        raise SettingError(
            "run.adversary: the adversary needs features(x) and embedding of the encoder; "
            f"{type(inner).__name__} does not have both; wrap it in samekind.encoders.foreign.Foreign, or "
            "leave the adversary out"
        )
    rate = settings.rate
    if rate is None:
        rate = run.optimiser.rates.get("encoder.embedding", run.optimiser.rate)
    features = _feature_count(encoder, items)
    return ClassAdversary(settings, features=features, classes=len(space.classes), rate=rate)


@torch.no_grad()
def _feature_count(encoder: Any, items: Items) -> int:
    """How many features an item has, by trial: not every encoder says it."""
    (item,) = fetched(items.inputs, [slice(0, 1)])
    device = next((weight.device for weight in encoder.parameters()), torch.device("cpu"))
    training = encoder.training
    encoder.eval()  # no statistics move, nothing is drawn
    features: Tensor = encoder.features(scaled(item.to(device)))
    encoder.train(training)
    return features.shape[1]
