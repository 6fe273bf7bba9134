"""What the measures mean, for a reader who meets them first in a report."""

from collections.abc import Iterable

_MEANINGS = {
    "accuracy": ("Accuracy", "the share of items whose class was named rightly."),
    "EER": (
        "EER",
        "equal error rate: the share of wrong answers about pairs at the threshold where same pairs are "
        "refused as often as different pairs are accepted; 50 % is guessing. Lower is better.",
    ),
    "AUC": (
        "AUC",
        "how often a random pair of one class scores above a random pair of two; 50 % is guessing.",
    ),
    "threshold": (
        "Accuracy at threshold",
        "the share of all pairs judged rightly at the threshold that was fixed on validation items before.",
    ),
    "Recall@": (
        "Recall@k",
        "the share of queries with an item of their own class among the k found most alike.",
    ),
    "-shot": (
        "N-way K-shot",
        "accuracy among N classes known from K examples each, averaged over many random tasks; "
        "± is the 95 % interval of that average.",
    ),
    "NMI": (
        "NMI",
        "normalised mutual information of classes and k-means groups: 0 if they have nothing to do with "
        "each other, 1 if they are the same.",
    ),
}


def meanings(measures: Iterable[str]) -> dict[str, str]:
    """Name and explanation of each measure that occurs; measures nobody explained are left out.

    >>> list(meanings(["Recall@1", "Recall@8", "NMI"]))
    ['Recall@k', 'NMI']
    """
    found = {}
    for measure in measures:
        for part in ("threshold", *_MEANINGS):
            if part in measure:
                name, words = _MEANINGS[part]
                found[name] = words
                break
    return found
