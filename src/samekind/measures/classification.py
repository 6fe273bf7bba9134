"""Classification: how often the predicted class is the true one.

``predicted`` and ``truth`` are (n,) whole numbers, the class of each item.
"""

from torch import Tensor

from samekind.measures.labels import check_labels


def accuracy(predicted: Tensor, truth: Tensor) -> float:
    """The share of items whose class was predicted: 0 is none, 1 is all.

    >>> import torch
    >>> accuracy(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 1, 2, 2]))
    0.75
    """
    check_labels(predicted, truth, name="predicted")
    return int((predicted == truth).sum()) / len(truth)


def confusion(predicted: Tensor, truth: Tensor, *, classes: int) -> Tensor:
    """How many items of each true class went to each predicted one: int64 counts (truth, predicted).

    Both axes have length ``classes``; a class without items has a row of zeros. Right predictions are
    on the diagonal.

    >>> import torch
    >>> confusion(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 1, 2, 2]), classes=3)
    tensor([[1, 0, 0],
            [0, 1, 0],
            [0, 1, 1]])
    """
    check_labels(predicted, truth, name="predicted")
    for each, called in ((predicted, "predicted"), (truth, "truth")):
        low, high = int(each.min()), int(each.max())
        if low < 0 or high >= classes:
            raise ValueError(f"expected {called} from 0 to {classes - 1}, got {low} to {high}")
    cells = truth.long() * classes + predicted.long()
    return cells.bincount(minlength=classes * classes).reshape(classes, classes)
