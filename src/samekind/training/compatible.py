"""Whether the scores of a term are what its loss, its miner and its scale take them for; refused if not."""

from samekind import losses
from samekind.errors import SettingError
from samekind.similarities import Similarity
from samekind.space import AuxiliaryHead, MetricSpace
from samekind.training.run import Run
from samekind.training.tables import Term

#: What a scale that reads angles is for, by what it reads.
READABLE = {"cosine": "Cosine", "log-distance": "LogDistance with normalise=true"}

Owner = MetricSpace | AuxiliaryHead


def check_loss(term: Term, owner: Owner, where: str) -> None:
    """Refuse a loss whose scores would not be of a kind it takes, or are moved away from it."""
    similarity = owner.similarity
    accepted = losses.ACCEPTS.get(term.loss, (similarity.kind,))
    if similarity.kind not in accepted:
        raise SettingError(
            f"{where}: the loss {term.loss} takes scores of kind {' or '.join(accepted)}, but "
            f"{type(similarity).__name__} gives {similarity.kind}; choose another loss or similarity"
        )
    # One that takes a single kind reads angles or distances off the scores.
    if _moved(owner) and term.loss in losses.ACCEPTS and len(accepted) == 1:
        raise SettingError(
            f"{where}: the loss {term.loss} takes scores of kind {accepted[0]}, and the bias of the "
            "auxiliary head is added to them; set space.auxiliary.bias to false, or choose another loss"
        )


def check_order(term: Term, where: str) -> None:
    """Refuse a loss that asks which candidate comes later where the candidates are not the batch itself."""
    setting, value = losses.IN_ORDER.get(term.loss, ("", None))
    if term.arguments.get(setting) != value or value is None:
        return
    if term.against not in ("batch", "memory") or term.miner != "everything":
        raise SettingError(
            f'{where}: {term.loss} with {setting} "{value}" counts the items of a batch that come after the '
            f'anchor; set against to "batch" or "memory" and miner to "everything", not '
            f'"{term.against}" and "{term.miner}", or leave out {setting}'
        )


def check_scale(term: Term, owner: Owner, where: str) -> None:
    """Refuse a scale that follows the angles of scores which are none."""
    similarity = owner.similarity
    reads, name = similarity.scale.reads, type(similarity.scale).__name__
    if term.against not in ("prototypes", "auxiliary") or reads is None:
        return
    if similarity.kind != reads or not (reads == "cosine" or similarity.chords):
        raise SettingError(
            f"{where}: {name} follows the angles between items and classes, and reads them off the scores of "
            f"{READABLE[reads]}, not of {type(similarity).__name__} as it is set; choose that, or "
            f"another scale{', or form' if name == 'DynamicScale' else ''}"
        )
    if _moved(owner):
        raise SettingError(
            f"{where}: {name} follows the angles between items and classes, and the bias of the auxiliary "
            "head is added to what it reads them off; set space.auxiliary.bias to false, or choose another "
            "scale"
        )


def check_chords(similarity: Similarity, where: str) -> None:
    """Refuse scores that do not say how far apart two points of the unit sphere are. Their kind does not tell
    a chord from other distances.
    """
    chords = similarity.kind == "negative distance" and similarity.chords
    if not chords and similarity.kind != "cosine":
        raise SettingError(
            f"{where}: negatives are drawn by the distances of points on the unit sphere, which "
            f"{type(similarity).__name__} does not give as it is set; choose Cosine, or Euclidean with "
            "normalise=true"
        )


def check_mixed_scores(run: Run, space: MetricSpace) -> None:
    """Refuse mixed scores where nothing would be mixed."""
    if not run.mixed_scores:
        return
    if run.precision == "32-true":
        raise SettingError(
            'run.mixed_scores: scores take the precision of the run, which is "32-true"; set precision to '
            '"auto" or "bf16-mixed", or leave out mixed_scores'
        )
    heads: list[Owner] = [space] if space.auxiliary is None else [space, space.auxiliary]
    if not any(is_network(each.similarity) for each in heads):
        raise SettingError(
            "run.mixed_scores: it is for a network over the pair (PairsNetwork, CorrectedCosine), and "
            f"{type(space.similarity).__name__} is computed in float32; leave it out"
        )


def is_network(similarity: Similarity) -> bool:
    """Whether the scores come out of a network over the pair: of no other similarity are they logits."""
    return similarity.kind == "logit"


def _moved(owner: Owner) -> bool:
    """Whether a number of its own is added to the scores of each class."""
    return isinstance(owner, AuxiliaryHead) and owner.bias
