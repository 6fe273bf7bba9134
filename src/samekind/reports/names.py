"""Class names shortened to little room, and still distinct."""

import re
from collections.abc import Collection, Iterator, Sequence

from samekind.reports.panels import Text

#: The beginning of the identifier of a text with a shortened name; `picture` makes a tooltip of it.
WHOLE = "whole:"

#: With the punctuation before it.
LAST_WORD = re.compile(r"[\W_]?[^\W_]*$")


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Names of at most ``most`` characters, with an ellipsis for what is cut; different names stay different.

    The end is cut if the beginning is unique and the name no path, else the middle, up to the last word if
    that fits. If others also end alike, the part that differs is kept.

    >>> shortened(["albatross", "wren"], 6)
    ['albat…', 'wren']
    >>> shortened(["siphonophore_abylidae", "siphonophore_physonect"], 14)
    ['siph…_abylidae', 'sip…_physonect']
    """
    different = list(dict.fromkeys(names))
    taken = {name for name in different if len(name) <= most}
    short = {name: name for name in taken}
    for name in different:
        if name not in short:
            others = [other for other in different if other != name]
            short[name] = next(cut for cut in _ways(name, others, most) if cut not in taken)
            taken.add(short[name])
    return [short[name] for name in names]


def tell_whole(text: Text, name: str) -> None:
    """Give a text of a page the whole name as tooltip."""
    text.set_gid(f"{WHOLE}{name}")


def _ways(name: str, others: Collection[str], most: int) -> Iterator[str]:
    """Ways to cut a name, those that cannot be confused with another name first."""
    room = most - 1
    # The end of a path says more than its beginning.
    if "/" not in name and not any(other.startswith(name[: most // 2]) for other in others):
        yield name[:room] + "…"
    last_word = len(name) - len(LAST_WORD.sub("", name))
    half = (room + 1) // 2
    for tail in (last_word if last_word <= room - 3 else half, half, room, *range(room)):
        head, end = name[: room - tail], name[len(name) - tail :]
        if not any(other.startswith(head) and other.endswith(end) for other in others):
            yield f"{head}…{end}"
    parts = [name[start : start + room - 1] for start in range(1, len(name) - room + 1)]
    telling = [part for part in parts if not any(part in other for other in others)]
    if telling:
        yield f"…{telling[len(telling) // 2]}…"  # with what differs in the middle
    number = 1
    while True:
        yield f"{name[: room - len(str(number))]}…{number}"
        number += 1
