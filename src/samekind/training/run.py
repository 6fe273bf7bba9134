"""A training run as plain typed values: the space, the terms of its loss, and how it is trained.

Recipes build runs; a TOML file or ``name=value`` changes them; `Run.to_dict` is what is kept beside the
results.
"""

import math
import tomllib
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from samekind import settings
from samekind.errors import SettingError, expect, nearest
from samekind.measures.catalogue import of_epoch
from samekind.settings import Natural
from samekind.training.tables import (
    Adversary,
    Batches,
    Defence,
    Optimiser,
    Part,
    Parts,
    Penalty,
    Positive,
    Schedule,
    Term,
    Values,
)

Direction = Literal["lower", "higher"]

#: What can be measured after each epoch.
VALIDATIONS = ("verification", "retrieval", "clustering", "clusters")

#: The keys by which a table names a member, and the keys that stay when it names another one.
SHARED_KEYS = {
    "name": (),
    "sampler": ("at_once",),
    "penalty": ("weight",),
    "loss": ("against", "class_weights", "miner", "mining", "order", "reduce", "weight"),
}


@dataclass(frozen=True)
class Run:
    """A whole training run. ``watch`` names the measure that chooses the best epoch, on validation items;
    with ``select_on="test"`` on test items, and every measure of them then says so. ``better`` says whether
    lower or higher is better of a measure of your own; of the measures of `VALIDATIONS` it is known, and
    ``better`` stays None. `direction` holds it for both. ``keep="last"`` keeps the last epoch, whatever was
    measured: what is right for a rate that falls to 0.

    ``checkpoint_steps`` adds a checkpoint every so many steps to those at the end of epochs. ``memory`` is
    the number of past embeddings for the terms against the memory. ``augment`` lists the augmentations of a
    training batch, first to last. ``adversary`` is a classifier that trains against, or beside, the encoder,
    ``defence`` attacks the items of every step (`training.defences`).
    ``clip`` is the greatest norm of the gradient of the whole space, and apart from it of the adversary; None
    does not clip. ``validate`` names what is measured after each epoch, of `VALIDATIONS`. ``compress`` is how
    many numbers embeddings are projected to after training (`samekind.inference.compress`); 0 leaves them.
    ``dynamics`` records what every so many-th step does to the embeddings (`extras.dynamics`); 0 does not.

    Seven settings are for speed. Four change the numbers by rounding only: ``channels_last`` stores images
    and the encoder's filters with the channels last, ``compile`` compiles the encoder for training,
    ``try_convolutions`` has a GPU try which convolution is the quickest for every shape, ``capture`` has it
    record a step and replay it (see `training.captured`). ``ahead`` augments the batches of so many steps
    together, by other draws than one by one. Two change the numbers more: ``tf32`` multiplies float32
    matrices with ten binary digits after the point, three decimal ones; ``mixed_scores`` has a pairs network
    score in the 16 bits of a mixed precision, by kernels where a GPU has them. The losses stay in float32.
    """

    recipe: str
    space: Parts
    terms: dict[str, Term]
    penalties: dict[str, Penalty] = field(default_factory=dict)
    batches: Batches = field(default_factory=Batches)
    optimiser: Optimiser = field(default_factory=Optimiser)
    schedule: Schedule = field(default_factory=Schedule)
    epochs: Positive = 30
    seed: int = 0
    clip: float | None = None
    precision: Literal["auto", "32-true", "bf16-mixed", "16-mixed"] = "auto"
    watch: str = "eer"
    better: Direction | None = None
    select_on: Literal["validation", "test"] = "validation"
    checkpoint_steps: Natural = 0
    memory: Natural = 0
    augment: tuple[Part, ...] = ()
    channels_last: bool = False
    compile: bool = False
    tf32: bool = False
    try_convolutions: bool = False
    mixed_scores: bool = False
    adversary: Adversary | None = None
    validate: tuple[str, ...] = ("verification",)
    compress: Natural = 0
    keep: Literal["best", "last"] = "best"
    dynamics: Natural = 0
    capture: bool = False
    ahead: Positive = 1
    defence: Defence | None = None

    def __post_init__(self) -> None:
        settings.check(self, where="run")
        if self.clip is not None and not 0 < self.clip < math.inf:
            raise SettingError(f"run.clip: expected a number above 0; got {self.clip}")
        if self.schedule.warmup_epochs >= self.epochs:
            raise SettingError(
                f"run.schedule.warmup_epochs: expected a number below the {self.epochs} epochs of the run, "
                f"got {self.schedule.warmup_epochs:g}"
            )
        if self.schedule.new_first and self.optimiser.pretrained == 1:
            raise SettingError(
                "run.schedule.new_first: new layers go first where they have another rate than pretrained "
                "ones; set optimiser.pretrained, such as 0.1, or leave new_first at 0"
            )
        if not self.terms:
            raise SettingError("run.terms: expected at least one term; got none")
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
            # Not kept: `dataclasses.replace` would apply it to the next measure.
            object.__setattr__(self, "better", None)

    @property
    def direction(self) -> Direction | None:
        """Which is better of the watched measure, known or set by ``better``; None for neither."""
        return known_direction(self.watch) or self.better

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """A run from plain values. Raises SettingError for anything unknown, missing or of another type."""
        return settings.read(cls, values)

    def to_dict(self) -> Values:
        """The run as JSON and TOML have it, always with ``better``."""
        return {**settings.write(self), "better": self.direction}

    def override(self, assignments: Iterable[str]) -> "Run":
        """The run with settings replaced by ``name=value``, with dots in the name and TOML's values."""
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
        """The run with the settings of a (TOML) table laid over it. A table that names another
        part, loss, … than before replaces the old one's settings.
        """
        return Run.from_dict(_laid_over(self._open_to(changes), changes))

    def _open_to(self, names: Collection[str]) -> Values:
        """The settings before those ``names`` change: with another ``watch``, the old ``better`` goes."""
        values = self.to_dict()
        return {**values, "better": None} if "watch" in names and "better" not in names else values


def known_direction(watch: str) -> Direction | None:
    """The better direction of a known measure; None for others.

    >>> known_direction("eer cosine"), known_direction("recall@4"), known_direction("recall loss")
    ('lower', 'higher', None)
    """
    measure = of_epoch(watch)
    return measure.better if measure is not None else None


def expect_run(run: object) -> None:
    """Raises SettingError if it is not a run."""
    expect(run, Run, "a run, such as samekind.recipes.prototypical(items.shape)")


def expect_direction(run: Run) -> Direction:
    """The better direction of the watched measure. Raises SettingError if it is neither known nor set."""
    if run.direction is None:
        raise SettingError(
            f'run.better: set "lower" or "higher"; samekind does not know which is better for "{run.watch}"'
        )
    return run.direction


def _check_validations(families: tuple[str, ...]) -> None:
    """Raises SettingError for an unknown name, an empty list, or a name twice."""
    for name in families:
        if name not in VALIDATIONS:
            raise SettingError(f'run.validate: there is no "{name}"; {nearest(name, VALIDATIONS)}')
    if not families or len(set(families)) < len(families):
        raise SettingError(
            f"run.validate: expected one or more of {', '.join(VALIDATIONS)}, each once; got {list(families)}"
        )


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
            # All optimisers share the settings of their table.
            value = _laid_over(inner if key == "optimiser" else _staying(inner, value), value)
        merged[key] = value
    return merged


def _staying(below: Mapping[str, Any], above: Mapping[str, Any]) -> Values:
    """The entries of a table that stay when another replaces some: not the arguments of a replaced member."""
    staying = dict(below)
    for name, shared in SHARED_KEYS.items():
        if name in above and above[name] != below.get(name):
            staying = {key: value for key, value in staying.items() if key in shared}
    if "miner" in above and above["miner"] != below.get("miner"):
        staying.pop("mining", None)
    return staying
