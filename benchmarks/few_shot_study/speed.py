"""Who learns faster: validation accuracy after some episodes, and when DR has the best of softmax."""

from collections.abc import Sequence

from cases import COMPARED, Case, Content, smoothed
from grids.tables import markdown


def speed(cases: Sequence[Case]) -> str:
    """Two tables about cases of the same data."""
    setting, longest = cases[0].setting, max(case.episodes for case in cases)
    read_at = [episodes for episodes in setting.read_at if episodes <= longest]
    heading = ("network", "shots", "classifier", *(f"{episodes:,}" for episodes in read_at))
    read = markdown(heading, [row for case in cases for row in _read(case, read_at)])
    heading = ("network", "shots", "seed", "best of softmax, %", "softmax, episodes", "DR, episodes")
    when = markdown(heading, [row for case in cases for row in _sooner(case)])
    window = f"mean of {setting.window} checkpoints"
    return (
        f"Accuracy on validation tasks after so many episodes, in per cent ({window}):\n\n{read}\n\n"
        f"Episodes until each first has the best of softmax on validation tasks ({window}):\n\n{when}"
    )


def reached(curve: Sequence[float], level: float, *, window: int) -> int | None:
    """The first place at which a smoothed curve has a level, or None; not before a whole window."""
    for place, value in enumerate(curve):
        if place + 1 >= window and value >= level - 1e-9:  # sums are rounded
            return place
    return None


def _read(case: Case, read_at: Sequence[int]) -> list[list[str]]:
    """The curves at some episodes: softmax, DR and their difference."""
    places = [episodes // case.setting.checkpoint - 1 for episodes in read_at if episodes <= case.episodes]
    columns = [
        case.cells(lambda content, place=place: _curve(case, content)[place], digits=1) for place in places
    ]
    columns += [[""] * len(COMPARED)] * (len(read_at) - len(places))
    return [[*case.about, called, *cells] for called, *cells in zip(COMPARED, *columns, strict=True)]


def _curve(case: Case, content: Content) -> list[float]:
    """Validation accuracy in per cent."""
    return [100 * value for value in smoothed(content, "validation", window=case.setting.window)]


def _sooner(case: Case) -> list[list[str]]:
    """For every seed the episodes until each has the level."""
    rows, window = [], case.setting.window
    for pair in case.pairs():
        curves = [_curve(case, content) for content in pair]
        level = max(curves[0][window - 1 :] or curves[0])
        places = [reached(curve, level, window=window) for curve in curves]
        episodes = [None if place is None else (place + 1) * case.setting.checkpoint for place in places]
        cells = ["never" if some is None else f"{some:,}" for some in episodes]
        rows.append([*case.about, str(pair[0]["seed"]), f"{level:.1f}", *cells])
    return rows
