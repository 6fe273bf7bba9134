"""Names of classes where there is little room: shortened so that they can still be told apart."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.text import Text

#: How the identifier of a text begins that stands for a longer name; `picture` makes a tooltip of it.
WHOLE = "whole:"

#: With the sign before it, if there is one.
LAST_WORD = re.compile(r"[\W_]?[^\W_]*$")


def shortened(names: Sequence[str], most: int) -> list[str]:
    """Names of at most so many characters, with an ellipsis where something is missing.

    The end is cut off where the beginning says which name it is; where others begin alike, the middle is, up
    to the last word if that fits; and where they end alike too, what is kept is what differs. Different names
    stay different.

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


def tell_whole(text: "Text", name: str) -> None:
    """Have a text of a page say the whole name it stands for when somebody points at it."""
    text.set_gid(f"{WHOLE}{name}")


def _ways(name: str, others: Collection[str], most: int) -> Iterator[str]:
    """A name cut in one way after another: first those that no other name can be taken for."""
    room = most - 1
    if not any(other.startswith(name[: most // 2]) for other in others):
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
