"""The tables of a run: the parts of the space, the terms, the batches, the optimiser, the schedule."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Annotated, Any, ClassVar, Literal

from samekind.errors import SettingError
from samekind.settings import Between, Natural, check

Values = dict[str, Any]
Positive = Annotated[int, Between(1)]
Amount = Annotated[float, Between(0)]


@dataclass(frozen=True)
class Part:
    """A member of a room by name; what it takes of the data (classes, channels, size) is filled in later."""

    name: str
    arguments: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Head:
    """The auxiliary head."""

    similarity: Part
    prototypes: Part = Part("LearnedProxies")
    projection: Part | None = None
    normalise: bool = False
    bias: bool = False


@dataclass(frozen=True)
class Parts:
    """The parts of a space.

    ``standardise`` subtracts the mean from the encoder's input and divides it by the standard deviation, for
    each feature (of vectors) or channel (of images) of the training items. The space keeps both.
    """

    encoder: Part
    similarity: Part
    prototypes: Part
    auxiliary: Head | None = None
    standardise: Literal["none", "features", "channels"] = "none"


@dataclass(frozen=True)
class Later:
    """Other arguments of a loss, after so many epochs."""

    after: Positive
    arguments: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(self, where="run.terms.later")


@dataclass(frozen=True)
class Term:
    """One part of the loss: a loss against candidates, mined and weighted. ``arguments`` are the loss's own,
    ``mining`` the miner's. The candidates of "memory" are the batch and the memory. Against "support" the
    batch is few-shot tasks: each query is compared with the classes of its task, which are made of their
    examples as the prototypes of the space say.

    ``order`` says whether a positive pair of the batch counts in both orders or in one; it has no meaning
    against prototypes. ``reduce`` says what the shares of the anchors, or of mined rows, become: their mean,
    the mean of those that are not 0 ("nonzero"), the mean over anchors of the mean of each one's rows
    ("anchors"), or the mean over the classes of the batch of the mean of each one's rows ("classes").
    Before that each share is multiplied by the weight of its anchor's class, 1 if ``class_weights`` does not
    name the class. ``later`` changes arguments in the course of the run, such as a margin that grows.

    ``by`` "inner product" takes the inner products of the embeddings as they are in place of the scores of
    the space's similarity, for a term against "batch" or "memory": N-pairs, which need scores of any size,
    beside an angular loss on the sphere.
    """

    loss: str
    against: Literal["batch", "prototypes", "auxiliary", "memory", "support"] = "batch"
    miner: str = "everything"
    order: Literal["both", "one"] = "both"
    weight: Amount = 1.0
    arguments: Values = field(default_factory=dict)
    mining: Values = field(default_factory=dict)
    reduce: Literal["mean", "nonzero", "anchors", "classes"] = "mean"
    class_weights: dict[str, Amount] = field(default_factory=dict)
    later: tuple[Later, ...] = ()
    by: Literal["similarity", "inner product"] = "similarity"

    def __post_init__(self) -> None:
        check(self, where="run.terms")
        if self.by != "similarity" and self.against not in ("batch", "memory"):
            raise SettingError(
                f'run.terms: "{self.by}" is for terms against "batch" or "memory", not "{self.against}"; '
                "leave by out"
            )
        if "kind" in self.mining:  # as version 0.1 called what the scores are
            mining = {"quantity" if name == "kind" else name: value for name, value in self.mining.items()}
            object.__setattr__(self, "mining", mining)

    def at(self, epoch: int) -> "Term":
        """The term after so many epochs, with the arguments it then has.

        >>> growing = Term("triplet", arguments={"margin": 1.0}, later=(Later(20, {"margin": 1.3}),))
        >>> growing.at(19).arguments, growing.at(20).arguments
        ({'margin': 1.0}, {'margin': 1.3})
        """
        arguments = dict(self.arguments)
        for change in sorted(self.later, key=lambda change: change.after):
            if change.after <= epoch:
                arguments |= change.arguments
        return replace(self, arguments=arguments, later=())


@dataclass(frozen=True)
class Penalty:
    """A cost of the embeddings by themselves; ``settings`` are the penalty's own."""

    penalty: str
    weight: Amount = 1.0
    settings: Values = field(default_factory=dict)

    def __post_init__(self) -> None:
        check(self, where="run.penalties")


@dataclass(frozen=True)
class Adversary:
    """A classifier of the training classes, with one hidden layer, on the features before the encoder's last
    layer. It keeps the features from serving these classes alone. Its targets are smoothed: 1 -
    ``smoothing`` for the true class, the rest in equal parts for the others.

    The ``method`` "soft" adds ``weight`` times its loss. "adaptive" reverses its gradient on the way to
    the encoder, times the coefficient -tanh(l - ``threshold``) x ``weight``, set after each epoch from
    its mean loss l: above the threshold the encoder helps the classifier, below it works against it. l is
    the cross-entropy without smoothing (``steered_by="plain_loss"``) or with it (``"loss"``).
    ``updated="step"`` takes the mean of the last steps instead: against a classifier that stands still
    for an epoch an encoder can win without end, and what it learned is lost.

    ``rate`` is its learning rate: by default that of "encoder.embedding" in ``optimiser.rates``, or else
    ``optimiser.rate``.
    """

    method: Literal["soft", "adaptive"] = "adaptive"
    weight: Amount = 0.5
    threshold: Amount = 1.5
    smoothing: Amount = 0.15
    hidden: Positive = 512
    dropout: Amount = 0.1
    rate: Amount | None = None
    steered_by: Literal["plain_loss", "loss"] = "plain_loss"
    updated: Literal["epoch", "step"] = "epoch"

    renamed: ClassVar[Mapping[str, str]] = {"kind": "method"}

    def __post_init__(self) -> None:
        check(self, where="run.adversary")
        for name, value in (("smoothing", self.smoothing), ("dropout", self.dropout)):
            if value >= 1:
                raise SettingError(f"run.adversary.{name}: expected a number below 1; got {value}")


@dataclass(frozen=True)
class Defence:
    """Items attacked in every step of the training, so that the space withstands such attacks.

    ``method`` says what the attacked items add to the loss of the clean ones; see `training.defences`:

    - "mix": half of the loss is that of the attacked items; "all": all of it;
    - "trades": ``weight`` times how far the answers to clean and attacked items differ;
    - "logit-pairing": as "mix", and ``weight`` times the mean squared difference of their logits;
    - "triplet": as "all", and ``weight`` times a triplet loss with attacked items as anchors;
    - "negative-margin": ArcFace of attacked items with a margin below 0, beside NormFace of clean ones.

    The attack is PGD in a ball of a ``norm`` and the size ``epsilon``: ``steps`` of the size ``step`` (None:
    2.5 times epsilon in all) from a random start. It raises the loss of the run (``through="loss"``), or the
    cross-entropy of one head; that of "trades" raises the difference of answers. With ``cells`` it stays in
    the Voronoi cell of the item among the training items.

    ``weight`` is None for the papers' own (trades 6, logit-pairing 0.5, triplet 2, negative-margin 1).
    ``margin`` is that of "triplet" (None: 0.03), or of "negative-margin" for all classes (None: half of the
    angle to the nearest other class, for each class its own).
    """

    method: Literal["mix", "all", "trades", "logit-pairing", "triplet", "negative-margin"] = "mix"
    norm: Literal["linf", "l2", "l1"] = "linf"
    epsilon: Amount = 8 / 255
    steps: Positive = 7
    step: Amount | None = None
    through: Literal["loss", "similarity", "auxiliary"] = "loss"
    weight: Amount | None = None
    margin: float | None = None
    cells: bool = False

    def __post_init__(self) -> None:
        check(self, where="run.defence")
        if self.margin is not None and not self.takes_margin:
            raise SettingError(
                'run.defence.margin: "triplet" takes 0 or more, "negative-margin" -π/2 to 0, others none; '
                f'got {self.margin:g} for "{self.method}"'
            )

    @property
    def takes_margin(self) -> bool:
        """Whether the margin suits the method."""
        margin = self.margin or 0.0
        return {"triplet": margin >= 0, "negative-margin": -math.pi / 2 <= margin <= 0}.get(
            self.method, False
        )


@dataclass(frozen=True)
class Batches:
    """Which items meet in a batch; ``arguments`` are the sampler's own.

    ``at_once`` bounds the memory: at most so many items of a batch pass through the encoder at a time, twice
    each. The loss is still that of the whole batch; see `in_parts` for what differs with batch normalisation.
    0 takes the batch whole.
    """

    sampler: str = "Shuffled"
    arguments: Values = field(default_factory=dict)
    at_once: Natural = 0

    def __post_init__(self) -> None:
        check(self, where="run.batches")


@dataclass(frozen=True)
class Optimiser:
    """SGD, Adam or AdamW; ``rates`` gives a part of the space (encoder, similarity, prototypes, auxiliary),
    or a stage of its encoder ("encoder.stem"), its own rate. ``pretrained`` is the share of the rate at which
    weights learn that the encoder came with, where ``rates`` does not name them: with 0.1 a tenth of that of
    new layers. Only SGD has a momentum, and only the others an ``epsilon``: what Adam adds to the root of the
    mean squared gradient it divides by. A large one, 0.01 or 1, makes its steps smaller where gradients are
    small. Frozen weights are left out.
    """

    name: Literal["SGD", "Adam", "AdamW"] = "SGD"
    rate: Amount = 0.01
    weight_decay: Amount = 0.0
    momentum: Amount = 0.9
    nesterov: bool = False
    rates: dict[str, Amount] = field(default_factory=dict)
    pretrained: Amount = 1.0
    epsilon: Amount = 1e-8

    def __post_init__(self) -> None:
        check(self, where="run.optimiser")
        if self.nesterov and not self.momentum:
            raise SettingError("run.optimiser.nesterov: Nesterov's steps need a momentum above 0; got 0")


@dataclass(frozen=True)
class Schedule:
    """How the learning rate moves.

    ``multi-step`` multiplies it by ``factor`` at each epoch of ``milestones``, ``exponential`` at every
    epoch. ``plateau`` multiplies it by
    ``factor`` when the watched measure has not improved for more than ``patience`` epochs in a row (0: at the
    first that does not). ``inverse-square-root`` rises for ``warmup`` steps to rate/√warmup and then falls as
    1/√step. ``cosine`` rises linearly to the rate over the first ``warmup_epochs`` (0: not at all, 0.5: half
    an epoch) and falls as half a cosine to 0 at the end of the run, step by step.

    In the first ``new_first`` epochs (0.5: half of one) only new layers move, and what was pretrained (see
    `Optimiser`) stays; for ``constant`` and ``cosine``.
    """

    name: Literal["constant", "multi-step", "exponential", "plateau", "inverse-square-root", "cosine"] = (
        "constant"
    )
    factor: Amount = 0.1
    milestones: tuple[int, ...] = ()
    patience: Natural = 10
    warmup: Positive = 2000
    warmup_epochs: Amount = 0.0
    new_first: Amount = 0.0

    def __post_init__(self) -> None:
        check(self, where="run.schedule")
        if self.name == "plateau" and self.factor >= 1:
            raise SettingError(f"run.schedule.factor: expected a number below 1; got {self.factor}")
        if self.warmup_epochs and self.name != "cosine":
            raise SettingError(
                'run.schedule.warmup_epochs: only the schedule "cosine" has a warm-up in epochs, '
                f'"{self.name}" has none; leave it at 0'
            )
        if self.new_first and self.name not in ("constant", "cosine"):
            raise SettingError(
                'run.schedule.new_first: it is for the schedules "constant" and "cosine", not for '
                f'"{self.name}"; leave it at 0'
            )
