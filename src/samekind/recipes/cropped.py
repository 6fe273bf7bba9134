"""Pictures that are read larger than the network sees them: it gets a square of seven eighths of the side,
from a random place in training, from the middle afterwards. From 256 pixels this gives 224, as in papers on
retrieval.
"""

import inspect

from samekind import encoders
from samekind.data import medium_of
from samekind.training import Part

#: Channels of pictures that are cropped.
COLOURS = 3


def side_of_crop(shape: tuple[int, ...]) -> int | None:
    """The pixels of a crop, seven eighths of the shorter side; None for items that are not cropped: all but
    colour pictures that are large enough for networks of photographs.

    >>> side_of_crop((3, 256, 256)), side_of_crop((3, 32, 32)), side_of_crop((20,))
    (224, None, None)
    """
    if not medium_of(shape).pretrained(shape) or shape[0] < COLOURS:
        return None
    return min(shape[1:]) * 7 // 8


def looking_at_the_middle(encoder: Part, side: int) -> Part:
    """The encoder, shown the middle of pictures alone; as it is if it takes pictures of one size."""
    return Part(
        "Views", {"encoder": {"name": encoder.name, **encoder.arguments}, "mirror": False, "middle": side}
    )


def takes_any_size(encoder: Part) -> bool:
    """Whether an encoder takes pictures of other sizes than those it was built for."""
    inner = encoder.arguments.get("backbone", {"name": encoder.name})
    member = getattr(encoders, str(inner["name"]), None)
    return member is not None and "size" not in inspect.signature(member).parameters
