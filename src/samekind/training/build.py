"""Builds the space, memory, sampler, augmentations and optimiser of a run from its settings."""

import inspect
import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

from samekind import augmentations, parts, samplers, similarities
from samekind.augmentations import Augmentation
from samekind.auxiliary_head import AuxiliaryHead
from samekind.data import Items, Stored, reader_for
from samekind.encoders import Backbone, Standardised, WithSize
from samekind.encoders.channel_scaling import ChannelScaling
from samekind.errors import SettingError, SpaceError, nearest
from samekind.inference.compress import expect_compressible
from samekind.space import MetricSpace
from samekind.training.arguments import check_arguments
from samekind.training.class_tree import place_prototypes
from samekind.training.memory import Memory
from samekind.training.own_encoder import GIVEN, expect_dimension, try_out
from samekind.training.parameter_groups import parameter_groups
from samekind.training.run import Run
from samekind.training.statistics import statistics_of
from samekind.training.tables import Head, Optimiser, Part

#: The parameters of an augmentation that are filled in: means and deviations of features, the rate of sounds.
FILLED_IN = ("means", "spreads", "rate")

#: The augmentations of each family.
FAMILIES = {"images": augmentations.IMAGES, "vectors": augmentations.VECTORS, "sounds": augmentations.SOUNDS}


def build_space(run: Run, items: Items, *, encoder: nn.Module | None = None) -> MetricSpace:
    """The space of a run for these items, with fresh weights from the global random state. ``encoder``
    replaces the encoder that the run names.
    """
    encoder = build_encoder(run, items, encoder)
    facts = {"dimension": encoder.dimension, "classes": list(items.classes)}
    space = MetricSpace(
        encoder,
        _build("similarities", run.space.similarity, facts),
        _build("prototypes", run.space.prototypes, facts),
        auxiliary=_build_head(run.space.auxiliary, facts) if run.space.auxiliary else None,
        reader=reader_for(items),
    )
    space.tree = items.tree
    place_prototypes(space)
    if run.compress:
        try:
            expect_compressible(space, run.compress)
        except SpaceError as error:
            raise SettingError(f"run.compress: {error}") from error
    return space


def build_memory(run: Run, space: MetricSpace) -> Memory | None:
    """The memory of past embeddings; None where no term is against it."""
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


def build_sampler(
    run: Run, labels: Tensor, *, domains: Tensor | None = None, names: Sequence[str] = ()
) -> Any:
    """The sampler of a run over these labels, and the domains of the items where it takes them; ``names`` are
    those of the classes, for its errors.
    """
    name = run.batches.sampler
    if name not in samplers.SAMPLERS:
        raise SettingError(f'run.batches: there is no sampler "{name}"; {nearest(name, samplers.SAMPLERS)}')
    sampler = getattr(samplers, name)
    facts: dict[str, Any] = {"labels": labels, "seed": run.seed}
    parameters = inspect.signature(sampler).parameters
    if "domains" in parameters:
        if domains is None:
            raise SettingError(f"run.batches: {name} needs the domain of each item, which these items lack")
        facts["domains"] = domains
    if "names" in parameters:
        facts["names"] = names
    known = [parameter for parameter in parameters if parameter not in facts]
    check_arguments(run.batches.arguments, known, sampler.__init__, f"run.batches ({name})")
    return sampler(**facts, **run.batches.arguments)


def build_augmentations(run: Run, items: Items) -> list[Augmentation]:
    """The augmentations of a run, in their order, checked against the items they are to change."""
    facts: dict[str, Any] = items.medium.facts(items.shape, items.reader)
    if items.medium.units(items.shape) == "features" and run.augment:
        facts = dict(zip(FILLED_IN, statistics_of(items, "features"), strict=False))
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
    capturable: bool = False,
) -> torch.optim.Optimizer:
    """The optimiser of the weights of the space, each group at its own rate, and of the groups ``beside``
    it. With ``fused`` one kernel moves all weights of a group; a ``capturable`` one keeps its counts on the
    device, so that a step can be recorded.
    """
    groups = [*parameter_groups(settings, space), *map(dict, beside)]
    shared: dict[str, Any] = {"weight_decay": settings.weight_decay, "fused": fused or None}
    if capturable:
        shared["capturable"] = True
    if settings.name == "SGD":
        shared |= {"momentum": settings.momentum, "nesterov": settings.nesterov}
    else:
        shared["eps"] = settings.epsilon
    optimiser: type[torch.optim.Optimizer] = getattr(torch.optim, settings.name)
    return optimiser(groups, lr=settings.rate, **shared)  # type: ignore[call-arg]


def build_encoder(run: Run, items: Items, given: nn.Module | None = None) -> Any:
    """The encoder of a run, or the given one, with its input standardised as the run says. It also gets the
    original size of pictures that have one.
    """
    part, by = run.space.encoder, run.space.standardise
    if given is None and part.name == GIVEN:
        raise SettingError(
            f"run.space.encoder: this run has an encoder of your own, {part.arguments.get('class')}; "
            "pass it as encoder=…"
        )
    encoder: Any = _build("encoders", part, _facts_of(items)) if given is None else given
    expect_dimension(encoder)
    foreign = given is not None or any(isinstance(module, Backbone) for module in encoder.modules())
    channels = items.medium.seen(items.shape)[0]
    if by != "none":
        scales = any(isinstance(module, ChannelScaling) for module in encoder.modules())
        if scales or isinstance(encoder, Standardised):
            raise SettingError(
                f"run.space.standardise: {type(encoder).__name__} scales its input by itself, as its weights "
                'expect it, and would scale it twice; set space.standardise to "none"'
            )
        means, deviations = (numbers[:channels] for numbers in statistics_of(items, by))
        encoder = Standardised(encoder=encoder, means=means, deviations=deviations)
    if channels < items.shape[0]:
        encoder = WithSize(encoder=encoder)
    if foreign:
        try_out(encoder, items)
    return encoder


def plain_encoder(items: Items) -> Any:
    """The encoder without weights whose embeddings are the raw input of these items."""
    return _encoder(*items.medium.plain(items.shape), _facts_of(items))


def _build_augmentation(part: Part, where: str, items: Items, facts: Mapping[str, Any]) -> Augmentation:
    """One augmentation; its parameters in `FILLED_IN` come from the items."""
    if part.name not in augmentations.AUGMENTATIONS:
        suggestion = nearest(part.name, augmentations.AUGMENTATIONS)
        raise SettingError(f'{where}: there is no augmentation "{part.name}"; {suggestion}')
    family = next(family for family, names in FAMILIES.items() if part.name in names)
    if family != items.medium.family(items.shape):
        raise SettingError(f"{where}: {part.name} is for {family}, these items have shape {items.shape}")
    if family == "images":
        _check_range(items, f"{where} ({part.name})")
    augmentation, where = getattr(augmentations, part.name), f"{where} ({part.name})"
    parameters = inspect.signature(augmentation).parameters
    filled = {name: value for name, value in facts.items() if name in parameters}
    known = [name for name in parameters if name not in FILLED_IN]
    arguments = check_arguments(part.arguments, known, augmentation.__init__, where)
    try:
        built: Augmentation = augmentation(**filled, **arguments)
    except SettingError as error:
        raise SettingError(f"{where}.{error}") from error
    return built


def _check_range(items: Items, where: str) -> None:
    """Raises SettingError for float images outside of [0, 1]: an augmentation would clip them."""
    if isinstance(items.inputs, Stored) or not items.inputs.is_floating_point() or not len(items):
        return
    low, high = (float(bound) for bound in items.inputs.aminmax())
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
    """A part. Facts that its constructor takes, and that the run does not set, are filled in."""
    if room == "encoders":
        return _encoder(part.name, part.arguments, facts)
    arguments = {name: _with_class_count(value, facts) for name, value in part.arguments.items()}
    return parts.make(room, part.name, {**_taken(parts.members(room).get(part.name), facts), **arguments})


def _encoder(name: str, arguments: Mapping[str, Any], facts: Mapping[str, Any]) -> Any:
    """An encoder with the facts of its input. Encoders inside it are built first; a head behind them takes
    their embeddings.
    """
    inside = {key: _inside(value, facts) for key, value in arguments.items() if key != "head"}
    if "head" in arguments:
        below = getattr(inside.get("encoder"), "dimension", None)
        inside["head"] = _inside(arguments["head"], facts if below is None else {"inputs": below})
    return parts.make("encoders", name, {**_taken(parts.members("encoders").get(name), facts), **inside})


def _inside(value: Any, facts: Mapping[str, Any]) -> Any:
    """An argument of an encoder. A description of an encoder is built, and so is each in a list."""
    if isinstance(value, list):
        return [_inside(element, facts) for element in value]
    if not isinstance(value, Mapping):
        return value
    described = "room" in value
    arguments = value.get("arguments", {}) if described else {**value}
    if described and (value["room"] != "encoders" or not isinstance(arguments, Mapping)):
        return value  # refused where it is built
    own = {key: inner for key, inner in arguments.items() if described or key != "name"}
    return _encoder(str(value.get("name")), own, facts)


def _taken(member: Any, facts: Mapping[str, Any]) -> dict[str, Any]:
    """Facts the constructor accepts; empty for an unknown name, which `parts.make` refuses."""
    parameters = inspect.signature(member).parameters if member is not None else {}
    return {name: value for name, value in facts.items() if name in parameters}


def _with_class_count(value: Any, facts: Mapping[str, Any]) -> Any:
    """A scale inside a similarity, with the number of classes if it takes it."""
    if not isinstance(value, Mapping) or value.get("name") not in similarities.SCALES:
        return value
    count = {"classes": len(facts["classes"])} if "classes" in facts else {}
    return {**_taken(getattr(similarities, value["name"]), count), **value}


def _facts_of(items: Items) -> dict[str, Any]:
    """The facts about its input that an encoder may take."""
    shape = items.medium.seen(items.shape)
    pictures = items.medium.units(shape) == "channels"
    sides = {"channels": shape[0], "size": shape[-1]} if pictures else {}
    return {"inputs": math.prod(shape), **sides, **items.medium.facts(items.shape, items.reader)}
