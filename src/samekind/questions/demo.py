"""What does learning give, on drawn characters of alphabets never shown?"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod
from pathlib import Path
from typing import Any

from samekind.data import Items, Sets, SplitSettings, branches_of, characters, open_data, prepare
from samekind.encoders import Unchanged
from samekind.evaluation import Answered, Row, five_questions, unseen_rows
from samekind.evaluation.rows import described
from samekind.prototypes import SupportMeans
from samekind.recipes import fit, house
from samekind.reports import System, lines_section, pictures_section, write_report
from samekind.similarities import Cosine
from samekind.space import MetricSpace
from samekind.training import Run, RunFolder, Watcher

#: What the demo changes of the house recipe's run, to take a minute.
BRIEF = ("epochs=4", "space.encoder.width=16")

#: Alphabets that training does not see: those that thresholds are fitted on, and those of the queries.
VALIDATING = ("Bengali", "Greek", "Korean")
ASKED = ("Angelic", "Ge_ez", "Mongolian", "Tengwar", "Tibetan")

#: The names of the two systems, the reference first.
NAMES = ("raw pixels", "learned")

CAPTION = (
    "In brackets the 95 % interval; bold where it is better than the raw pixels by more than that. The "
    "EER is the share of wrong answers: lower is better. Of the others, higher is better."
)


@dataclass(frozen=True, eq=False)
class Demo:
    """The five answers; and the sets, both spaces and their rows, in the order of `NAMES`."""

    answers: Sequence[Answered]
    sets: Sets
    spaces: tuple[MetricSpace, MetricSpace]
    rows: tuple[Sequence[Row], Sequence[Row]]

    @property
    def unseen(self) -> Items:
        """The characters that are the queries."""
        assert self.sets.unseen is not None
        return self.sets.unseen

    @property
    def about(self) -> str:
        """The training items and the queries, in a sentence."""
        train, unseen = self.sets.train, self.unseen
        learned, asked = (branches_of(items.classes) for items in (train, unseen))
        drawings = f"{len(unseen):,} drawings of {len(unseen.classes)} characters"
        return (
            f"Learned from {len(train):,} drawings of {len(train.classes)} characters ({len(learned)} "
            f"alphabets). Asked about {drawings} of {len(asked)} alphabets that it never saw: "
            f"{', '.join(asked)}."
        )

    def to_json(self) -> dict[str, Any]:
        return {"answers": [answer.to_json() for answer in self.answers]}


def demo(
    folder: Path,
    *,
    seed: int | None = None,
    device: str = "auto",
    tasks: int = 600,
    changes: Sequence[str] = (),
    watched: Callable[[Run], Watcher] | None = None,
) -> Demo:
    """Learn in a folder, by the house recipe with ``changes``, and ask the five questions, raw and learned.
    ``watched`` gives the watcher of a run.
    """
    sets = _sets()
    unseen = sets.unseen
    assert unseen is not None
    run = house(sets.train).override([*BRIEF, *changes, *([] if seed is None else [f"seed={seed}"])])
    watcher = None if watched is None else watched(run)
    spaces = raw_space(unseen), fit(run, sets, folder=folder, device=device, watcher=watcher)
    raw, own = (unseen_rows(space, unseen, tasks=tasks, seed=run.seed) for space in spaces)
    RunFolder(folder).keep_measures([described(row) for row in own])
    return Demo(five_questions(spaces[1], raw, own, noun="character"), sets, spaces, (raw, own))


def report_demo(answer: Demo, folder: Path) -> Path:
    """Write the report into the folder of the training; where it is."""
    path = folder / "report.html"
    raw = System(answer.spaces[0], answer.rows[0])
    own = System(answer.spaces[1], answer.rows[1], RunFolder(folder).record.lines())
    write_report(
        path,
        title="samekind on drawn characters",
        lead=answer.about,
        systems={NAMES[1]: own, NAMES[0]: raw},
        seen=answer.sets.test,
        unseen=answer.unseen,
        opening=[
            lines_section(answer.answers, names=NAMES, caption=CAPTION),
            pictures_section(dict(zip(NAMES, answer.spaces, strict=True)), answer.unseen),
        ],
    )
    return path


def raw_space(items: Items) -> MetricSpace:
    """Pixels as they are, compared by the cosine."""
    numbers = prod(items.shape)
    means = SupportMeans(dimension=numbers)
    return MetricSpace(Unchanged(inputs=numbers), Cosine(), means, reader=items.reader).eval()


def _sets() -> Sets:
    """Characters of alphabets to learn from, of others to fit thresholds on, and of others to ask about."""
    items = open_data(f"characters/{','.join(dict.fromkeys([*_learned(), *VALIDATING, *ASKED]))}")
    return prepare(
        items, SplitSettings(unseen=ASKED, validation_classes=VALIDATING, fractions={"train": 1.0})
    )


def _learned() -> list[str]:
    """The 30 alphabets that the authors of the data learn from."""
    return list(branches_of(characters().classes))[:30]
