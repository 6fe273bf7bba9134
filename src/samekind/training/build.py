"""A run made real: the space, the optimiser, the sampler, the augmentations and the loss terms it names."""

import inspect
import math
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from samekind import augmentations, losses, miners, parts, penalties, samplers, similarities
from samekind.augmentations import Augmentation
from samekind.data import Items, Stored, reader_for
from samekind.encoders import Backbone, Standardised
from samekind.encoders.channel_scaling import ChannelScaling
from samekind.errors import SettingError, nearest
from samekind.prototypes import Prototypes
from samekind.settings import typed
from samekind.similarities import Similarity
from samekind.space import AuxiliaryHead, MetricSpace
from samekind.training.compatible import (
    check_chords,
    check_loss,
    check_mixed_scores,
    check_order,
    check_scale,
)
from samekind.training.memory import Memory
from samekind.training.own_encoder import GIVEN, expect_dimension, try_out
from samekind.training.parameter_groups import parameter_groups
from samekind.training.run import Head, Optimiser, Part, Penalty, Run, Term
from samekind.training.statistics import statistics_of

#: What the training step hands to a loss that has such a keyword.
HANDED_OVER = ("scale", "generator", "between", "targets")

#: What it hands to a penalty.
OFFERED_TO_PENALTIES = ("z", "y", "prototypes")

#: What an augmentation of vectors is told about the features.
FILLED_IN = ("means", "spreads")


@dataclass(frozen=True)
class BuiltTerm:
    """A term with its names looked up and its arguments checked."""

    term: Term
    loss: Callable[..., Tensor]
    miner: Callable[..., tuple[Tensor, Tensor, Tensor]]
    needs: tuple[str, ...]  # of HANDED_OVER


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


def build_terms(run: Run, space: MetricSpace) -> dict[str, BuiltTerm]:
    """The terms of a run, looked up, and checked against the space they are to train."""
    check_mixed_scores(run, space)
    return {name: _build_term(name, term, space) for name, term in run.terms.items()}


@dataclass(frozen=True)
class BuiltPenalty:
    """A penalty looked up, and what it needs to be given."""

    weight: float
    function: Callable[..., Tensor]
    needs: tuple[str, ...]  # of OFFERED_TO_PENALTIES


def build_penalties(run: Run) -> dict[str, BuiltPenalty]:
    """The penalties of a run, looked up."""
    return {name: _build_penalty(name, each) for name, each in run.penalties.items()}


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
    _check_arguments(run.batches.arguments, known, sampler.__init__, f"run.batches ({name})")
    if "domains" not in takes:
        return sampler(labels, seed=run.seed, **run.batches.arguments)
    if domains is None:
        raise SettingError(f"run.batches: {name} needs the domain of each item, which these items lack")
    return sampler(labels, domains=domains, seed=run.seed, **run.batches.arguments)


def build_augmentations(run: Run, items: Items) -> list[Augmentation]:
    """The augmentations of a run, in their order, checked against the items they are to change."""
    facts: dict[str, Any] = {}
    if len(items.shape) == 1 and run.augment:
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
    family, kind = ("images", 3) if part.name in augmentations.IMAGES else ("vectors", 1)
    if len(items.shape) != kind:
        raise SettingError(f"{where}: {part.name} is for {family}, these items have shape {items.shape}")
    if family == "images":
        _check_range(items, f"{where} ({part.name})")
    made, where = getattr(augmentations, part.name), f"{where} ({part.name})"
    takes = list(inspect.signature(made).parameters)
    filled = {name: value for name, value in facts.items() if name in takes}
    open_to_all = [each for each in takes if each not in FILLED_IN]
    _check_arguments(part.arguments, open_to_all, made.__init__, where)
    hints = typing.get_type_hints(made.__init__)
    given = {name: typed(hints[name], value, f"{where}.{name}") for name, value in part.arguments.items()}
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
    if len(shape) == 3:
        return {"channels": shape[0], "size": shape[-1], "inputs": math.prod(shape)}
    return {"inputs": math.prod(shape)}


def _build_term(name: str, term: Term, space: MetricSpace) -> BuiltTerm:
    where = f"run.terms.{name}"
    loss = _look_up(losses, term.loss, where)
    takes = list(inspect.signature(loss).parameters)[3:]
    known = [each for each in takes if each not in HANDED_OVER]
    _check_arguments(term.arguments, known, loss, f"{where} ({term.loss})")
    if term.against == "auxiliary" and space.auxiliary is None:
        raise SettingError(f"{where}: the space has no auxiliary head to train; add run.space.auxiliary")
    owner = space if term.against != "auxiliary" else _auxiliary(space)
    similarity = owner.similarity
    if term.against in ("prototypes", "auxiliary"):
        _check_prototypes(owner.prototypes, where, loss=term.loss if "between" in takes else None)
    check_loss(term, owner, where)
    check_order(term, where)
    check_scale(term, owner, where)
    _try_settings(partial(loss, **term.arguments), takes, f"{where} ({term.loss})")
    return BuiltTerm(
        term,
        partial(loss, **term.arguments),
        _build_miner(term, where, dimension=owner.prototypes.dimension, similarity=similarity),
        tuple(each for each in HANDED_OVER if each in takes),
    )


def _try_settings(loss: Callable[..., Tensor], takes: Sequence[str], where: str) -> None:
    """Have a loss look at its settings now, not in the first step: two items of two classes, against both."""
    same = torch.eye(2, dtype=torch.bool)
    # A generator of its own: nothing may be drawn from the one that draws the weights.
    offered = {"between": torch.zeros(2, 2), "generator": torch.Generator()}
    try:
        loss(torch.zeros(2, 2), same, ~same, **{name: offered[name] for name in offered if name in takes})
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from error


def _check_prototypes(prototypes: Prototypes, where: str, *, loss: str | None) -> None:
    """Refuse prototypes that no term can be against; ``loss``, if given, compares them with each other."""
    name = type(prototypes).__name__
    if not prototypes.trained and not prototypes.vectors.any():
        raise SettingError(
            f"{where}: {name} are filled when training is over, there is nothing to train against; "
            "choose other prototypes, such as RunningAverages"
        )
    if loss is not None and prototypes.count > 1:
        raise SettingError(
            f"{where}: the loss {loss} compares prototypes with each other and takes one a class, but "
            f"{name} have count={prototypes.count}; choose another loss, or count=1"
        )


def _build_penalty(name: str, penalty: Penalty) -> BuiltPenalty:
    function = _look_up(penalties, penalty.penalty, f"run.penalties.{name}")
    parameters = inspect.signature(function).parameters.values()
    needs = tuple(each.name for each in parameters if each.default is inspect.Parameter.empty)
    known = [each.name for each in parameters if each.name not in needs]
    _check_arguments(penalty.settings, known, function, f"run.penalties.{name}.settings ({penalty.penalty})")
    missing = [each for each in needs if each not in OFFERED_TO_PENALTIES]
    if missing:
        raise SettingError(
            f"run.penalties.{name}: {penalty.penalty} needs {', '.join(missing)}, which a run lacks"
        )
    if penalty.settings:
        function = partial(function, **penalty.settings)
    return BuiltPenalty(penalty.weight, function, needs)


def _build_miner(
    term: Term, where: str, *, dimension: int, similarity: Similarity
) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """A miner with its arguments; what it asks about the embeddings and the scores is filled in."""
    miner = _look_up(miners, term.miner, where)
    takes = [each for each in list(inspect.signature(miner).parameters)[3:] if each != "generator"]
    if term.miner in miners.BATCH_ONLY and term.against != "batch":
        raise SettingError(
            f"{where}: the miner {term.miner} makes an item its own positive, so it needs the scores of a "
            f'batch with itself; set against to "batch", not "{term.against}", or choose another miner'
        )
    if "kind" in takes and "kind" not in term.mining:
        check_chords(similarity, f"{where}.mining ({term.miner})")
    facts = {"dimension": dimension, "kind": similarity.kind}
    arguments = {name: value for name, value in facts.items() if name in takes} | term.mining
    _check_arguments(arguments, takes, miner, f"{where}.mining ({term.miner})")
    return partial(miner, **arguments)


def _auxiliary(space: MetricSpace) -> AuxiliaryHead:
    assert space.auxiliary is not None
    return space.auxiliary


def _look_up(room: Any, name: str, where: str) -> Any:
    if name not in room.__all__:
        raise SettingError(f'{where}: there is no "{name}" in {room.__name__}; {nearest(name, room.__all__)}')
    return getattr(room, name)


def _check_arguments(
    arguments: Mapping[str, Any], known: Sequence[str], function: Callable[..., Any], where: str
) -> None:
    """Refuse an argument that is unknown, or not what the function's type hints say."""
    hints = typing.get_type_hints(function)
    for argument, value in arguments.items():
        if argument not in known:
            raise SettingError(f'{where}: there is no setting "{argument}"; {nearest(argument, known)}')
        typed(hints[argument], value, f"{where}.{argument}")
