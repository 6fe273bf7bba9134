"""The 1,797 handwritten digits that ship with scikit-learn: real images, no download.

Kaynak, "Methods of Combining Multiple Classifiers and Their Applications to Handwritten Digit
Recognition", MSc thesis, Bogazici University, 1995 (the test part of the UCI "Optical Recognition of
Handwritten Digits").
"""

from functools import cache

import torch

from samekind.data.items import Items, Source
from samekind.data.settings import DataSettings


@cache
def digits() -> Items:
    """All digits: inputs (1797, 1, 8, 8) float32 in [0, 1], classes "0" to "9". Read once, then kept."""
    # Imported here: it takes a second, and only those who want the digits should wait.
    from sklearn.datasets import load_digits

    images, labels = load_digits(return_X_y=True)
    inputs = torch.tensor(images, dtype=torch.float32).reshape(-1, 1, 8, 8) / 16  # stored as 0 to 16
    return Items(
        inputs=inputs,
        labels=torch.tensor(labels, dtype=torch.int64),
        classes=tuple(str(digit) for digit in range(10)),
        name="digits",
        source=Source("digits", DataSettings()),
    )
