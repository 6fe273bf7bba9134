"""What did training keep of the distances of inputs, and how do classes lie?"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from samekind.data import Sets
from samekind.errors import DataError, SettingError
from samekind.evaluation.representation import NAMES, POINTS, correlations, of_inputs, of_space, points_of
from samekind.measures.robustness import written_epsilon
from samekind.questions.opening import OpenRun
from samekind.reports import representation_bars, representation_curves, write_figure
from samekind.space import MetricSpace
from samekind.training import Run, RunFolder

OTHER_DATA = "{name} was trained on other items than {first}; compare runs on the same data and split"


class Budget(NamedTuple):
    """The attack that a space was trained against; its text is "linf 8/255", or "none"."""

    norm: str = ""
    epsilon: float = 0.0

    def __str__(self) -> str:
        return f"{self.norm} {written_epsilon(self.epsilon)}" if self.norm else "none"


class Trained(NamedTuple):
    """A space with its name, its sets, and the run it comes from, where that is known."""

    name: str
    space: MetricSpace
    sets: Sets
    run: Run | None = None

    @staticmethod
    def opened(run: OpenRun) -> "Trained":
        """The space of an opened run, under the name of its folder."""
        folder = run.opened.folder
        return Trained(str(folder), run.opened.space, run.sets, RunFolder(folder).run())

    @property
    def budget(self) -> Budget:
        """The attack that it was trained against, as far as that is known."""
        defence = None if self.run is None else self.run.defence
        return Budget() if defence is None else Budget(defence.norm, defence.epsilon)


@dataclass(frozen=True)
class Represented:
    """The measures of each space, and of the inputs by metric. ``correlations`` are those of the mean
    correlation (l2) with each other measure over the spaces; none for fewer than three.
    """

    points: int
    power: float
    names: tuple[str, ...]
    budgets: tuple[Budget, ...]
    spaces: tuple[Mapping[str, float], ...]
    inputs: Mapping[str, Mapping[str, float]]
    correlations: Mapping[str, Mapping[str, tuple[float, float]]]

    @property
    def measures(self) -> tuple[str, ...]:
        """The names of all measures, in order; inputs have some of them."""
        return NAMES

    def to_json(self) -> dict[str, Any]:
        return {
            "points": self.points,
            "power": self.power,
            "spaces": [
                {"name": name, "trained against": str(budget), **measures}
                for name, budget, measures in zip(self.names, self.budgets, self.spaces, strict=True)
            ],
            "inputs": {name: dict(measures) for name, measures in self.inputs.items()},
            "correlations with MC l2": {
                name: {title: {"coefficient": value, "p": chance} for title, (value, chance) in both.items()}
                for name, both in self.correlations.items()
            },
        }


def representation(
    trained: Sequence[Trained], *, limit: int = POINTS, power: float = 0.0, seed: int = 0
) -> Represented:
    """Compare the embeddings of several spaces with the inputs: at most ``limit`` training items, as many of
    one class as of any other. ``power`` re-weights principal directions, see `evaluation.representation`.
    """
    first, *others = trained
    for other in others:
        if other.sets.train.fingerprint() != first.sets.train.fingerprint():
            raise DataError(OTHER_DATA.format(name=other.name, first=first.name))
    points = points_of(first.sets.train, next(iter(first.sets.tests().values())), most=limit, seed=seed)
    spaces = tuple(of_space(one.space, points, power=power) for one in trained)
    return Represented(
        points=len(points.train),
        power=power,
        names=tuple(one.name for one in trained),
        budgets=tuple(one.budget for one in trained),
        spaces=spaces,
        inputs={"input, l2": of_inputs(points, "l2"), "input, linf": of_inputs(points, "linf")},
        correlations=correlations(spaces),
    )


def draw_representation(path: Path, answer: Represented) -> None:
    """Draw the measures of the spaces beside each other: .svg, .png or .pdf."""
    names = []
    for name, budget in zip(answer.names, answer.budgets, strict=True):
        against = f"against {budget}" if budget.norm else "undefended"
        power = f", power {answer.power:g}" if answer.power else ""
        names.append(f"{Path(name).name} ({against}{power})")
    write_figure(lambda: representation_bars(names, answer.spaces), path)


def draw_budgets(path: Path, answer: Represented) -> None:
    """Draw the measures of the spaces against the epsilon that they were trained with: .svg, .png or .pdf."""
    if not any(
        one.norm and other.norm in ("", one.norm) and one.epsilon != other.epsilon
        for one in answer.budgets
        for other in answer.budgets
    ):
        raise SettingError(
            "measures against the training budget need two budgets of one norm, of which one may be a run "
            f"without a defence; got {', '.join(map(str, answer.budgets))}"
        )
    write_figure(lambda: representation_curves(answer.budgets, answer.spaces), path)
