"""A space together with the adversary of its run: what a step runs forward, and what learns beside it."""

from typing import Any

import torch
from torch import Tensor, nn

from samekind.data import Items, scaled
from samekind.data.fetching import fetched
from samekind.encoders import Standardised
from samekind.errors import SettingError
from samekind.space import MetricSpace
from samekind.training.class_adversary import ClassAdversary
from samekind.training.fabric import Fabric
from samekind.training.run import Run

#: The name of its group of the optimiser.
ADVERSARY = "adversary"


class Observed(nn.Module):
    """Items to embeddings (n, d) and the adversary's logits (n, classes), from one pass of the encoder."""

    def __init__(self, space: MetricSpace, adversary: ClassAdversary) -> None:
        super().__init__()
        self.space = space
        self.adversary = adversary

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        encoder: Any = self.space.encoder
        features = encoder.features(x)
        return encoder.embedding(features), self.adversary(features)


def build_adversary(run: Run, space: MetricSpace, items: Items) -> ClassAdversary | None:
    """The adversary of a run, with fresh weights from the global random state, for the features that the
    encoder makes of these items; None where the run has none.
    """
    if run.adversary is None:
        return None
    settings = run.adversary
    encoder: Any = space.encoder
    inner = encoder.encoder if isinstance(encoder, Standardised) else encoder
    if not hasattr(inner, "features") or not hasattr(inner, "embedding"):
        raise SettingError(
            "run.adversary: it reads what the encoder's last layer sees, but "
            f"{type(inner).__name__} has no features(x) and embedding; wrap it in "
            "samekind.encoders.foreign.Foreign, or leave the adversary out"
        )
    return ClassAdversary(
        features=_feature_count(encoder, items),
        classes=len(space.classes),
        kind=settings.kind,
        weight=settings.weight,
        threshold=settings.threshold,
        smoothing=settings.smoothing,
        hidden=settings.hidden,
        dropout=settings.dropout,
        steered_by=settings.steered_by,
        updated=settings.updated,
    )


@torch.no_grad()
def _feature_count(encoder: Any, items: Items) -> int:
    """How many features an item has, as the encoder shows it: not every encoder says it beforehand."""
    (item,) = fetched(items.inputs, [slice(0, 1)])
    device = next((each.device for each in encoder.parameters()), torch.device("cpu"))
    training = encoder.training
    encoder.eval()  # no statistics move, nothing is drawn
    features: Tensor = encoder.features(scaled(item.to(device)))
    encoder.train(training)
    return features.shape[1]


def adversary_groups(run: Run, adversary: ClassAdversary | None) -> list[dict[str, Any]]:
    """The group of the optimiser for the adversary's weights, at its rate; none where there is none."""
    if adversary is None or run.adversary is None:
        return []
    rate = run.adversary.rate
    if rate is None:
        rate = run.optimiser.rates.get("encoder.embedding", run.optimiser.rate)
    return [{"params": list(adversary.parameters()), "lr": rate, "name": ADVERSARY}]


def clip_gradients(fabric: Fabric, optimiser: Any, *, norm: float) -> None:
    """The gradient of what the optimiser trains brought down to a norm: that of the space as a whole, and
    apart from it that of the adversary. In one norm a classifier with a steep loss would shorten the step of
    the space.

    Whether the numbers are finite is looked at later: here it would make a GPU wait, and half precision has
    steps without finite gradients by design.
    """
    fabric.strategy.precision.unscale_gradients(optimiser.optimizer)
    space: list[Tensor] = []
    adversary: list[Tensor] = []
    for group in optimiser.optimizer.param_groups:
        (adversary if group["name"] == ADVERSARY else space).extend(group["params"])
    for weights in (space, adversary):
        nn.utils.clip_grad_norm_(weights, norm)
