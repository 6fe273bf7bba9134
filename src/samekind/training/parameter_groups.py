"""The groups of the optimiser: which weights learn at which rate, and how their gradients are clipped."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from torch import Tensor, nn

from samekind.encoders.freezing import came_with_weights
from samekind.encoders.wrapping import network_of
from samekind.errors import SettingError, nearest
from samekind.space import MetricSpace
from samekind.training.fabric import Fabric
from samekind.training.tables import Optimiser


def parameter_groups(settings: Optimiser, space: MetricSpace) -> list[dict[str, Any]]:
    """A group for each part of the space with weights to train, and one for each stage of the encoder
    ("encoder.stem"), or part of a stage ("encoder.layer4.0"), with a rate of its own. The encoder's group
    holds the rest of it. Where ``pretrained`` is not 1, the weights that the encoder came with are a group of
    their own, marked ``"pretrained"``. Frozen weights are in no group. Raises SettingError for a rate of
    frozen weights, and for a share of the rate where nothing was pretrained.
    """
    modules = dict(space.named_children())
    stages: dict[str, list[nn.Module]] = {}
    for name in settings.rates:
        part, dot, stage = name.partition(".")
        if part not in modules:
            raise SettingError(
                f'run.optimiser.rates: the space has no part "{part}"; {nearest(part, modules)}'
            )
        if dot:
            stages[name] = _stage(space, part, stage)
    taken: set[nn.Parameter] = set()
    groups = []
    named: Mapping[str, list[nn.Module]] = stages | {name: [module] for name, module in modules.items()}
    for name in settings.rates:
        _expect_learning(name, named[name])
    order, old = list(modules), _pretrained(settings, space)
    # The parts in their order; in each the innermost first.
    for name in sorted(named, key=lambda name: (order.index(name.partition(".")[0]), -name.count("."))):
        weights = [weight for weight in _parameters(named[name]) if weight.requires_grad]
        learning = [weight for weight in weights if weight not in taken]
        taken.update(learning)
        rate = settings.rates.get(name, settings.rate)
        share = 1.0 if name in settings.rates else settings.pretrained
        for pretrained in (False, True):
            weights = [weight for weight in learning if (weight in old) == pretrained]
            if weights and pretrained:
                group = {"lr": rate * share, "name": f"{name}, pretrained", "pretrained": True}
                groups.append({"params": weights, **group})
            elif weights:
                groups.append({"params": weights, "lr": rate, "name": name})
    if not groups:
        raise SettingError("nothing in the space learns, there is nothing to train; unfreeze the encoder")
    return groups


def clip_gradients(fabric: Fabric, optimiser: Any, *, norm: float, apart: Collection[str] = ()) -> None:
    """Bring the gradient of the space, as a whole, down to a norm, and apart from it that of each group named
    in ``apart``. In one norm an extra with a steep loss would shorten the step of the space.

    Whether the numbers are finite is checked later: here it would make a GPU wait, and half precision has
    steps without finite gradients by design.
    """
    fabric.strategy.precision.unscale_gradients(optimiser.optimizer)
    weights: dict[str, list[Tensor]] = {}
    for group in optimiser.optimizer.param_groups:
        owner = group["name"] if group["name"] in apart else "space"
        weights.setdefault(owner, []).extend(group["params"])
    for together in weights.values():
        nn.utils.clip_grad_norm_(together, norm)


def _pretrained(settings: Optimiser, space: MetricSpace) -> set[nn.Parameter]:
    """The weights that the encoder came with, if they learn at a share of the rate; else none."""
    if settings.pretrained == 1:
        return set()
    weights = _parameters(came_with_weights(space.encoder))
    if not weights:
        raise SettingError(
            f"run.optimiser.pretrained: {type(network_of(space.encoder)).__name__} came without learned "
            "weights; leave it at 1, or choose a pretrained encoder"
        )
    return set(weights)


def _stage(space: MetricSpace, part: str, stage: str) -> list[nn.Module]:
    """The modules of a stage of the encoder."""
    if part != "encoder":
        raise SettingError(
            f'run.optimiser.rates: only the encoder has stages, not "{part}.{stage}"; use "{part}"'
        )
    encoder: Any = space.encoder
    if not hasattr(encoder, "stages"):
        name = type(network_of(encoder)).__name__
        raise SettingError(f'run.optimiser.rates: {name} has no stages, so no "{stage}"; use "encoder"')
    stages: dict[str, list[nn.Module]] = encoder.stages()
    first, dot, rest = stage.partition(".")
    if first not in stages:
        raise SettingError(
            f'run.optimiser.rates: the encoder has no stage "{stage}"; {nearest(stage, stages)}'
        )
    if not dot:
        return stages[first]
    inside = {path: inner for module in stages[first] for path, inner in module.named_modules() if path}
    if rest not in inside:
        raise SettingError(
            f'run.optimiser.rates: the stage "{first}" of the encoder has no part "{rest}"; '
            f"{nearest(rest, inside)}"
        )
    return [inside[rest]]


def _expect_learning(name: str, modules: list[nn.Module]) -> None:
    """Raises SettingError if all weights are frozen. A part without weights may have a rate."""
    weights = _parameters(modules)
    if weights and not any(weight.requires_grad for weight in weights):
        raise SettingError(
            f'run.optimiser.rates: "{name}" has a rate, but all of it is frozen; leave the rate out, or '
            "unfreeze it"
        )


def _parameters(modules: Iterable[nn.Module]) -> list[nn.Parameter]:
    return [weight for module in modules for weight in module.parameters()]
