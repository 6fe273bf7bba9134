"""A classifier of the training classes that trains beside the encoder, or against it.

Al-Kaabi, Monsefi and Zabihzadeh, "A Framework to Enhance Generalization of Deep Metric Learning Methods Using
General Discriminative Feature Learning and Class Adversarial Neural Networks": features that serve the
training classes alone are of no use for others, so the loss is joined by a classifier that is either kept
unsure of itself (smoothed targets) or answered by a gradient of the other sign, once it knows too much. The
reversal is of Ganin and Lempitsky, "Unsupervised Domain Adaptation by Backpropagation", ICML 2015.

It is a cost of its own: whatever the terms of the loss are, they do not change. The classifier belongs to
the run and its checkpoint, never to the space.
"""

import math
from collections.abc import Sequence
from typing import Any, Literal, NamedTuple

import torch
from torch import Tensor, nn

from samekind.data import Items, scaled
from samekind.data.stored import fetched
from samekind.encoders.standardised import network_of
from samekind.errors import SettingError
from samekind.space import MetricSpace
from samekind.training.extras.extra import Cost, Step
from samekind.training.run import Run

#: What a step adds to the mean of the last steps' losses: about the last ten count.
NEWEST = 0.1


def adversarial_coefficient(loss: float, *, weight: float = 0.5, threshold: float = 1.5) -> float:
    """-tanh(loss - threshold) x weight: what the classifier's gradient is reversed by.

    Below 0, the encoder helps the classifier, where the loss is above the threshold; above 0, it works
    against it, where the classifier knows more than that; between -weight and weight.

    >>> round(adversarial_coefficient(4.6), 6), round(adversarial_coefficient(1.0), 6)
    (-0.497975, 0.231059)
    """
    return math.tanh(threshold - loss) * weight  # no minus before 0


def reversed_gradient(x: Tensor, coefficient: Tensor) -> Tensor:
    """x as it is; on the way back its gradient is multiplied by -coefficient (a number, ())."""
    result: Tensor = _Reversed.apply(x, coefficient)  # type: ignore[no-untyped-call]
    return result


class _Reversed(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, coefficient: Tensor) -> Tensor:
        # A copy, for the coefficient is set anew in its place after each epoch.
        ctx.save_for_backward(coefficient.clone())
        return x.view_as(x)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, None]:
        (coefficient,) = ctx.saved_tensors
        return -coefficient * grad, None


class Judgement(NamedTuple):
    """How well the classifier does on a batch: its mean cross-entropy, with smoothed targets and with plain
    ones.
    """

    loss: Tensor
    plain_loss: Tensor


class ClassAdversary(nn.Module):
    """Features (n, features) to logits (n, classes): one hidden layer, ReLU, dropout.

    ``coefficient`` is what the encoder feels of it: for kind "soft" the weight, by which the loss is
    multiplied; for "adaptive" that of `adversarial_coefficient`, at first for the loss of one who guesses,
    ln(classes), then for the mean of the last epoch or (``updated="step"``) of the last steps. The
    classifier itself always descends: an adaptive one its loss, a soft one the weight times its loss, so
    that with a weight of 0 it learns nothing.
    """

    name = "adversary"
    watched: tuple[str, ...] = ("adversary", "adversary, plain")
    reads_features = True
    coefficient: Tensor
    running: Tensor  # the mean loss of the last steps

    def __init__(
        self,
        *,
        features: int,
        classes: int,
        kind: Literal["soft", "adaptive"] = "adaptive",
        weight: float = 0.5,
        threshold: float = 1.5,
        smoothing: float = 0.15,
        hidden: int = 512,
        dropout: float = 0.1,
        steered_by: Literal["plain_loss", "loss"] = "plain_loss",
        updated: Literal["epoch", "step"] = "epoch",
        rate: float = 0.01,
    ) -> None:
        super().__init__()
        if classes < 2:
            raise SettingError(f"run.adversary: a classifier needs two classes or more; got {classes}")
        if kind not in ("soft", "adaptive"):
            raise SettingError(f'run.adversary.kind: expected "soft" or "adaptive"; got "{kind}"')
        self.classes = classes
        self.kind = kind
        self.weight = weight
        self.threshold = threshold
        self.smoothing = smoothing
        self.steered_by = steered_by
        self.updated = updated
        self.rate = rate
        self.layers = nn.Sequential(
            nn.Linear(features, hidden), nn.ReLU(), nn.Dropout(dropout), nn.Linear(hidden, classes)
        )
        self.register_buffer("coefficient", torch.tensor(self._coefficient(math.log(classes))))
        self.register_buffer("running", torch.tensor(math.log(classes)))

    def forward(self, features: Tensor) -> Tensor:
        seen = reversed_gradient(features, self.coefficient) if self.kind == "adaptive" else features
        logits: Tensor = self.layers(seen)
        return logits

    def judge(self, logits: Tensor, y: Tensor) -> Judgement:
        """The loss of logits (n, classes) for the classes (n,): 1 - smoothing of the target is the true
        class, the rest in equal parts the others. In float32 at least.

        The paper's text has a part for the true class too, smoothing / classes for each: that is this with
        smoothing x (classes - 1) / classes.
        """
        logs = logits.to(torch.promote_types(logits.dtype, torch.float32)).log_softmax(1)
        own = -logs.gather(1, y[:, None]).squeeze(1)
        others = (-logs.sum(1) - own) / (self.classes - 1)
        loss = (1 - self.smoothing) * own + self.smoothing * others
        return Judgement(loss.mean(), own.mean())

    def cost(self, step: Step) -> Cost:
        """What it adds to the loss that is descended; with ``updated="step"`` the coefficient moves."""
        assert step.output is not None
        judgement = self.judge(step.output, step.y)
        if self.kind == "soft":
            return Cost(self.weight * judgement.loss, judgement)
        if self.updated == "step":
            self._follow(judgement)
        return Cost(judgement.loss, judgement)

    def after_epoch(self, means: Sequence[float]) -> dict[str, float]:
        """The coefficient and the mean losses of the epoch; an adaptive coefficient is set for the next."""
        loss, plain_loss = means
        entry = {"coefficient": float(self.coefficient), "loss": loss, "plain_loss": plain_loss}
        if self.updated == "epoch":
            self.coefficient.fill_(self._coefficient(plain_loss if self.steered_by == "plain_loss" else loss))
        return entry

    @torch.no_grad()
    def _follow(self, judgement: Judgement) -> None:
        """Without leaving the device: a step must not wait for it."""
        newest = judgement.plain_loss if self.steered_by == "plain_loss" else judgement.loss
        self.running.lerp_(newest.to(self.running.dtype), NEWEST)
        self.coefficient.copy_((self.threshold - self.running).tanh() * self.weight)

    def _coefficient(self, loss: float) -> float:
        if self.kind == "soft":
            return self.weight
        return adversarial_coefficient(loss, weight=self.weight, threshold=self.threshold)


def build_class_adversary(run: Run, space: MetricSpace, items: Items) -> ClassAdversary | None:
    """The adversary of a run, for the features that the encoder makes of these items; None where the run has
    none.
    """
    settings = run.adversary
    if settings is None:
        return None
    encoder: Any = space.encoder
    inner = network_of(encoder)
    if not hasattr(inner, "features") or not hasattr(inner, "embedding"):
        raise SettingError(
            "run.adversary: it reads what the encoder's last layer sees, but "
            f"{type(inner).__name__} has no features(x) and embedding; wrap it in "
            "samekind.encoders.foreign.Foreign, or leave the adversary out"
        )
    rate = settings.rate
    if rate is None:
        rate = run.optimiser.rates.get("encoder.embedding", run.optimiser.rate)
    chosen = {**vars(settings), "rate": rate}
    return ClassAdversary(features=_feature_count(encoder, items), classes=len(space.classes), **chosen)


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
