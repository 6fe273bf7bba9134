"""What the commands share about experiments: data looked at before it is used, and spaces to start from."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from samekind.errors import DataError

if TYPE_CHECKING:
    from samekind.cli.plans import Plan
    from samekind.data import Items
    from samekind.space import MetricSpace
    from samekind.training import Part

#: Below this many bytes nobody needs to be told what the items take.
WORTH_SAYING = 64 * 2**20

KNOWS = (
    "careful: {data} holds the items this space was trained on, and those it knows better than any others: "
    "of new ones expect less; samekind evaluate asks about the test items of the run"
)


def open_items(plan: "Plan") -> "Items":
    """The items of a plan. What they take in memory, what was left out and what looks wrong is said on the
    standard error; what makes training pointless is refused.
    """
    from samekind.cli.output import messages
    from samekind.data import open_data
    from samekind.data.problems import problems_of

    def say(sentence: str) -> None:
        messages().print(sentence, soft_wrap=True)

    _say_size(plan, say)
    items = open_data(plan.source, settings=plan.data)
    problems = problems_of(items)
    errors = [each.sentence for each in problems if each.severity == "error"]
    if errors:
        raise DataError(f"{items.name}: {'; '.join(errors)}")
    for sentence in [*items.notes, *(each.sentence for each in problems)]:
        say(f"{items.name}: {sentence}")
    return items


def say_trained_on(folder: Path, sources: Sequence[str]) -> None:
    """Say on the standard error which of the sources were trained on, where a figure is told of them."""
    from samekind.cli.output import messages
    from samekind.training import RunFolder

    run = RunFolder.around(folder)
    if seen := [source for source in sources if run.trained_on(source)]:
        messages().print(KNOWS.format(data=", ".join(seen)), soft_wrap=True)


def encoder_of(folder: Path, space: "MetricSpace", *, recipe: str, items: "Items") -> "Part | None":
    """The encoder of a trained space, for a run of this recipe that begins with its weights: as the run it
    is of says, if that is one of the recipe too; of a space alone the recipe's own, if that is what it has.
    """
    from samekind import recipes
    from samekind.encoders.standardised import network_of
    from samekind.training import RunFolder
    from samekind.training.own_encoder import GIVEN

    run = RunFolder.around(folder).run()
    if run is None:  # a space alone
        own: Part = recipes.RECIPES[recipe](items).space.encoder
        return own if own.name == type(network_of(space.encoder)).__name__ else None
    return run.space.encoder if run.recipe == recipe and run.space.encoder.name != GIVEN else None


def _say_size(plan: "Plan", say: Any) -> None:
    """Tell what pictures will take in memory, before they are decoded; and which of two data is meant."""
    from samekind.data import memory_needed
    from samekind.data.sources import NAMED

    if plan.source in NAMED:
        if Path(plan.source).exists():
            say(f'"{plan.source}" is the data of that name; for the one in this folder say ./{plan.source}')
        return
    needed = memory_needed(plan.source, settings=plan.data)
    if needed < WORTH_SAYING:
        return
    kept = plan.data.memory == "always" or (plan.data.memory == "auto" and needed <= plan.data.memory_limit)
    size = f"{needed / 2**20:,.0f} MiB"
    if kept:
        say(f"decoding into memory: {size}")
        return
    otherwise = ", or once onto a GPU that has room for them; --set data.memory=always keeps them in memory"
    say(
        f"{size} once decoded: the pictures stay on the disk and are decoded anew in every epoch"
        f"{'' if plan.data.memory == 'never' else otherwise}"
    )
