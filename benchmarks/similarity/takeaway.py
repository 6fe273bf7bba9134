"""The table at the top of the page: each learned similarity beside the cosine, wherever it was measured.

    python benchmarks/similarity/takeaway.py [--results results] [--page docs/results/similarity.md]

It reads what other studies have stored: results/house, results/similarity, results/birds, results/characters.
Until a study has two seeds with today's settings, its runs with older ones stand there, and the row says so.
A difference is paired by seed; those that are sure after Holm's correction for all of the table are bold.
"""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))  # where the grids' shared folder is

from grids.results import Results, results_in
from grids.tables import LEVEL, markdown
from grids.takeaway import takeaway

from samekind.evaluation.cosine_references import NORMALISED
from samekind.measures import holm, paired_difference, paired_p_value

MEASURES = ("Recall@1", "EER")
FITTED, ALONE, ADDED = (
    "a *fitted* quadratic form",
    "a *network over the pair*",
    "a network *added to the cosine*",
)


class Row(NamedTuple):
    """A learned similarity and where it was measured: the folder of the JSONs, the variant, the kind of score
    and the one it is compared with; of the house recipe also the rung.
    """

    similarity: str
    where: str
    folder: str
    variant: str
    kind: str = "similarity"
    other: str = "cosine"
    rung: str | None = None


def _both(row: Row) -> tuple[Row, Row]:
    """A row against the plain cosine, and the same against one that is normalised by a cohort."""
    other = NORMALISED if row.rung is None else "normalised"
    return row, row._replace(where="the same, against a normalised cosine", other=other)


FITTED_ROW = Row(FITTED, "", "house", "", "fitted", "similarity", "encoder trained")
ROWS = (
    *_both(FITTED_ROW._replace(where="birds, 100 classes to learn from", variant="birds-house")),
    *_both(FITTED_ROW._replace(where="plankton, 55 classes", variant="plankton-house")),
    *_both(FITTED_ROW._replace(where="characters, 935 classes", variant="characters-house")),
    *_both(Row(ALONE, "birds, 100 classes, `verification`", "birds", "verification")),
    *_both(Row(ALONE, "birds, 100 classes, `prototypical`", "birds", "prototypical")),
    *_both(Row(ALONE, "characters, 940 classes", "characters", "verification-of-940")),
    *_both(Row(ADDED, "characters, 940 classes", "characters", "corrected-of-940")),
    *_both(
        Row(
            ADDED,
            "characters, after a training of 935 classes",
            "house",
            "characters-house",
            rung="network over pairs",
        )
    ),
    *_both(Row(ALONE, "**known** classes: CIFAR-10", "similarity", "verification")),
)
#: The folder, in that of a study, of runs with older settings; and what is said where they stand in.
OLDER, NAMED = "older", "(older settings)"
WAITING = (
    f"Rows with *{NAMED}*: these runs differ from the papers' "
    "([in what](#what-the-settings-are-and-what-they-were)). Runs with the papers' own settings need a GPU; "
    "they take these places when there are two seeds of them."
)


def top(results: Path) -> str:
    """The table, and what is to be said of runs with older settings while there are any in it."""
    written = table(results)
    return f"{written}\n\n{WAITING}" if NAMED in written else written


def table(results: Path) -> str:
    """The rows that were run with two seeds or more."""
    shown = [_newest(results, row) for row in ROWS]
    found = {folder: results_in(results / folder) for folder in {row.folder for row in shown}}
    pairs = {(row, measure): _sides(found[row.folder], row, measure) for row in shown for measure in MEASURES}
    pairs = {asked: sides for asked, sides in pairs.items() if len(sides[0]) > 1}
    p_values = holm([paired_p_value(*sides) for sides in pairs.values()])
    sure = {asked for asked, p in zip(pairs, p_values, strict=True) if p < LEVEL}
    heading = [
        "learned similarity",
        "classes never shown",
        "seeds",
        *(f"{name}: learned, cosine" for name in MEASURES),
    ]
    rows = []
    for row in shown:
        cells = [_cell(pairs.get((row, measure)), bold=(row, measure) in sure) for measure in MEASURES]
        seeds = [len(pairs[row, name][0]) for name in MEASURES if (row, name) in pairs]
        if seeds:
            rows.append([row.similarity, row.where, str(max(seeds)), *cells])
    return markdown(heading, rows)


def _newest(results: Path, row: Row) -> Row:
    """The row as it is, or that of the runs with older settings, where there are not yet two others."""
    folder = f"{row.folder}/{OLDER}"
    if len(results_in(results / row.folder).seeds(row.variant)) > 1 or not (results / folder).is_dir():
        return row
    return row._replace(folder=folder, where=f"{row.where} {NAMED}")


def _sides(results: Results, row: Row, measure: str) -> tuple[list[float], list[float]]:
    """What both scores have in per cent, seed by seed."""
    if row.rung is None:
        one, two = (results.values(row.variant, measure, kind) for kind in (row.kind, row.other))
    else:
        kinds = {
            seed: results.contents[row.variant, seed]["systems"].get(row.rung, {}).get("by kind", {})
            for seed in results.seeds(row.variant)
        }
        one, two = (
            {seed: 100 * some[kind][measure] for seed, some in kinds.items() if kind in some}
            for kind in (row.kind, row.other)
        )
    seeds = sorted(one.keys() & two.keys())
    return [one[seed] for seed in seeds], [two[seed] for seed in seeds]


def _cell(sides: tuple[Sequence[float], Sequence[float]] | None, *, bold: bool) -> str:
    """Both means, and their difference with its interval."""
    if sides is None:
        return "not measured"
    first, second = (sum(side) / len(side) for side in sides)
    mean, low, high = paired_difference(*sides)
    difference = f"**{mean:+.1f}**" if bold else f"{mean:+.1f}"
    return f"{first:.1f}, {second:.1f}: {difference} ({low:+.1f} to {high:+.1f})"


if __name__ == "__main__":
    takeaway(__doc__ or "", top, Path("results"))
