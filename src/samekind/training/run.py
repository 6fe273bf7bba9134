"""What a training run is, as plain typed values: the space, the terms of its loss, and how it is trained.

Recipes build runs; a TOML file or ``name=value`` changes them; `Run.to_dict` is what is kept beside the
results.
"""

import math
import tomllib
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from samekind import settings
from samekind.errors import SettingError, expect, nearest
from samekind.measures.catalogue import of_epoch

Values = dict[str, Any]
Direction = Literal["lower", "higher"]

#: What can be measured after each epoch.
VALIDATIONS = ("verification", "retrieval", "clustering")

#: By what a table names a part, and what stays of it when it names another: what is not the part's own.
BESIDE = {
    "name": (),
    "sampler": (),
    "penalty": ("weight",),
    "loss": ("against", "miner", "mining", "order", "weight"),
}


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
    """What a space is made of.

    ``standardise`` has the encoder shown its input less the mean and divided by the deviation of each feature
    (of vectors) or channel (of images), those of the training items; it is kept in the space.
    """

    encoder: Part
    similarity: Part
    prototypes: Part
    auxiliary: Head | None = None
    standardise: Literal["none", "features", "channels"] = "none"


@dataclass(frozen=True)
class Term:
    """One part of the loss: a loss against candidates, mined and weighted. ``arguments`` are the loss's own,
    ``mining`` the miner's. The memory's candidates come on top of the batch itself.

    ``order`` says whether a positive pair of the batch counts in both orders or in one; against prototypes
    it has no meaning.
    """

    loss: str
    against: Literal["batch", "prototypes", "auxiliary", "memory"] = "batch"
    miner: str = "everything"
    order: Literal["both", "one"] = "both"
    weight: float = 1.0
    arguments: Values = field(default_factory=dict)
    mining: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Penalty:
    """A cost of the embeddings by themselves; ``settings`` are the penalty's own."""

    penalty: str
    weight: float = 1.0
    settings: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Adversary:
    """A classifier of the training classes beside the loss, on what the encoder's last layer sees, with one
    hidden layer; it keeps the features from being of use for these classes alone. Its targets are
    smoothed: 1 - ``smoothing`` for the true class, the rest in equal parts for the others.

    ``"soft"`` adds ``weight`` times its loss. ``"adaptive"`` reverses its gradient on the way to the encoder,
    times the coefficient -tanh(l - ``threshold``) x ``weight``, set anew after each epoch from its mean loss
    l: above the threshold the encoder helps the classifier, below it works against it. l is the
    cross-entropy without smoothing (``steered_by="plain_loss"``) or with it (``"loss"``). ``updated="step"``
    takes the mean of the last steps instead: against a classifier that stays where it is for an epoch an
    encoder can win without end, and what it learned is lost.

    ``rate`` is its learning rate: by default that of "encoder.embedding" in ``optimiser.rates``, or else
    ``optimiser.rate``.
    """

    kind: Literal["soft", "adaptive"] = "adaptive"
    weight: float = 0.5
    threshold: float = 1.5
    smoothing: float = 0.15
    hidden: int = 512
    dropout: float = 0.1
    rate: float | None = None
    steered_by: Literal["plain_loss", "loss"] = "plain_loss"
    updated: Literal["epoch", "step"] = "epoch"

    def __post_init__(self) -> None:
        for name, value in (("smoothing", self.smoothing), ("dropout", self.dropout)):
            if not 0 <= value < 1:
                raise SettingError(f"run.adversary.{name}: expected a number from 0 up, below 1, got {value}")


@dataclass(frozen=True)
class Batches:
    """Which items meet in a batch; ``arguments`` are the sampler's own."""

    sampler: str = "Shuffled"
    arguments: Values = field(default_factory=dict)


@dataclass(frozen=True)
class Optimiser:
    """SGD, Adam or AdamW; ``rates`` gives a part of the space (encoder, similarity, prototypes, auxiliary),
    or a stage of its encoder ("encoder.stem"), its own rate. Momentum is SGD's alone. What does not learn
    is left out.
    """

    name: Literal["SGD", "Adam", "AdamW"] = "SGD"
    rate: float = 0.01
    weight_decay: float = 0.0
    momentum: float = 0.9
    nesterov: bool = False
    rates: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Schedule:
    """How the learning rate moves.

    ``multi-step`` times ``factor`` at each epoch of ``milestones``; ``plateau`` times ``factor`` when the
    watched measure has not improved for more than ``patience`` epochs in a row (0: at the first that does
    not); ``inverse-square-root`` rises for ``warmup`` steps to rate/√warmup and then falls as 1/√step;
    ``cosine`` rises in a line to the rate over the first ``warmup_epochs`` (0: not at all, 0.5: half an
    epoch) and falls as half a cosine to 0 at the end of the run, step by step.
    """

    name: Literal["constant", "multi-step", "plateau", "inverse-square-root", "cosine"] = "constant"
    factor: float = 0.1
    milestones: tuple[int, ...] = ()
    patience: int = 10
    warmup: int = 2000
    warmup_epochs: float = 0.0


@dataclass(frozen=True)
class Run:
    """A whole training run. ``watch`` names the measure that chooses the best epoch, on validation items;
    ``select_on="test"`` lets the test items choose, and what is measured on them then says so. ``better``
    says whether less or more of a measure of your own is good; of what `VALIDATIONS` tell that is known, and
    ``better`` stays None. `direction` is told of either.

    ``checkpoint_steps`` adds a checkpoint every so many steps to those at the end of epochs; ``memory`` says
    how many past embeddings the terms against the memory see; ``augment`` lists what is done to the items of
    every training batch, first to last; ``adversary`` is a classifier that trains against, or beside, the
    encoder. ``clip`` is the greatest norm that the gradient of the space may have, all its weights taken
    together, and apart from it that of the adversary; None leaves them as they are. ``validate``
    says what is measured after each epoch, of `VALIDATIONS`.

    Five settings are for speed. Three change the numbers only as another order of adding them up does:
    ``channels_last`` keeps images and the encoder's filters with the channels innermost, ``compile`` has
    PyTorch compile the encoder for training, ``try_convolutions`` has a GPU try which convolution is the
    quickest for every shape it meets. ``tf32`` changes them more: it lets a GPU shorten the float32 numbers
    that it multiplies matrices of to ten binary digits after the point, which is three decimal ones.
    ``mixed_scores`` as well: where the precision is mixed, a pairs network scores in its 16 bits, by kernels
    where a GPU has them, and no longer in float32; the losses stay in float32.
    """

    recipe: str
    space: Parts
    terms: dict[str, Term]
    penalties: dict[str, Penalty] = field(default_factory=dict)
    batches: Batches = Batches()
    optimiser: Optimiser = Optimiser()
    schedule: Schedule = Schedule()
    epochs: int = 30
    seed: int = 0
    clip: float | None = None
    precision: Literal["auto", "32-true", "bf16-mixed", "16-mixed"] = "auto"
    watch: str = "eer"
    better: Direction | None = None
    select_on: Literal["validation", "test"] = "validation"
    checkpoint_steps: int = 0
    memory: int = 0
    augment: tuple[Part, ...] = ()
    channels_last: bool = False
    compile: bool = False
    tf32: bool = False
    try_convolutions: bool = False
    mixed_scores: bool = False
    adversary: Adversary | None = None
    validate: tuple[str, ...] = ("verification",)

    def __post_init__(self) -> None:
        for name, least, value in _limits(self):
            if not least <= value < math.inf:  # written so that what is not a number is refused too
                raise SettingError(f"run.{name}: expected a number from {least} up, got {value}")
        if self.clip is not None and not self.clip > 0:
            raise SettingError(f"run.clip: expected a number above 0, got {self.clip}")
        if self.schedule.name == "plateau" and not self.schedule.factor < 1:
            raise SettingError(f"run.schedule.factor: expected a number below 1, got {self.schedule.factor}")
        if self.schedule.warmup_epochs and self.schedule.name != "cosine":
            raise SettingError(
                'run.schedule.warmup_epochs: only the schedule "cosine" has a warm-up in epochs, '
                f'"{self.schedule.name}" has none; leave it at 0'
            )
        if self.schedule.warmup_epochs >= self.epochs:
            raise SettingError(
                f"run.schedule.warmup_epochs: expected a number below the {self.epochs} epochs of the run, "
                f"got {self.schedule.warmup_epochs:g}"
            )
        if self.optimiser.nesterov and not self.optimiser.momentum:
            raise SettingError("run.optimiser.nesterov: Nesterov's steps need a momentum above 0, got 0")
        if not self.terms:
            raise SettingError("run.terms: expected at least one term, got none")
        twice = self.terms.keys() & self.penalties.keys()
        if twice:
            raise SettingError(f"run.penalties: there is a term of that name too: {', '.join(sorted(twice))}")
        _check_validations(self.validate)
        known = known_direction(self.watch)
        if known is not None and self.better not in (None, known):
            raise SettingError(
                f'run.better: of "{self.watch}" {known} is better, got "{self.better}"; leave better out'
            )
        if known is not None:
            # What need not be said is not kept: `dataclasses.replace` would say it of the next measure.
            object.__setattr__(self, "better", None)

    @property
    def direction(self) -> Direction | None:
        """Whether less or more of the watched measure is better: as it is known, or as was said of one that
        is not; None where nothing was said.
        """
        return known_direction(self.watch) or self.better

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """A run from plain values; anything unknown, missing or of the wrong type is refused."""
        return settings.read(cls, values)

    def to_dict(self) -> Values:
        """The run as JSON and TOML have it; ``better`` is told there even if it need not be said."""
        return {**settings.write(self), "better": self.direction}

    def override(self, assignments: Iterable[str]) -> "Run":
        """The run with settings replaced, each given as ``name=value`` with dots in the name and TOML's
        values.
        """
        changes: list[tuple[str, Any]] = []
        for assignment in assignments:
            name, equals, text = assignment.partition("=")
            if not equals:
                raise SettingError(f'expected name=value, got "{assignment}"')
            changes.append((name.strip(), plain_value(text.strip())))
        values = self._open_to([name for name, _ in changes])
        for name, value in changes:
            values = settings.override(values, name, value)
        return Run.from_dict(values)

    def update(self, changes: Mapping[str, Any]) -> "Run":
        """The run with the settings of a (TOML) table laid over it, table by table. Where one names another
        part, loss, … than before, the settings of that one do not stay behind.
        """
        return Run.from_dict(_laid_over(self._open_to(changes), changes))

    def _open_to(self, names: Collection[str]) -> Values:
        """The settings as they are before those ``names`` are changed: another measure to watch, by itself,
        is not bound to what is better of the one before.
        """
        values = self.to_dict()
        return {**values, "better": None} if "watch" in names and "better" not in names else values


def known_direction(watch: str) -> Direction | None:
    """Which is better of a measure that `VALIDATIONS` tell; None of any other.

    >>> known_direction("eer cosine"), known_direction("recall@4"), known_direction("recall loss")
    ('lower', 'higher', None)
    """
    measure = of_epoch(watch)
    return measure.better if measure is not None else None


def expect_run(run: object) -> None:
    """Refuse what is no run."""
    expect(run, Run, "a run, such as samekind.recipes.prototypical(items.shape)")


def expect_direction(run: Run) -> Direction:
    """Which is better of the watched measure; refused where nobody has said it."""
    if run.direction is None:
        raise SettingError(
            f'run.better: expected "lower" or "higher": which is better of "{run.watch}", a measure of your '
            "own, is not known (of eer, recall@1, knn accuracy and nmi it is)"
        )
    return run.direction


def _check_validations(families: tuple[str, ...]) -> None:
    """Refuse what cannot be measured, and a list that names nothing, or one thing twice."""
    for name in families:
        if name not in VALIDATIONS:
            raise SettingError(f'run.validate: there is no "{name}"; {nearest(name, VALIDATIONS)}')
    if not families or len(set(families)) < len(families):
        raise SettingError(
            f"run.validate: expected one or more of {', '.join(VALIDATIONS)}, each once, got {list(families)}"
        )


def _limits(run: Run) -> Iterator[tuple[str, float, float]]:
    """The settings that have a least value: where, what it is, and what was set."""
    yield "epochs", 1, run.epochs
    yield "checkpoint_steps", 0, run.checkpoint_steps
    yield "memory", 0, run.memory
    yield "optimiser.rate", 0, run.optimiser.rate
    yield "optimiser.weight_decay", 0, run.optimiser.weight_decay
    yield "optimiser.momentum", 0, run.optimiser.momentum
    yield "schedule.factor", 0, run.schedule.factor
    yield "schedule.patience", 0, run.schedule.patience
    yield "schedule.warmup", 1, run.schedule.warmup
    yield "schedule.warmup_epochs", 0, run.schedule.warmup_epochs
    for part, rate in run.optimiser.rates.items():
        yield f"optimiser.rates.{part}", 0, rate
    for name, term in run.terms.items():
        yield f"terms.{name}.weight", 0, term.weight
    for name, penalty in run.penalties.items():
        yield f"penalties.{name}.weight", 0, penalty.weight
    if (adversary := run.adversary) is not None:
        yield "adversary.weight", 0, adversary.weight
        yield "adversary.threshold", 0, adversary.threshold
        yield "adversary.hidden", 1, adversary.hidden
        yield "adversary.rate", 0, adversary.rate or 0


def plain_value(text: str) -> Any:
    """A value as TOML reads it; a bare word is a text."""
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except tomllib.TOMLDecodeError:
        return text


def _laid_over(below: Mapping[str, Any], above: Mapping[str, Any]) -> Values:
    merged = dict(below)
    for key, value in above.items():
        inner = merged.get(key)
        if isinstance(inner, Mapping) and isinstance(value, Mapping):
            # What the table of the optimiser says is no optimiser's own: they share it.
            value = _laid_over(inner if key == "optimiser" else _staying(inner, value), value)
        merged[key] = value
    return merged


def _staying(below: Mapping[str, Any], above: Mapping[str, Any]) -> Values:
    """What stays of a table that another is laid over. Another part has other arguments: those of the one it
    replaces must not stay behind.
    """
    staying = dict(below)
    for name, beside in BESIDE.items():
        if name in above and above[name] != below.get(name):
            staying = {key: each for key, each in staying.items() if key in beside}
    if "miner" in above and above["miner"] != below.get("miner"):
        staying.pop("mining", None)
    return staying
