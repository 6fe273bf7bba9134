"""Classification: how often the predicted class is the true one, over all items and class by class.

``predicted`` and ``truth`` are (n,) whole numbers, the class of each item. If a function takes the number of
``classes``, the known classes are 0 to classes - 1, and any other prediction means "none of these".
``class_scores`` and ``probabilities`` are (n, classes).
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from samekind.measures.by_class import mean_over_classes
from samekind.measures.checks import check_labels


def accuracy(predicted: Tensor, truth: Tensor) -> float:
    """The share of items whose class was predicted: 0 to 1.

    >>> accuracy(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 1, 2, 2]))
    0.75
    """
    check_labels(predicted, truth, name="predicted")
    return int((predicted == truth).sum()) / len(truth)


def top_k_accuracy(class_scores: Tensor, truth: Tensor, *, ks: Sequence[int] = (1, 5)) -> dict[int, float]:
    """For each k, the share of items whose class is among the k with the highest scores.

    Of equal scores the lower class comes first. A k above the number of classes is an error.

    >>> top_k_accuracy(torch.tensor([[0.1, 0.7, 0.2], [0.5, 0.4, 0.1]]), torch.tensor([2, 0]), ks=(1, 2))
    {1: 0.5, 2: 1.0}
    """
    truth = check_class_scores(class_scores, truth, name="class_scores")
    for k in ks:
        if not 1 <= k <= class_scores.shape[1]:
            raise ValueError(f"expected k from 1 to {class_scores.shape[1]}, the number of classes, got {k}")
    own = class_scores.gather(1, truth[:, None])
    lower = torch.arange(class_scores.shape[1], device=truth.device) < truth[:, None]
    ahead = ((class_scores > own) | ((class_scores == own) & lower)).sum(1)
    return {k: int((ahead < k).sum()) / len(truth) for k in ks}


def recall_by_class(predicted: Tensor, truth: Tensor, *, classes: int) -> Tensor:
    """The share of each class's items that were predicted as it: float64 (classes,); 0 for a class without
    items.

    >>> recall_by_class(torch.tensor([0, 1, 1]), torch.tensor([0, 0, 1]), classes=3).tolist()
    [0.5, 1.0, 0.0]
    """
    right, _, true = _class_counts(predicted, truth, classes)
    return _ratio(right, true)


def f1_by_class(predicted: Tensor, truth: Tensor, *, classes: int) -> Tensor:
    """The F1 of each class, 2 right / (predicted + true), from precision and recall: float64 (classes,).

    0 for a class that no item has and that is never predicted.

    >>> f1_by_class(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 0, 1]), classes=2).tolist()
    [0.8, 0.6666666666666666]
    """
    right, predictions, true = _class_counts(predicted, truth, classes)
    return _ratio(2 * right, predictions + true)


def macro_f1(predicted: Tensor, truth: Tensor) -> float:
    """The mean F1 of the classes that some item has or is predicted as. Every class counts the same.

    >>> macro_f1(torch.tensor([0, 0, 1, 1]), torch.tensor([0, 0, 1, 1]))
    1.0
    """
    check_labels(predicted, truth, name="predicted")
    present, index = torch.unique(torch.cat([predicted, truth]), return_inverse=True)
    scores = f1_by_class(index[: len(truth)], index[len(truth) :], classes=len(present))
    return float(scores.mean())


def macro_recall(predicted: Tensor, truth: Tensor) -> float:
    """The mean recall of the classes that have items, also called balanced accuracy. Every class counts the
    same.

    >>> macro_recall(torch.tensor([0, 0, 0, 1]), torch.tensor([0, 0, 1, 1]))
    0.75
    """
    check_labels(predicted, truth, name="predicted")
    return mean_over_classes((predicted == truth).double(), truth)


def recall_with_confounders(predicted: Tensor, truth: Tensor, *, classes: int) -> Tensor:
    """The recall of each class among look-alikes: float64 (classes,); 0 for a class without items.

    Items of classes outside of 0 to classes - 1 are confounders: no known class is right for them. A
    confounder that is predicted as a class counts as a missed item of that class. The value is right / (items
    of the class + confounders predicted as it). Without confounders it is the plain recall; with one for
    every item, half.

    >>> predicted, truth = torch.tensor([0, 0, 1, -1, 0]), torch.tensor([0, 0, 1, 7, 7])
    >>> recall_with_confounders(predicted, truth, classes=2).tolist()
    [0.6666666666666666, 1.0]
    """
    right, _, true = _class_counts(predicted, truth, classes)
    stranger = (truth < 0) | (truth >= classes)
    return _ratio(right, true + _count(predicted[stranger], classes))


def confusion(predicted: Tensor, truth: Tensor, *, classes: int) -> Tensor:
    """How many items of each true class went to each predicted one: int64 counts (truth, predicted).

    Both axes have length ``classes``; a class without items has a row of zeros. Right predictions are
    on the diagonal.

    >>> confusion(torch.tensor([0, 1, 1, 2]), torch.tensor([0, 1, 2, 2]), classes=3)
    tensor([[1, 0, 0],
            [0, 1, 0],
            [0, 1, 1]])
    """
    check_labels(predicted, truth, name="predicted")
    for labels, role in ((predicted, "predicted"), (truth, "truth")):
        low, high = int(labels.min()), int(labels.max())
        if low < 0 or high >= classes:
            raise ValueError(f"expected {role} from 0 to {classes - 1}, got {low} to {high}")
    cells = truth.long() * classes + predicted.long()
    return cells.bincount(minlength=classes * classes).reshape(classes, classes)


def adjust_prior(probabilities: Tensor, *, before: Tensor, after: Tensor) -> Tensor:
    """Probabilities after the class frequencies changed from ``before`` to ``after``.

    Each is multiplied by after / before (both (classes,), in any unit) and the row divided by its sum:
    float64 (n, classes). Equal frequencies change nothing; a class that no longer occurs gets 0. A frequency
    of 0 before is an error. Saerens, Latinne and Decaestecker, "Adjusting the Outputs of a Classifier to New
    a Priori Probabilities: A Simple Procedure", 2002.

    >>> frequencies = {"before": torch.tensor([1, 1]), "after": torch.tensor([3, 1])}
    >>> adjust_prior(torch.tensor([[0.5, 0.5]]), **frequencies).tolist()
    [[0.75, 0.25]]
    """
    check_probabilities(probabilities)
    for frequencies, role in ((before, "before"), (after, "after")):
        if (
            frequencies.shape != probabilities.shape[1:]
            or not (frequencies.isfinite() & (frequencies >= 0)).all()
        ):
            expected = f"frequencies ({probabilities.shape[1]},) of 0 or more in {role}"
            raise ValueError(f"expected {expected}, got {frequencies.tolist()}")
    if (before == 0).any():
        class_ = int((before == 0).nonzero()[0])
        raise ValueError(f"expected frequencies above 0 in before, got 0 for class {class_}")
    weighed = probabilities.detach().double() * (after.double() / before.double())
    total = weighed.sum(1, keepdim=True)
    if (total == 0).any():
        row = int((total == 0).nonzero()[0, 0])
        raise ValueError(f"expected a class that can still occur for every item, got none for item {row}")
    return weighed / total


def check_class_scores(scores: Tensor, truth: Tensor, *, name: str) -> Tensor:
    """The truth as int64. Raises ValueError unless scores are (n, classes) without NaN and the truth (n,)
    fits.
    """
    if scores.ndim != 2 or truth.shape != scores.shape[:1] or 0 in scores.shape:
        shapes = f"{tuple(scores.shape)} and {tuple(truth.shape)}"
        raise ValueError(f"expected {name} (n, classes) and truth (n,), at least one item, got {shapes}")
    if truth.is_floating_point() or int(truth.min()) < 0 or int(truth.max()) >= scores.shape[1]:
        came = f"{truth.dtype} from {truth.min()} to {truth.max()}"
        raise ValueError(f"expected a truth of whole numbers from 0 to {scores.shape[1] - 1}, got {came}")
    if scores.isnan().any():
        raise ValueError(f"expected numbers in {name}, got {int(scores.isnan().sum())} that are NaN")
    return truth.long()


def check_probabilities(probabilities: Tensor) -> None:
    """Raise ValueError unless they are (n, classes), not negative, and every row sums to 1 up to rounding."""
    if probabilities.ndim != 2 or 0 in probabilities.shape:
        shape = tuple(probabilities.shape)
        raise ValueError(f"expected probabilities (n, classes), at least one item, got {shape}")
    wrong = (probabilities < 0).any(1) | ~((probabilities.double().sum(1) - 1).abs() < 1e-2)
    if wrong.any():
        row = int(wrong.nonzero()[0])
        came = [round(value, 4) for value in probabilities[row, :6].tolist()]
        raise ValueError(
            f"expected probabilities that sum to 1, got {came} in row {row}; of scores, take softmax"
        )


def _class_counts(predicted: Tensor, truth: Tensor, classes: int) -> tuple[Tensor, Tensor, Tensor]:
    """Items rightly predicted as the class, predicted as it, and of it: three times int64 (classes,)."""
    check_labels(predicted, truth, name="predicted")
    if classes < 1:
        raise ValueError(f"expected at least one class, got {classes}")
    return _count(truth[predicted == truth], classes), _count(predicted, classes), _count(truth, classes)


def _count(labels: Tensor, classes: int) -> Tensor:
    labels = labels.long()
    return labels[(labels >= 0) & (labels < classes)].bincount(minlength=classes)


def _ratio(part: Tensor, total: Tensor) -> Tensor:
    return part.double() / total.clamp(min=1).double()
