"""Options that several commands share."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, TypeVar

from typer import Argument, Option

from samekind.errors import SettingError, nearest
from samekind.settings import LARGEST_SEED

Choice = TypeVar("Choice", bound=str)

#: What can be opened: `samekind.data.sources.KNOWN`, written out so that help does not wait for PyTorch.
OPENED = (
    'a name ("digits", "characters", "characters/Greek,Hebrew"), '
    "a folder of class folders with pictures, sounds or .npy arrays, a .zip of class folders, "
    "a table of numbers (.csv, .tsv, .parquet), a list of files with their labels (.csv, .tsv, .parquet), "
    "arrays (.npz), IDX files, a folder of CIFAR's files, a folder of sprites"
)

#: The recipe where none is named.
HOUSE = "house"

AsJson = Annotated[bool, Option("--json", help="Print one JSON object instead of a table.")]
Device = Annotated[str, Option(help="auto, cpu, cuda, cuda:1 or mps.")]
Data = Annotated[
    str | None,
    Option(
        "--data",
        metavar="DATA",
        help=f"What to learn from: {OPENED}.",
        show_default="that of the run file, or digits",
    ),
]
Label = Annotated[str | None, Option(help="The column of the class, in a table.", show_default="label")]
PathColumn = Annotated[
    str | None, Option("--path", help="The column of the files, in a list of files.", show_default="path")
]
Ignore = Annotated[
    str, Option(help="Columns of a table to leave out, separated by commas.", show_default="none")
]
Size = Annotated[
    int | None,
    Option(help="Pictures are read this many pixels wide and high.", show_default="their own", min=1),
]
Taxonomy = Annotated[
    Path | None,
    Option(
        "--taxonomy",
        metavar="FILE",
        help="The tree of the classes: Newick, a table of paths or of parents, JSON, or indented text.",
    ),
]
SplitBy = Annotated[
    str | None,
    Option(
        "--split",
        help="How the items are split: random, group, domain, or part (by a column or the files).",
        show_default="part where the data has parts, group where it has groups, else random",
    ),
]
Unseen = Annotated[
    str,
    Option(
        help="Classes to test on that training never sees: 7,8,9 (names with a comma in double quotes), half "
        "or random-half."
    ),
]
Seed = Annotated[
    int | None,
    Option(
        help="Fixes the split, the weights and the order of the data.",
        show_default="that of the run, 0",
        min=0,
        max=LARGEST_SEED,
    ),
]
DrawSeed = Annotated[
    int,
    Option(
        help="Fixes the few-shot tasks, the starts of k-means and the intervals.", min=0, max=LARGEST_SEED
    ),
]
Tasks = Annotated[int, Option(help="How many few-shot tasks to draw.", min=2)]
NoReferences = Annotated[
    bool,
    Option(
        "--no-references",
        help="Leave out the baselines without training, which read the training items again.",
    ),
]
Changes = Annotated[
    list[str] | None,
    Option(
        "--set", metavar="NAME=VALUE", help="Change a setting of the run: epochs=10, terms.pair.weight=0.5."
    ),
]
Root = Annotated[
    Path | None, Option(help="The folder that the paths of the list start from.", show_default="its own")
]
SpaceArgument = Annotated[Path, Argument(metavar="SPACE", help="The folder of a saved space, or of a run.")]
SpaceFolder = Annotated[
    Path, Option("--space", envvar="SAMEKIND_SPACE", help="The folder of a saved space, or of a run.")
]
Sources = Annotated[
    list[str],
    Argument(metavar="DATA…", help="Files, folders, .zip archives, tables or arrays, read as in training."),
]
Kind = Annotated[
    str | None,
    Option(
        help="The kind of score: similarity, cosine, fused, fitted or normalised.",
        show_default="the space's choice",
    ),
]
SkipUnreadable = Annotated[
    bool, Option("--skip-unreadable", help="Skip files that cannot be read, and name them.")
]
RawTexts = Annotated[
    bool,
    Option(
        "--raw-texts",
        help="Write texts to a .csv as they are, for programs; else one that a spreadsheet would run as a "
        "formula (it begins with =, +, - or @) gets a ' in front.",
    ),
]
IdColumn = Annotated[
    str | None,
    Option(
        "--id",
        metavar="COLUMN",
        help="The column of a table of numbers that names its rows.",
        show_default="file and row",
    ),
]
LabelColumn = Annotated[
    str | None,
    Option(
        "--label",
        help="The column of a table that holds the label.",
        show_default="as in training, else label",
    ),
]
AttackedData = Annotated[
    str | None,
    Argument(
        metavar="DATA",
        help="Items whose class is known: a folder of class folders, a table, or what else is opened.",
        show_default="the test items of the run",
    ),
]
Norm = Annotated[
    str, Option(help="How changes are measured: linf, l2, l1, or snr (l2, in the size of the item).")
]
Steps = Annotated[int, Option(help="Steps of an attack.", min=1)]
Restarts = Annotated[int, Option(help="How often an attack begins anew where it failed.", min=1)]
AttackedItems = Annotated[int, Option(help="Attack at most this many items, drawn at random.", min=2)]
AttackSeed = Annotated[int, Option(help="Fixes the items and where attacks begin.", min=0, max=LARGEST_SEED)]
FixedColumns = Annotated[
    list[str] | None,
    Option("--fixed", metavar="COLUMN", help="A column that is not changed; can be repeated."),
]
Surrogate = Annotated[
    Path | None,
    Option(
        "--surrogate",
        metavar="SPACE",
        help="Another space with the same classes, whose examples must break no more than the attack.",
        show_default="raw inputs",
    ),
]


def known(option: str, value: str, choices: Sequence[Choice]) -> Choice:
    """The value of an option, if it is one of the choices; any other is an error that names the nearest."""
    for choice in choices:
        if choice == value:
            return choice
    raise SettingError(f'--{option}: there is no "{value}"; {nearest(value, choices)}')


def known_or_none(option: str, value: str | None, choices: Sequence[Choice]) -> Choice | None:
    """The value of an option that may be left out."""
    return None if value is None else known(option, value, choices)


def names(text: str) -> tuple[str, ...]:
    """Names separated by commas, sorted; a name with a comma is in double quotes.

    >>> names('owl, "leaf, underside"')
    ('leaf, underside', 'owl')
    """
    import csv
    import re

    try:
        closed = re.sub(r'" +(?=,|$)', '"', text)  # csv refuses a space behind a quote
        rows = list(csv.reader([closed], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise SettingError(
            "expected names separated by commas, on one line, with double quotes around a name that has a "
            f"comma; got {text}"
        ) from error
    return tuple(sorted({name.strip() for row in rows for name in row if name.strip()}))


def unseen_names(text: str) -> tuple[str, ...] | str:
    """The classes of --unseen: names, or "half" or "random-half" as it is."""
    return text if text in ("half", "random-half") else names(text)


def whole_numbers(option: str, text: str) -> tuple[int, ...]:
    """Whole numbers from 1 up, separated by commas."""
    try:
        numbers = tuple(int(number) for number in text.split(","))
    except ValueError:
        numbers = ()
    if not numbers or min(numbers) < 1:
        raise SettingError(f'--{option}: expected whole numbers from 1 up, such as 1,5; got "{text}"')
    return numbers
