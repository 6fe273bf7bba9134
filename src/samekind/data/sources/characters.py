"""Drawn characters: Omniglot, as a small copy inside the package.

Lake, Salakhutdinov and Tenenbaum, "Human-level concept learning through probabilistic program induction",
Science 350(6266), 2015. MIT licence, see ``data/omniglot``.
"""

from functools import cache
from importlib.resources import files

import numpy as np
import torch

from samekind.data.items import Items, Source
from samekind.data.media import ImageReader
from samekind.data.settings import DataSettings

SIDE, PEOPLE = 28, 20


@cache
def characters() -> Items:
    """All drawings: inputs (32460, 1, 28, 28) uint8, ink 255 on 0; 1,623 classes of 20 drawings. Cached.

    A class is an alphabet and the number of a character, "Greek/01": the alphabet is its branch, and a split
    may hold whole alphabets back (``unseen=("Greek", "Hebrew")``). The 964 characters of the 30 alphabets
    that the authors learn from come first, then the 659 of the 20 that they test on.

    A domain is the number of the person who drew, 1 to 20. In one alphabet it is always the same person; in
    two alphabets it usually is not.
    """
    with (
        files("samekind.data").joinpath("omniglot/characters.npz").open("rb") as file,
        np.load(file) as arrays,
    ):
        packed = arrays["drawings"].reshape(-1, SIDE * SIDE // 8)
        names = [name.replace("/character", "/") for name in arrays["names"].tolist()]
    ink = np.unpackbits(packed, axis=1).reshape(-1, 1, SIDE, SIDE) * np.uint8(255)
    people = [f"person {number}" for number in range(1, PEOPLE + 1)]
    return Items(
        inputs=torch.from_numpy(ink),
        labels=torch.arange(len(names)).repeat_interleave(PEOPLE),
        classes=tuple(names),
        name="characters",
        domains=torch.arange(PEOPLE).repeat(len(names)),
        domain_names=tuple(people),
        ids=tuple(f"{name}, {person}" for name in names for person in people),
        reader=ImageReader(height=SIDE, width=SIDE),
        source=Source("characters", DataSettings()),
    )
