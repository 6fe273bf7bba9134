"""What the measures mean, for a reader who meets them first in a report."""

from collections.abc import Iterable

#: By a part of the measure's name; the first that fits is meant.
_MEANINGS = {
    "accuracy at threshold": (
        "Accuracy at threshold",
        "the share of all pairs judged rightly at the threshold that was fixed on validation items before.",
    ),
    "accuracy": ("Accuracy", "the share of items whose class was named rightly."),
    "macro F1": (
        "Macro F1",
        "precision and recall of a class in one number, averaged over classes: each counts the same, "
        "however few items it has.",
    ),
    "ECE, uncalibrated": (
        "ECE, uncalibrated",
        "the calibration error there would be without the temperature that was fitted on validation items.",
    ),
    "ECE": (
        "ECE",
        "calibration error: by how much the stated probability and the share of right answers differ. "
        "Lower is better.",
    ),
    "DIR": (
        "DIR",
        "detection and identification rate: the share of items of known classes that pass the threshold "
        "under their own class, while the given share of items of unknown classes passes too.",
    ),
    "false alarms": (
        "False alarms at threshold",
        "the share of items of unknown classes that are given a class. Lower is better.",
    ),
    "AUROC": (
        "AUROC",
        "how often an item of a known class scores above one of an unknown class; 50 % is guessing.",
    ),
    "EER": (
        "EER",
        "equal error rate: the share of wrong answers about pairs at the threshold where same pairs are "
        "refused as often as different pairs are accepted; 50 % is guessing. Lower is better.",
    ),
    "AUC": (
        "AUC",
        "how often a random pair of one class scores above a random pair of two; 50 % is guessing.",
    ),
    "minDCF": (
        "minDCF at 1%",
        "the least cost of both errors at any threshold when 1 pair in 100 is of one class; 1 is what saying "
        "nothing costs. Lower is better.",
    ),
    "Cllr": (
        "Cllr",
        "what the stated probabilities of same cost in bits; 1 is knowing nothing, and badly calibrated ones "
        "cost more than that. Lower is better.",
    ),
    "FAR at": (
        "FAR at threshold",
        "the share of different pairs that are accepted at the threshold fixed before. Lower is better.",
    ),
    "FRR at": (
        "FRR at threshold",
        "the share of same pairs that are refused at the threshold fixed before. Lower is better.",
    ),
    "Recall@": (
        "Recall@k",
        "the share of queries with an item of their own class among the k found most alike.",
    ),
    "MAP@R": (
        "MAP@R",
        "of the R items found most alike, where R is how many of its class a query could find, the share "
        "that are of its class, early ones counting more.",
    ),
    "R-precision": (
        "R-precision",
        "of the R items found most alike, where R is how many of its class a query could find, the share "
        "that are of its class.",
    ),
    "kNN accuracy": (
        "kNN accuracy",
        "the share of queries with at least three of their own class among the five items found most alike.",
    ),
    "-shot known": (
        "N-way K-shot known",
        "N new classes are enrolled from K examples each: the share of items of the classes known before "
        "that are still named rightly, averaged over many random tasks.",
    ),
    "-shot new": (
        "N-way K-shot new",
        "the share of items of the N enrolled classes that are named rightly, the known classes being "
        "possible answers too.",
    ),
    "-shot harmonic mean": (
        "N-way K-shot harmonic mean",
        "of the shares of known and of new items named rightly in a task: high only where both are.",
    ),
    "-shot": (
        "N-way K-shot",
        "accuracy among N classes known from K examples each, averaged over many random tasks.",
    ),
    "NMI": (
        "NMI",
        "normalised mutual information of classes and k-means groups: 0 if they have nothing to do with "
        "each other, 1 if they are the same.",
    ),
    "AMI": ("AMI", "NMI less what chance alone would give: about 0 for random groups, 1 for the classes."),
    "F1": ("F1", "precision and recall of putting two items of one class into one group, in one number."),
}


def meanings(measures: Iterable[str]) -> dict[str, str]:
    """Name and explanation of each measure that occurs; measures nobody explained are left out.

    >>> list(meanings(["Recall@1", "Recall@8", "NMI"]))
    ['Recall@k', 'NMI']
    """
    found = {}
    for measure in measures:
        part = next((each for each in _MEANINGS if each in measure), None)
        if part is not None:
            name, words = _MEANINGS[part]
            found[name] = words
    return found
