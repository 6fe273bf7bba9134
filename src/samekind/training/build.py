"""A run made real: the space, the optimiser, the sampler, the augmentations and the loss terms it names."""

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from samekind import augmentations, parts, samplers, similarities
from samekind.augmentations import Augmentation
from samekind.data import Items, Stored, reader_for
from samekind.encoders import Backbone, Standardised
from samekind.encoders.channel_scaling import ChannelScaling
from samekind.errors import SettingError, nearest
from samekind.space import AuxiliaryHead, MetricSpace
from samekind.training.arguments import check_arguments
from samekind.training.memory import Memory
from samekind.training.own_encoder import GIVEN, expect_dimension, try_out
from samekind.training.parameter_groups import parameter_groups
from samekind.training.run import Run
from samekind.training.statistics import statistics_of
from samekind.training.tables import Head, Optimiser, Part

#: What an augmentation of vectors is told about the features.
FILLED_IN = ("means", "spreads")


def build_space(run: Run, items: Items, *, encoder: nn.Module | None = None) -> MetricSpace:
    """The space of a run for these items, with fresh weights from the global random state, and with
    ``encoder``, if given, in place of the one that the run names.
    """
    encoder = _build_encoder(run, items, encoder)
    facts = {"dimension": encoder.dimension, "classes": list(items.classes)}
    return MetricSpace(
        encoder,
        _build("similarities", run.space.similarity, facts),
        _build("prototypes", run.space.prototypes, facts),
        auxiliary=_build_head(run.space.auxiliary, facts) if run.space.auxiliary else None,
        reader=reader_for(items),
    )


def build_memory(run: Run, space: MetricSpace) -> Memory | None:
    """The memory of past embeddings, where a term asks for it."""
    if not any(term.against == "memory" for term in run.terms.values()):
        if run.memory:
            raise SettingError(
                f"run.memory: no term sees the {run.memory} embeddings of the memory; set a term against "
                '"memory", or memory to 0'
            )
        return None
    if run.memory < 1:
        raise SettingError("run.memory: a term asks for the memory; set how many embeddings it holds")
    return Memory(size=run.memory, dimension=space.prototypes.dimension)


def build_sampler(run: Run, labels: Tensor, *, domains: Tensor | None = None) -> Any:
    """The sampler of a run over these labels, and the domains of the items where it asks for them."""
    name = run.batches.sampler
    if name not in samplers.SAMPLERS:
        raise SettingError(f'run.batches: there is no sampler "{name}"; {nearest(name, samplers.SAMPLERS)}')
    sampler = getattr(samplers, name)
    takes = list(inspect.signature(sampler).parameters)
    known = [each for each in takes if each not in ("labels", "domains", "seed")]
    check_arguments(run.batches.arguments, known, sampler.__init__, f"run.batches ({name})")
    if "domains" not in takes:
        return sampler(labels, seed=run.seed, **run.batches.arguments)
    if domains is None:
        raise SettingError(f"run.batches: {name} needs the domain of each item, which these items lack")
    return sampler(labels, domains=domains, seed=run.seed, **run.batches.arguments)


def build_augmentations(run: Run, items: Items) -> list[Augmentation]:
    """The augmentations of a run, in their order, checked against the items they are to change."""
    facts: dict[str, Any] = {}
    if items.medium.units(items.shape) == "features" and run.augment:
        means, deviations = statistics_of(items, "features")
        facts = dict(zip(FILLED_IN, (means, deviations), strict=True))
    return [
        _build_augmentation(part, f"run.augment[{place}]", items, facts)
        for place, part in enumerate(run.augment)
    ]


def build_optimiser(
    settings: Optimiser,
    space: MetricSpace,
    *,
    beside: Sequence[Mapping[str, Any]] = (),
    fused: bool = False,
) -> torch.optim.Optimizer:
    """The optimiser of what learns in the space, group by group at its own rate, and of the groups
    ``beside`` it. One that is ``fused`` moves all weights of a group by one kernel.
    """
    groups = [*parameter_groups(settings, space), *map(dict, beside)]
    if settings.name in ("Adam", "AdamW"):
        adam = torch.optim.Adam if settings.name == "Adam" else torch.optim.AdamW
        return adam(groups, lr=settings.rate, weight_decay=settings.weight_decay, fused=fused or None)
    return torch.optim.SGD(
        groups,
        lr=settings.rate,
        momentum=settings.momentum,
        weight_decay=settings.weight_decay,
        nesterov=settings.nesterov,
        fused=fused or None,
    )


def _build_encoder(run: Run, items: Items, given: nn.Module | None) -> Any:
    """The encoder of a run, or the one given, shown its input as the run says."""
    part, by = run.space.encoder, run.space.standardise
    if given is None and part.name == GIVEN:
        raise SettingError(
            f"run.space.encoder: this run has an encoder of your own, {part.arguments.get('class')}; "
            "pass it as encoder=…"
        )
    encoder: Any = _build("encoders", part, _facts_of(items)) if given is None else given
    expect_dimension(encoder)
    theirs = given is not None or isinstance(encoder, Backbone)
    scales = isinstance(encoder, Standardised) or any(
        isinstance(each, ChannelScaling) for each in encoder.modules()
    )
    if by != "none" and scales:
        raise SettingError(
            f"run.space.standardise: {type(encoder).__name__} scales its input by itself, as its weights "
            'expect it, and would be shown it scaled twice; set space.standardise to "none"'
        )
    if by != "none":
        means, deviations = statistics_of(items, by)
        encoder = Standardised(encoder=encoder, means=means, deviations=deviations)
    if theirs:
        try_out(encoder, items)
    return encoder


def _build_augmentation(part: Part, where: str, items: Items, facts: Mapping[str, Any]) -> Augmentation:
    """One augmentation; what it asks about the features is filled in."""
    if part.name not in augmentations.AUGMENTATIONS:
        known = nearest(part.name, augmentations.AUGMENTATIONS)
        raise SettingError(f'{where}: there is no augmentation "{part.name}"; {known}')
    images = part.name in augmentations.IMAGES
    if items.medium.units(items.shape) != ("channels" if images else "features"):
        family = "images" if images else "vectors"
        raise SettingError(f"{where}: {part.name} is for {family}, these items have shape {items.shape}")
    if images:
        _check_range(items, f"{where} ({part.name})")
    made, where = getattr(augmentations, part.name), f"{where} ({part.name})"
    takes = list(inspect.signature(made).parameters)
    filled = {name: value for name, value in facts.items() if name in takes}
    open_to_all = [each for each in takes if each not in FILLED_IN]
    given = check_arguments(part.arguments, open_to_all, made.__init__, where)
    try:
        built: Augmentation = made(**filled, **given)
    except SettingError as error:
        raise SettingError(f"{where}.{error}") from error
    return built


def _check_range(items: Items, where: str) -> None:
    """Refuse images of floats that are not in [0, 1]: an augmentation would cut them off there."""
    if isinstance(items.inputs, Stored) or not items.inputs.is_floating_point() or not len(items):
        return
    low, high = (float(each) for each in items.inputs.aminmax())
    if not 0 <= low <= high <= 1:
        raise SettingError(
            f"{where}: images are augmented in [0, 1], these have values from {low:g} to {high:g}; "
            'give them as bytes or in [0, 1], and set space.standardise to "channels" if need be'
        )


def _build_head(head: Head, facts: Mapping[str, Any]) -> AuxiliaryHead:
    projection: nn.Module | None = None
    if head.projection is not None:
        projection = _build("encoders", head.projection, {"inputs": facts["dimension"]})
        facts = {**facts, "dimension": projection.dimension}
    return AuxiliaryHead(
        _build("similarities", head.similarity, facts),
        _build("prototypes", head.prototypes, facts),
        projection=projection,
        normalise=head.normalise,
        bias=head.bias,
    )


def _build(room: str, part: Part, facts: Mapping[str, Any]) -> Any:
    """A part, with the facts its constructor asks for where the run does not say otherwise."""
    known = parts.members(room)
    takes = inspect.signature(known[part.name]).parameters if part.name in known else {}
    filled = {name: value for name, value in facts.items() if name in takes}
    tell = _with_input_facts if room == "encoders" else _with_class_count
    arguments = {name: tell(value, facts) for name, value in part.arguments.items()}
    return parts.make(room, part.name, {**filled, **arguments})


def _with_input_facts(value: Any, facts: Mapping[str, Any]) -> Any:
    """An encoder inside another, such as a backbone, is told about the items too."""
    if not isinstance(value, Mapping):
        return value
    kind = parts.members("encoders").get(str(value.get("name")))
    takes = inspect.signature(kind).parameters if kind else {}
    filled = {name: each for name, each in facts.items() if name in takes}
    said = value.get("arguments", {}) if "room" in value else value
    if not isinstance(said, Mapping):
        return value  # refused, with a sentence, where it is built
    given = {**filled, **{name: _with_input_facts(each, facts) for name, each in said.items()}}
    return {**value, "arguments": given} if "room" in value else given


def _with_class_count(value: Any, facts: Mapping[str, Any]) -> Any:
    """A scale inside a similarity may ask how many classes there are."""
    if (
        not isinstance(value, Mapping)
        or value.get("name") not in similarities.SCALES
        or "classes" not in facts
    ):
        return value
    takes = inspect.signature(getattr(similarities, value["name"])).parameters
    return {"classes": len(facts["classes"]), **value} if "classes" in takes else value


def _facts_of(items: Items) -> dict[str, Any]:
    """What an encoder may ask about its input."""
    shape = items.shape
    if items.medium.units(shape) == "channels":
        return {"channels": shape[0], "size": shape[-1], "inputs": math.prod(shape)}
    return {"inputs": math.prod(shape)}
