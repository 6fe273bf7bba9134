"""How well does it do in a domain that it has never seen? Each domain is left out in turn."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind import recipes
from samekind.errors import SettingError
from samekind.evaluation import Row
from samekind.questions.evaluate import row_warnings
from samekind.questions.train import TrainingReports
from samekind.questions.training_items import open_items
from samekind.recipes.leave_one_out import fewest_of_each_class, fewest_trained_on
from samekind.recipes.plans import Plan, because_few, chosen_in_words


@dataclass(frozen=True)
class LeftOut:
    """The rows of a recipe: of each domain, of their mean and of the worst; and what to know of them."""

    recipe: str
    rows: tuple[Row, ...]
    warnings: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "systems": {self.recipe: [row._asdict() for row in self.rows]},
            "warnings": {self.recipe: self.warnings},
        }


def leave_one_out(
    plan: Plan,
    folder: Path,
    *,
    select_on_test: bool = False,
    tasks: int = 600,
    device: str = "auto",
    reports: TrainingReports | None = None,
) -> LeftOut:
    """Train a plan without each domain in turn, in a folder for each, and test on it."""
    _expect_no_split(plan)
    reports = reports or TrainingReports()
    items = open_items(plan, warn=reports.warn)
    # One run for all domains: if one has few items to train on, all are adapted to few.
    planned = plan.run(fewest_of_each_class(items))
    run = plan.suited(planned, items, items=fewest_trained_on(items))
    rows = recipes.leave_one_out(
        run,
        items,
        folder=folder,
        select_on="test" if select_on_test else run.select_on,
        tasks=tasks,
        device=device,
        watcher=reports.watched(plan.recipe, because_few(chosen_in_words(planned, run))),
    )
    return LeftOut(plan.recipe, tuple(rows), tuple(row_warnings(rows)))


def _expect_no_split(plan: Plan) -> None:
    """Refuse a split: the domains make it. "random", which every new run file names, is accepted."""
    given = [f"split.{name}" for name, value in plan.split.items() if (name, value) != ("by", "random")]
    if given:
        raise SettingError(
            "leave-one-out makes its own split, a domain to test on and a part of the others to choose by; "
            f"leave out {', '.join(given)}"
        )
