"""Checks that the scores of a term suit its loss, its miner and its scale; raises SettingError if not."""

import inspect
from types import ModuleType

from samekind import losses, penalties
from samekind.auxiliary_head import AuxiliaryHead
from samekind.errors import SettingError
from samekind.similarities import LogAngle, Similarity
from samekind.space import MetricSpace
from samekind.training.class_tree import GIVE
from samekind.training.run import Run
from samekind.training.tables import Term

#: The similarity for a scale that reads angles, by the quantity it reads.
READABLE = {
    "cosine": "Cosine",
    "log-distance": "LogDistance with normalise=true",
    "log-angle": "LogAngle",
}

Owner = MetricSpace | AuxiliaryHead


def check_loss(term: Term, owner: Owner, where: str) -> None:
    """The scores must be a quantity that the loss takes, and not moved by a bias."""
    similarity = owner.similarity
    accepted = losses.ACCEPTS.get(term.loss, (similarity.quantity,))
    if similarity.quantity not in accepted:
        raise SettingError(
            f"{where}: the loss {term.loss} takes scores that are {' or '.join(accepted)}, but "
            f"{type(similarity).__name__} gives {similarity.quantity}; choose another loss or similarity"
        )
    # A loss that takes a single quantity reads angles or distances off the scores.
    if _moved(owner) and term.loss in losses.ACCEPTS and len(accepted) == 1:
        raise SettingError(
            f"{where}: the loss {term.loss} takes scores that are {accepted[0]}, and the bias of the "
            "auxiliary head is added to them; set space.auxiliary.bias to false, or choose another loss"
        )


def check_order(term: Term, where: str) -> None:
    """A loss that goes by the order of the batch needs the batch as its candidates."""
    setting, value = losses.IN_ORDER.get(term.loss, ("", None))
    if term.arguments.get(setting) != value or value is None:
        return
    if term.against not in ("batch", "memory") or term.miner != "everything":
        raise SettingError(
            f'{where}: {term.loss} with {setting} "{value}" counts the items of a batch that come after the '
            f'anchor; set against to "batch" or "memory" and miner to "everything", not '
            f'"{term.against}" and "{term.miner}", or leave out {setting}'
        )


def check_tree(run: Run, space: MetricSpace) -> None:
    """Parts that use the tree of the classes need one, and such a loss needs the classes as candidates."""
    for name, term in run.terms.items():
        where = f"run.terms.{name}"
        if not _asks_for_tree(losses, term.loss):
            continue
        _expect_tree(space, term.loss, where)
        if term.against not in ("prototypes", "auxiliary"):
            raise SettingError(
                f"{where}: the loss {term.loss} compares items with the classes of a tree; set against to "
                f'"prototypes" or "auxiliary", not "{term.against}"'
            )
    for name, penalty in run.penalties.items():
        if _asks_for_tree(penalties, penalty.penalty):
            _expect_tree(space, penalty.penalty, f"run.penalties.{name}")


def _asks_for_tree(room: ModuleType, name: str) -> bool:
    """Whether a loss or penalty asks for the tree; an unknown one is refused elsewhere."""
    if name not in room.__all__:
        return False
    parameters = inspect.signature(getattr(room, name)).parameters
    return any(need in parameters for need in losses.FROM_TREE)


def _expect_tree(space: MetricSpace, name: str, where: str) -> None:
    if space.tree is None:
        raise SettingError(f"{where}: {name} goes by the tree of the classes, which these data lack; {GIVE}")


def check_scale(term: Term, owner: Owner, where: str) -> None:
    """A scale that follows angles needs scores that angles can be read off."""
    similarity = owner.similarity
    reads, name = similarity.scale.reads, type(similarity.scale).__name__
    if term.against not in ("prototypes", "auxiliary", "support") or reads is None:
        return
    if reads != _angles_in(similarity):
        raise SettingError(
            f"{where}: {name} cannot read the angles between items and classes from the scores of "
            f"{type(similarity).__name__} with these settings; choose {READABLE[reads]}, or another "
            f"scale{', or form' if name == 'DynamicScale' else ''}"
        )
    if _moved(owner):
        raise SettingError(
            f"{where}: the bias of the auxiliary head changes the scores from which {name} reads the angles "
            "between items and classes; set space.auxiliary.bias to false, or choose another scale"
        )


def check_chords(similarity: Similarity, where: str) -> None:
    """The scores must give the distance of two points on the unit sphere, which not every distance is."""
    chords = similarity.quantity == "negative distance" and similarity.chords
    if not chords and similarity.quantity != "cosine":
        raise SettingError(
            f"{where}: negatives are chosen by the distances of points on the unit sphere, which "
            f"{type(similarity).__name__} does not give as it is set; choose Cosine, or Euclidean with "
            "normalise=true"
        )


def check_mixed_scores(run: Run, space: MetricSpace) -> None:
    """Mixed scores need a mixed precision and a network over the pair."""
    if not run.mixed_scores:
        return
    if run.precision == "32-true":
        raise SettingError(
            'run.mixed_scores: scores take the precision of the run, which is "32-true"; set precision to '
            '"auto" or "bf16-mixed", or leave out mixed_scores'
        )
    heads: list[Owner] = [space] if space.auxiliary is None else [space, space.auxiliary]
    if not any(is_network(head.similarity) for head in heads):
        raise SettingError(
            "run.mixed_scores: it is for a network over the pair (PairsNetwork, CorrectedCosine), and "
            f"{type(space.similarity).__name__} is computed in float32; leave it out"
        )


def is_network(similarity: Similarity) -> bool:
    """Whether the scores come out of a network over the pair: only its scores are logits."""
    return similarity.quantity == "logit"


def _angles_in(similarity: Similarity) -> str | None:
    """The form in which the angles between two vectors can be read off the scores; None if they cannot."""
    if isinstance(similarity, LogAngle):
        return "log-angle"
    return similarity.quantity if similarity.quantity == "cosine" or similarity.chords else None


def _moved(owner: Owner) -> bool:
    """Whether a bias is added to the scores of each class."""
    return isinstance(owner, AuxiliaryHead) and owner.bias
