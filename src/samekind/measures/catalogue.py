"""The catalogue: what each measure of an evaluation is called, which way is better, how its values are
written and what they mean.

To add a measure, write its function in this room, describe it here in one line, and test it. Everything
else (tables, sentences, the glossary, progress bars, which epoch is best) reads the `Measure`.
"""

import re
from collections.abc import Callable
from typing import Literal, get_args

from samekind.decisions import Kind
from samekind.measures.cluster_catalogue import CENTROID_SHIFT, CLUSTER_RADIUS, NEAREST_CENTROID
from samekind.measures.measure import Better, Measure, Sentence
from samekind.measures.tree_catalogue import (
    CENTROID_ACCURACY,
    CORRELATION,
    MAJORITY_ACCURACY,
    SEVERITY,
    average_similarity,
    class_named_at,
    correlation_of,
    hierarchical_distance,
    hierarchical_precision,
    hierarchical_similarity,
    right_at,
)

NAMED_RIGHTLY = "It names the right class for {}."

# --- Which class is it? ---------------------------------------------------------------------------

ACCURACY = Measure(
    "accuracy",
    "the share of items whose class was named rightly.",
    sentences={
        "classification": Sentence("{value} of {items} items", NAMED_RIGHTLY),
        "reference": Sentence(
            "{value} of {items} items",
            "The most alike training item, without training, has the right class for {}.",
        ),
    },
)
MACRO_F1 = Measure(
    "macro F1",
    "precision and recall of a class in one number, averaged over classes: each counts the same, however "
    "few items it has.",
)
MACRO_RECALL = Measure(
    "macro recall",
    "the share of a class's items that were given it, averaged over classes: each counts the same.",
)
ECE = Measure(
    "ECE",
    "calibration error: by how much the stated probability and the share of right answers differ. "
    "Lower is better.",
    better="lower",
)
UNCALIBRATED_ECE = Measure(
    "ECE, uncalibrated",
    "the calibration error there would be without the temperature that was fitted on validation items.",
    better="lower",
)

# --- Which class is it, or none of these? ---------------------------------------------------------

AUROC = Measure(
    "AUROC", "how often an item of a known class scores above one of an unknown class; 50 % is guessing."
)
_IDENTIFIED = (
    "detection and identification rate: the share of items of known classes that pass the threshold under "
    "their own class, while the given share of items of unknown classes passes too."
)
DIR_AT_THRESHOLD = Measure("DIR at threshold", _IDENTIFIED, family="DIR")
FALSE_ALARMS = Measure(
    "false alarms at threshold",
    "the share of items of unknown classes that are given a class. Lower is better.",
    better="lower",
)


def identification_rate(false_alarms: float) -> Measure:
    """DIR at a rate of false alarms: `identification_rate(0.01)` is "DIR at 1% FAR"."""
    rate = f"{100 * false_alarms:g}%"
    part = f"{{value}} of known items while {rate} of unknown ones pass for known"
    sentences = {"open set": Sentence(part, NAMED_RIGHTLY)}
    return Measure(f"DIR at {rate} FAR", _IDENTIFIED, family="DIR", sentences=sentences)


# --- Are these two the same kind? -----------------------------------------------------------------

EER = Measure(
    "EER",
    "equal error rate: the share of wrong answers about pairs at the threshold where same pairs are refused "
    "as often as different pairs are accepted; 50 % is guessing. Lower is better.",
    better="lower",
    sentences={
        "verification": Sentence(
            "{value} of {items} pairs", "It misjudges {}, both kinds of mistake being equally frequent."
        ),
        "claimed class": Sentence("{value} of claims about {items} items", "It misjudges {}."),
    },
)
AUC = Measure(
    "AUC", "how often a random pair of one class scores above a random pair of two; 50 % is guessing."
)
ACCURACY_AT_THRESHOLD = Measure(
    "accuracy at threshold",
    "the share of all pairs judged rightly at the threshold that was fixed on validation items before.",
)
FAR_AT_THRESHOLD = Measure(
    "FAR at threshold",
    "the share of different pairs that are accepted at the threshold fixed before. Lower is better.",
    better="lower",
)
FRR_AT_THRESHOLD = Measure(
    "FRR at threshold",
    "the share of same pairs that are refused at the threshold fixed before. Lower is better.",
    better="lower",
)
CLLR = Measure(
    "Cllr",
    "what the stated probabilities of same cost in bits; 1 is knowing nothing, and badly calibrated ones "
    "cost more than that. Lower is better.",
    better="lower",
    is_share=False,
)


def least_detection_cost(prior: float) -> Measure:
    """minDCF at a prior of "same": `least_detection_cost(0.01)` is "minDCF at 1%"."""
    return Measure(
        f"minDCF at {100 * prior:g}%",
        f"the least cost of both errors at any threshold when {100 * prior:g} % of all pairs are of one "
        "class; 1 is what saying nothing costs. Lower is better.",
        better="lower",
        is_share=False,
    )


# --- What is most like this? ----------------------------------------------------------------------

_R = "among the R nearest items (R = items of the query's class to find), the share that "
MAP_AT_R = Measure("MAP@R", f"{_R}are of that class, early ones counting more.")
R_PRECISION = Measure("R-precision", f"{_R}are of that class.")
RECALL_BY_CLASS = Measure(
    "Recall@1 by class",
    "the share of a class's queries whose most alike item is of that class, averaged over classes: each "
    "counts the same.",
)
KNN_ACCURACY = Measure(
    "kNN accuracy",
    "the share of queries with at least three of their own class among the five items found most alike.",
)
_RECALL_SENTENCES = {
    "retrieval": Sentence(
        "{value} of {items} items", "The item found most alike is of the same class for {}."
    ),
    "reference": Sentence("{value} of {items} items", "The most alike other item has it for {}."),
}


def recall(k: int) -> Measure:
    """Recall@k; the sentences are about the first item found."""
    return Measure(
        f"Recall@{k}",
        "the share of queries with an item of their own class among the k found most alike.",
        family="Recall@k",
        sentences=_RECALL_SENTENCES if k == 1 else {},
    )


def reciprocal_rank(k: int) -> Measure:
    """MRR@k."""
    return Measure(
        f"MRR@{k}",
        "mean reciprocal rank: one over the rank of the first item of the query's class, 0 if it is not "
        "among the k found most alike.",
        family="MRR@k",
        is_share=False,
    )


def average_precision_at(k: int) -> Measure:
    """MAP@k."""
    return Measure(
        f"MAP@{k}",
        "among the k items found most alike, the share that are of the query's class, early ones counting "
        "more; 100 % where all that can be are.",
        family="MAP@k",
    )


# --- A new class, from a few examples? ------------------------------------------------------------


def few_shot(way: int, shot: int) -> Measure:
    """Accuracy among ``way`` classes with ``shot`` examples each: "5-way 1-shot"."""
    sentences = {
        1: Sentence(
            f"{{value}} of the time among {way} {{items}} classes",
            "Given one example of each class, it is right {}.",
        ),
        5: Sentence("{value}", "Given five examples, {}."),
    }
    return Measure(
        f"{way}-way {shot}-shot",
        "accuracy among N classes known from K examples each, averaged over many random tasks.",
        family="N-way K-shot",
        sentences={"few-shot": sentences[shot]} if shot in sentences else {},
    )


_BESIDE_KNOWN = {
    "known": (
        "N new classes are enrolled from K examples each: the share of items of the classes known before "
        "that are still named rightly, averaged over many random tasks.",
        "With new classes enrolled, it still names the right class for {}.",
    ),
    "new": (
        "the share of items of the N enrolled classes that are named rightly, the known classes being "
        "possible answers too.",
        NAMED_RIGHTLY,
    ),
    "harmonic mean": (
        "of the shares of known and of new items named rightly in a task: high only where both are.",
        "",
    ),
}


def few_shot_beside_known(way: int, shot: int, items: Literal["known", "new", "harmonic mean"]) -> Measure:
    """Accuracy with new classes beside the known ones, of items of either, or their harmonic mean."""
    meaning, sentence_pattern = _BESIDE_KNOWN[items]
    whose = "known items" if items == "known" else f"items of {way} new classes"
    sentence = Sentence(f"{{value}} of {whose} ({shot}-shot)", sentence_pattern)
    return Measure(
        f"{way}-way {shot}-shot {items}",
        meaning,
        family=f"N-way K-shot {items}",
        sentences={"few-shot beside known": sentence} if sentence_pattern else {},
    )


# --- What groups are here? ------------------------------------------------------------------------

NMI = Measure(
    "NMI",
    "normalised mutual information of classes and k-means groups: 0 if they have nothing to do with each "
    "other, 1 if they are the same.",
    is_share=False,
    sentences={
        "clustering": Sentence(
            "{value} for {items} items",
            "Groups found without labels agree with the classes to {}, where 1 is perfect.",
        )
    },
)
AMI = Measure(
    "AMI",
    "NMI less what chance alone would give: about 0 for random groups, 1 for the classes.",
    is_share=False,
)
F1 = Measure("F1", "precision and recall of putting two items of one class into one group, in one number.")

# --- What remains when somebody changes the items? -------------------------------------------------

_ATTACKED: dict[str, tuple[str, Better]] = {
    "adversarial accuracy": (
        "the share of items that keep their right class while an attack may move each by at most epsilon. "
        "An upper bound: a better attack may find less.",
        "higher",
    ),
    "Voronoi adversarial accuracy": (
        "the same where the attack must stay nearer to the item than to any other: with a larger epsilon it "
        "is not asked to keep the class of its neighbours.",
        "higher",
    ),
    "adversarial EER": (
        "the equal error rate when an attack may move one item of every pair by at most epsilon. Lower is "
        "better.",
        "lower",
    ),
    "adversarial Recall@1": (
        "the share of queries whose most alike item is still of their own class while an attack may move the "
        "query by at most epsilon.",
        "higher",
    ),
    "certified accuracy": (
        "the share of items that a space smoothed by noise names rightly, and surely still does if they are "
        "moved by less than this distance (l2), whatever the attack.",
        "higher",
    ),
    "attack success on enrolment": (
        "of items that are named rightly, the share that is not once an attack may move the example that a "
        "class is enrolled from by at most epsilon. Lower is better.",
        "lower",
    ),
}
GLOBAL_ROBUSTNESS = Measure(
    "global robustness",
    "the Voronoi adversarial accuracy without a limit to epsilon; the nearest neighbour has 100 %.",
)


def attacked(name: str, epsilon: str) -> Measure:
    """A measure against attacks of a size: `attacked("adversarial accuracy", "8/255")`."""
    meaning, better = _ATTACKED[name]
    return Measure(f"{name} at {epsilon}", meaning, better=better, family=name)


# --- From a name back to the measure --------------------------------------------------------------

#: What a run can measure after an epoch, but for what has a rank or a kind of score in its name.
_OF_EPOCHS = (EER, KNN_ACCURACY, MAP_AT_R, NMI, CORRELATION, NEAREST_CENTROID, CLUSTER_RADIUS, CENTROID_SHIFT)
#: All single measures above, and those of `cluster_catalogue` and `tree_catalogue`, by name.
MEASURES: dict[str, Measure] = {
    measure: measure
    for measure in (*globals().values(), *_OF_EPOCHS, SEVERITY, CENTROID_ACCURACY, MAJORITY_ACCURACY)
    if isinstance(measure, Measure)
}

#: The families: what their names look like in a stored evaluation, and the function that makes a member.
_FAMILIES: dict[str, Callable[..., Measure]] = {
    r"Recall@(\d+)": lambda k: recall(int(k)),
    r"MRR@(\d+)": lambda k: reciprocal_rank(int(k)),
    r"MAP@(\d+)": lambda k: average_precision_at(int(k)),
    r"AHD@(\d+)": lambda k: hierarchical_distance(int(k)),
    r"HP@(\d+)": lambda k: hierarchical_precision(int(k)),
    r"HS@(\d+)": lambda k: hierarchical_similarity(int(k)),
    r"AHS@(\d+)": lambda k: average_similarity(int(k)),
    r"mean correlation of (.+)": lambda subject: correlation_of(subject),
    r"right at (.+)%": lambda level: right_at(float(level) / 100),
    r"class named at (.+)%": lambda level: class_named_at(float(level) / 100),
    r"DIR at (.+)% FAR": lambda rate: identification_rate(float(rate) / 100),
    r"minDCF at (.+)%": lambda prior: least_detection_cost(float(prior) / 100),
    r"(\d+)-way (\d+)-shot": lambda way, shot: few_shot(int(way), int(shot)),
    r"(\d+)-way (\d+)-shot (known|new|harmonic mean)": lambda way, shot, items: few_shot_beside_known(
        int(way), int(shot), items
    ),
    rf"({'|'.join(map(re.escape, _ATTACKED))}) at (.+)": attacked,
}

#: The scores by which a run measures the EER, Recall@k and MAP@R after each epoch.
_BY_SCORE = rf"(\S+) ({'|'.join((*get_args(Kind), 'best'))})"


def measure_named(name: str) -> Measure:
    """The measure with this name, for rows of a stored evaluation. An unknown name is taken for a share of
    which more is better.

    >>> measure_named("NMI").is_share, measure_named("5-way 1-shot").family
    (False, 'N-way K-shot')
    """
    if isinstance(name, Measure):
        return name
    if name in MEASURES:
        return MEASURES[name]
    for pattern, member in _FAMILIES.items():
        if match := re.fullmatch(pattern, name):
            return member(*match.groups())
    return Measure(name)


def of_epoch(key: str) -> Measure | None:
    """The measure that run files and records call ``key``, if every run can measure it after an epoch. None
    for a measure defined by the user.

    >>> of_epoch("recall@4 cosine"), of_epoch("nmi").better, of_epoch("recall loss")
    ('Recall@4 cosine', 'higher', None)
    """
    if match := re.fullmatch(_BY_SCORE, key):
        measure = of_epoch(match[1])
        return (
            measure.variant(match[2])
            if measure is not None and measure.family in ("EER", "Recall@k", "MAP@R")
            else None
        )
    if match := re.fullmatch(r"recall@(\d+)", key):
        return recall(int(match[1]))
    if match := re.fullmatch(r"(ahd|hp)@(\d+)", key):
        return {"ahd": hierarchical_distance, "hp": hierarchical_precision}[match[1]](int(match[2]))
    return {measure.key: measure for measure in _OF_EPOCHS}.get(key)


def write_epoch(key: str, value: float) -> str:
    """A value of an epoch with the name of its measure. Measures defined by the user have four decimals.

    >>> write_epoch("nmi", 0.7935), write_epoch("eer cosine", 0.125), write_epoch("mine", 3.0)
    ('NMI 0.793', 'EER cosine 12.50%', 'mine 3.0000')
    """
    measure = of_epoch(key)
    return f"{key} {value:.4f}" if measure is None else f"{measure} {measure.write(value)}"
