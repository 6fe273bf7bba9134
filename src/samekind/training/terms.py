"""The terms and penalties of a run: names looked up, arguments checked against the space they train."""

import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from types import ModuleType
from typing import Any

import torch
from torch import Tensor

from samekind import losses, miners, penalties
from samekind.auxiliary_head import AuxiliaryHead
from samekind.errors import SettingError, nearest
from samekind.prototypes import Prototypes
from samekind.samplers import Episodes, Layout
from samekind.similarities import Dot, Similarity
from samekind.space import MetricSpace
from samekind.training.arguments import check_arguments
from samekind.training.class_tree import TWO
from samekind.training.compatible import (
    check_chords,
    check_loss,
    check_mixed_scores,
    check_order,
    check_scale,
    check_tree,
)
from samekind.training.context import (
    FOR_LOSSES,
    FOR_PENALTIES,
    BuiltPenalty,
    BuiltTerm,
    Candidates,
    Context,
    LossCall,
)
from samekind.training.run import Run
from samekind.training.tables import Penalty, Term


def build_terms(run: Run, space: MetricSpace, *, epoch: int = 0) -> dict[str, BuiltTerm]:
    """The terms of a run as they are after so many epochs, looked up and checked against the space they are
    to train. What they have later is checked too.
    """
    check_mixed_scores(run, space)
    check_tree(run, space)
    layout = layout_of(run)
    for name, term in run.terms.items():
        for change in term.later:
            _build_term(f"run.terms.{name}.later", term.at(change.after), space, layout)
    return {
        name: _build_term(f"run.terms.{name}", term.at(epoch), space, layout)
        for name, term in run.terms.items()
    }


def build_penalties(run: Run) -> dict[str, BuiltPenalty]:
    """The penalties of a run, looked up. `build_terms` refuses one that needs a tree, where there is none."""
    return {name: _build_penalty(name, penalty) for name, penalty in run.penalties.items()}


def layout_of(run: Run) -> Layout | None:
    """How the tasks lie in a batch; None where batches are not few-shot tasks."""
    if run.batches.sampler != "Episodes":
        return None
    parameters = inspect.signature(Episodes).parameters
    given = {name: run.batches.arguments.get(name, parameters[name].default) for name in Layout._fields}
    return Layout(**given)


def _build_term(where: str, term: Term, space: MetricSpace, layout: Layout | None) -> BuiltTerm:
    loss = _look_up(losses, term.loss, where)
    parameters = list(inspect.signature(loss).parameters)[3:]
    settings = [name for name in parameters if name not in FOR_LOSSES]
    check_arguments(term.arguments, settings, loss, f"{where} ({term.loss})")
    owner = _scored_by(term, space, where)
    if term.against in ("prototypes", "auxiliary"):
        one_each = "between" in parameters or "lengths" in parameters
        _check_prototypes(owner.prototypes, where, loss=term.loss if one_each else None)
    if term.against == "support":
        _check_support(owner.prototypes, where, term, parameters=parameters, layout=layout)
    check_loss(term, owner, where)
    check_order(term, where)
    check_scale(term, owner, where)
    built = BuiltTerm(
        term,
        partial(loss, **term.arguments),
        _build_miner(term, where, dimension=owner.prototypes.dimension, similarity=owner.similarity),
        tuple(name for name in FOR_LOSSES if name in parameters),
        _class_weights(term, space.classes, where),
    )
    _try_settings(built, owner.similarity, f"{where} ({term.loss})")
    return built


def _class_weights(term: Term, classes: Sequence[str], where: str) -> Tensor | None:
    """The weight of each class (classes,); None where the term names none."""
    unknown = [name for name in term.class_weights if name not in classes]
    if unknown:
        raise SettingError(
            f'{where}.class_weights: there is no class "{unknown[0]}"; {nearest(unknown[0], classes)}'
        )
    if not term.class_weights:
        return None
    return torch.tensor([term.class_weights.get(name, 1.0) for name in classes])


def _scored_by(term: Term, space: MetricSpace, where: str) -> MetricSpace | AuxiliaryHead:
    """Whose similarity and prototypes the scores of a term come from."""
    if term.by == "inner product":
        return MetricSpace(space.encoder, Dot(), space.prototypes)
    if term.against != "auxiliary":
        return space
    if space.auxiliary is None:
        raise SettingError(f"{where}: the space has no auxiliary head to train; add run.space.auxiliary")
    return space.auxiliary


@torch.no_grad()
def _try_settings(built: BuiltTerm, similarity: Similarity, where: str) -> None:
    """Have a loss check its settings now, not in the first step: two items of two classes."""
    labels, scores = torch.arange(2), torch.zeros(2, 2)
    vectors = torch.zeros(2, 1)
    candidates = Candidates(similarity, vectors, vectors, labels, labels, scores, None)
    same = torch.eye(2, dtype=torch.bool)
    # Scores of a batch, and a generator of its own: the random state that draws the weights must not move.
    context = Context(generator=torch.Generator(), tree=TWO)
    call = LossCall(replace(built.term, against="batch"), candidates, context)
    try:
        built.loss(scores, same, ~same, **{name: FOR_LOSSES[name](call) for name in built.needs})
    except SettingError as error:
        raise SettingError(f"{where}: {error}") from error


def _check_prototypes(prototypes: Prototypes, where: str, *, loss: str | None) -> None:
    """Refuse prototypes that no term can be against; ``loss``, if given, asks about each vector of them."""
    name = type(prototypes).__name__
    if not prototypes.trained and not prototypes.vectors.any():
        raise SettingError(
            f"{where}: {name} are filled when training is over, there is nothing to train against; "
            "choose other prototypes, such as RunningAverages"
        )
    if loss is not None and prototypes.count > 1:
        raise SettingError(
            f"{where}: the loss {loss} asks about each prototype by itself and takes one a class, but "
            f"{name} have count={prototypes.count}; choose another loss, or count=1"
        )


def _check_support(
    prototypes: Prototypes, where: str, term: Term, *, parameters: Sequence[str], layout: Layout | None
) -> None:
    """Refuse what cannot be trained against the examples of a task."""
    name = type(prototypes).__name__
    if layout is None:
        raise SettingError(
            f'{where}: "support" are the examples of few-shot tasks; set batches.sampler to "Episodes"'
        )
    if prototypes.trained:
        raise SettingError(
            f"{where}: the classes of a task are made of its examples, and {name} are trained; set "
            "space.prototypes to SupportMeans"
        )
    if prototypes.count not in (1, layout.shot):
        raise SettingError(
            f"{where}: the classes of a task have one vector, or one for each example: count is 1, or "
            f"{layout.shot} as batches.shot; {name} have count={prototypes.count}"
        )
    if "between" in parameters or "lengths" in parameters:
        raise SettingError(
            f'{where}: the loss {term.loss} compares candidates with each other, which "support" does not '
            "offer; choose softmax"
        )
    if term.class_weights:
        raise SettingError(f"{where}.class_weights: every class of a task counts alike; leave them out")


def _build_penalty(name: str, penalty: Penalty) -> BuiltPenalty:
    where = f"run.penalties.{name}"
    function = _look_up(penalties, penalty.penalty, where)
    parameters = inspect.signature(function).parameters.values()
    needs = tuple(parameter.name for parameter in parameters if parameter.default is inspect.Parameter.empty)
    settings = [parameter.name for parameter in parameters if parameter.name not in needs]
    check_arguments(penalty.settings, settings, function, f"{where}.settings ({penalty.penalty})")
    missing = [name for name in needs if name not in FOR_PENALTIES]
    if missing:
        raise SettingError(f"{where}: {penalty.penalty} needs {', '.join(missing)}, which a run lacks")
    return BuiltPenalty(penalty.weight, partial(function, **penalty.settings), needs)


def _build_miner(
    term: Term, where: str, *, dimension: int, similarity: Similarity
) -> Callable[..., tuple[Tensor, Tensor, Tensor]]:
    """A miner with its arguments; ``dimension`` and ``quantity`` are filled in where it takes them."""
    miner = _look_up(miners, term.miner, where)
    parameters = [name for name in list(inspect.signature(miner).parameters)[3:] if name != "generator"]
    if term.miner in miners.BATCH_ONLY and term.against != "batch":
        raise SettingError(
            f"{where}: the miner {term.miner} reads candidates as anchors, so it needs the scores of a batch "
            f'with itself; set against to "batch", not "{term.against}", or choose another miner'
        )
    if "quantity" in parameters and "quantity" not in term.mining:
        check_chords(similarity, f"{where}.mining ({term.miner})")
    facts = {"dimension": dimension, "quantity": similarity.quantity}
    arguments = {name: value for name, value in facts.items() if name in parameters} | term.mining
    check_arguments(arguments, parameters, miner, f"{where}.mining ({term.miner})")
    return partial(miner, **arguments)


def _look_up(room: ModuleType, name: str, where: str) -> Any:
    if name not in room.__all__:
        raise SettingError(f'{where}: there is no "{name}" in {room.__name__}; {nearest(name, room.__all__)}')
    return getattr(room, name)
