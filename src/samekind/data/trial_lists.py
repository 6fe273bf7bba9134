"""Lists of verification trials: which files are compared with which, and whether they are of one class.

The format is that of Nagrani et al., "VoxCeleb: a large-scale speaker identification dataset", Interspeech
2017: a line ``1 first second`` for two files of one class, ``0 first second`` for two of different ones;
``first second target`` and ``first second nontarget`` are read too. A file of enrolments, a line
``name file file …`` each, lets the first of a trial be a set of files that is known under a name.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import torch
from torch import Tensor

from samekind.data.files import exists
from samekind.data.words import listed
from samekind.errors import MOST_LISTED, DataError

ANSWERS = {"1": True, "target": True, "0": False, "nontarget": False}


class TrialList(NamedTuple):
    """Sets of files against files. Without enrolments, every set is one file.

    ``classes`` is what the list implies: files it calls the same, and those of one set, share a number.
    """

    same: Tensor  # (trials,) bool
    first: Tensor  # (trials,) int64, which of the sets
    second: Tensor  # (trials,) int64, which of the files
    sets: tuple[tuple[int, ...], ...]  # which of the files each set holds
    files: tuple[Path, ...]  # each file once
    classes: Tensor  # (files,) int64


class _Line(NamedTuple):
    number: int
    same: bool
    first: str
    second: str


def read_trial_list(
    path: str | Path, *, root: str | Path | None = None, enrolments: str | Path | None = None
) -> TrialList:
    """Read a list; paths in it are relative to ``root``, or else to the folder of the list.

    Raises DataError, with the numbers of the lines, for a line in another format, a file compared with
    itself, an unknown enrolment, a missing file, or a contradiction (a is b and b is c, but a is not c). A
    list needs trials of the same and of different classes. Empty lines are skipped.
    """
    path, root = Path(path), Path(root) if root is not None else Path(path).parent
    known = _read_enrolments(Path(enrolments)) if enrolments is not None else None
    lines = _read_trials(path, named=known is not None)
    if known is not None:
        unknown = [f"line {line.number}: {line.first}" for line in lines if line.first not in known]
        _refuse(f"{path} names enrolments that {enrolments} does not have", unknown)
    sides = {line.first: (line.first,) for line in lines} if known is None else known
    used = {name: sides[name] for name in dict.fromkeys(line.first for line in lines)}
    repeated = [f"line {line.number}: {line.second}" for line in lines if line.second in used[line.first]]
    _refuse(f"{path} compares a file with itself", repeated)
    names = dict.fromkeys([*(file for files in used.values() for file in files), *(x.second for x in lines)])
    _refuse(f"{path} names files that are not in {root}", [n for n in names if not exists(root / n)])
    return _indexed(path, root, lines, used, list(names))


def _indexed(
    path: Path, root: Path, lines: list[_Line], sets: Mapping[str, tuple[str, ...]], names: list[str]
) -> TrialList:
    """The list as numbers, with the classes that it implies. Raises DataError for contradictions."""
    place = {name: index for index, name in enumerate(names)}
    row = {name: index for index, name in enumerate(sets)}
    members = [tuple(place[file] for file in files) for files in sets.values()]
    same = torch.tensor([line.same for line in lines])
    first = torch.tensor([row[line.first] for line in lines])
    second = torch.tensor([place[line.second] for line in lines])
    if same.all() or not same.any():
        counts = f"{int(same.sum()):,} same and {int((~same).sum()):,} different"
        raise DataError(f"{path}: expected trials of the same and of different classes, got {counts}")
    heads = torch.tensor([files[0] for files in members])
    classes = _classes(len(names), members, heads[first[same]], second[same])
    wrong = (~same & (classes[heads[first]] == classes[second])).nonzero().flatten().tolist()
    contradictions = [
        f"line {lines[index].number}: {lines[index].first} {lines[index].second}" for index in wrong
    ]
    _refuse(f"{path} contradicts itself: other lines make these pairs the same", contradictions)
    return TrialList(same, first, second, tuple(members), tuple(root / name for name in names), classes)


def _classes(count: int, members: Iterable[tuple[int, ...]], first: Tensor, second: Tensor) -> Tensor:
    """Numbers (files,) that are equal for files joined by a set or by a trial of one class."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    within = [(files[0], other) for files in members for other in files[1:]]
    joined = torch.cat([torch.stack([first, second]).long(), torch.tensor(within).reshape(-1, 2).T.long()], 1)
    graph = coo_array((torch.ones(joined.shape[1]).numpy(), tuple(joined.numpy())), shape=(count, count))
    return torch.from_numpy(connected_components(graph, directed=False)[1]).long()


def _read_trials(path: Path, *, named: bool) -> list[_Line]:
    """The lines; the first of a trial is a path or, with ``named``, an enrolment."""
    lines, wrong = [], []
    for number, words in _words(path):
        if len(words) == 3 and words[0] in ANSWERS:
            lines.append(_Line(number, ANSWERS[words[0]], words[1], words[2]))
        elif len(words) == 3 and words[2] in ("target", "nontarget"):
            lines.append(_Line(number, ANSWERS[words[2]], words[0], words[1]))
        else:
            wrong.append(f"line {number}: {' '.join(words)}")
    _refuse(f'{path} is not a list of trials: expected "1 first second" or "0 first second"', wrong)
    if not lines:
        raise DataError(f'{path} has no trials; write lines such as "1 first.png second.png"')
    return [
        line._replace(first=line.first if named else _path(line.first), second=_path(line.second))
        for line in lines
    ]


def _path(text: str) -> str:
    """A path in one spelling: "./a.png" is "a.png"."""
    return str(Path(text))


def _read_enrolments(path: Path) -> dict[str, tuple[str, ...]]:
    """Name to files, each file once."""
    enrolments: dict[str, tuple[str, ...]] = {}
    wrong = []
    for number, (name, *files) in _words(path):
        if not files or name in enrolments:
            wrong.append(f"line {number}: {name} {'has no file' if not files else 'is repeated'}")
        else:
            enrolments[name] = tuple(dict.fromkeys(map(_path, files)))
    _refuse(f'{path} is not a list of enrolments: expected "name file file …", a name once', wrong)
    return enrolments


def _words(path: Path) -> Iterator[tuple[int, list[str]]]:
    """The words of each line that is not empty, with its number; with tabs, words may have spaces."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise DataError(f"there is no list {path}") from None
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read the list {path}: {error}; expected text in UTF-8") from error
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            split = line.strip().split("\t") if "\t" in line.strip() else line.split()
            yield number, [word.strip() for word in split]


def _refuse(sentence: str, offences: list[str]) -> None:
    """Raise DataError that names the first offences and counts the others, if there are any."""
    if offences:
        raise DataError(f"{sentence}: {listed(offences, MOST_LISTED, '; ')}")
