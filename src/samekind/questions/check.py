"""What is in the data, what is wrong with it, and what would a training run do with it?"""

from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Any

import torch

from samekind.data import Examination, Items, Sets, Split, examine, medium_of, open_data, prepare
from samekind.errors import SamekindError
from samekind.evaluation import validation
from samekind.recipes.plans import Plan, because_few, chosen_in_words
from samekind.training import Run, build
from samekind.training.extras import build_extras, parameter_groups_of
from samekind.training.terms import build_penalties, build_terms
from samekind.training.untrained import expect_trained

#: A run of fewer steps may learn little; so many are enough for few items.
FEWEST_STEPS, ENOUGH_STEPS = 50, 200
SHORT = "a run of {steps:,} steps is short, and may learn little; {epochs:,} epochs make it long enough"
#: Items that the space of a run is built with, to see whether it takes them.
SAMPLE = 16


@dataclass(frozen=True)
class PlannedTraining:
    """What a run would do: its parts with their items and classes, and ``chosen``, what it takes instead of
    the recipe's own because the items are few.
    """

    recipe: str
    encoder: str
    shape: tuple[int, ...]
    split: str
    items: dict[str, int]
    classes: dict[str, int]
    epochs: int
    steps: int
    chosen: dict[str, list[str]]

    @property
    def extent(self) -> str:
        """How large an item is, in words."""
        return medium_of(self.shape).extent(self.shape)

    @property
    def because_few(self) -> str:
        """The choices for few items, as the end of a sentence; empty without choices."""
        return because_few(self.chosen)


@dataclass(frozen=True)
class Checked:
    """The content of data; ``errors`` are what training would refuse, ``training`` is None if there are any.
    ``enough_epochs`` is how many epochs a run takes whose own are too few; None if they are enough.
    """

    examination: Examination
    errors: tuple[str, ...]
    warnings: tuple[str, ...]
    training: PlannedTraining | None
    enough_epochs: int | None = None

    def to_json(self) -> dict[str, Any]:
        """The answer as plain values; the sizes last, because there may be as many as pictures."""
        data = self.examination
        return {
            "name": data.name,
            "items": data.items,
            "classes": data.classes,
            "memory": data.memory,
            "domains": data.domains,
            "groups": data.groups,
            "parts": data.parts,
            "unreadable": [{"file": file, "reason": reason} for file, reason in data.unreadable],
            "duplicates": data.duplicates,
            "warnings": self.warnings,
            "errors": self.errors,
            "enough epochs": self.enough_epochs,
            "training": None if self.training is None else asdict(self.training),
            "sizes": {f"{width}x{height}": count for (height, width), count in data.sizes.items()},
        }


def check(plan: Plan) -> Checked:
    """Look at every item of a plan's data, and build what its training would build before the first step."""
    data = examine(plan.source, settings=plan.data, split=partial(_split, plan))
    errors, warnings = list(data.errors), list(data.warnings)
    training, enough = None, None
    if not errors:
        try:
            training, sets = _training(plan)
        except SamekindError as error:
            errors.append(str(error))
        else:
            if training.steps < FEWEST_STEPS:
                enough = -(-ENOUGH_STEPS * training.epochs // training.steps)
            warnings += [*filter(None, [sets.torn()])]
            warnings += [SHORT.format(steps=training.steps, epochs=enough)] if enough is not None else []
    return Checked(data, tuple(errors), tuple(warnings), training, enough)


def _split(plan: Plan, items: Items) -> Split | None:
    """The split of a run, to find copies in two parts; None if it cannot be made, which `_training` says."""
    try:
        return prepare(items, plan.splitting(items, seed=plan.run(items).seed)).split
    except SamekindError:
        return None


def _training(plan: Plan) -> tuple[PlannedTraining, Sets]:
    """What a run would do with the data; whatever training would refuse is an error here too."""
    # Left on the disk: a check must not take the memory of a training.
    items = open_data(plan.source, settings=replace(plan.data, memory="never"))
    split = plan.splitting(items, seed=plan.run(items).seed)
    sets = prepare(items, split)
    own = plan.run(sets.train)
    run = plan.suited(own, items, items=len(sets.train))
    for part in (sets.validation, *([sets.test] if run.select_on == "test" else [])):
        validation(part, run.validate, watch=run.watch)
    _build(run, sets.train)
    sampler = build.build_sampler(
        run, sets.train.labels, domains=sets.train.domains, names=sets.train.classes
    )
    parts = {"train": sets.train, "validation": sets.validation, **sets.tests()}
    planned = PlannedTraining(
        recipe=run.recipe,
        encoder=run.space.encoder.arguments.get("encoder", {}).get("name", run.space.encoder.name),
        shape=tuple(items.shape),
        split=split.by,
        items={name: len(part) for name, part in parts.items()},
        classes={name: len(set(part.labels.tolist())) for name, part in parts.items()},
        epochs=run.epochs,
        steps=run.epochs * len(sampler.batches(0)),
        chosen=chosen_in_words(own, run),
    )
    return planned, sets


def _build(run: Run, items: Items) -> None:
    """Build what a training builds before its first step, for a few items: more would have to be read."""
    few = items.take(torch.arange(min(len(items), SAMPLE)))
    with torch.random.fork_rng([]):
        space = build.build_space(run, few)
        # The run does not say whether the encoder starts with weights: `train --from` may give them.
        expect_trained(run, space, begun=["encoder"])
        build_terms(run, space)
        build_penalties(run)
        build.build_memory(run, space)
        build.build_augmentations(run, few)
        groups = parameter_groups_of(build_extras(run, space, few))
        build.build_optimiser(run.optimiser, space, beside=groups)
