"""The part of the catalogue about mistakes that a tree of classes grades, and about unknown classes."""

from samekind.measures.measure import Measure, Sentence

CENTROID_ACCURACY = Measure(
    "centroid accuracy",
    "the share of items of unknown classes whose own class has the most similar mean, the item left out.",
)
MAJORITY_ACCURACY = Measure(
    "5-NN accuracy",
    "the share of items of unknown classes whose class is the most frequent among their five most similar.",
)
SEVERITY = Measure(
    "severity of mistakes",
    "the steps in the tree from an item's class to the one it was given, over items with a wrong one; a "
    "sibling is two steps away. Lower is better.",
    better="lower",
    is_share=False,
    sentences={"tree": Sentence("{value} steps for {items} items", "A wrong class is away by {}.")},
)
CORRELATION = Measure(
    "mean correlation",
    "whether classes that are near in the tree are near in the space: the rank correlation of the distances, "
    "averaged over classes; 0 is none. Ties in the tree keep it below 1.",
    is_share=False,
)


def hierarchical_distance(k: int) -> Measure:
    """AHD@k."""
    return Measure(
        f"AHD@{k}",
        "average hierarchical distance: the steps in the tree from an item's class to the k that are named "
        "first. Lower is better.",
        better="lower",
        is_share=False,
        family="AHD@k",
    )


def hierarchical_precision(k: int) -> Measure:
    """HP@k."""
    return Measure(
        f"HP@{k}",
        "hierarchical precision: of the k classes named first, the share among the k nearest in the tree, "
        "those just as near included.",
        family="HP@k",
    )


def hierarchical_similarity(k: int) -> Measure:
    """HS@k."""
    return Measure(
        f"HS@{k}",
        "hierarchical similarity: how near in the tree the k items found most alike are, as a share of what "
        "the best k would reach.",
        family="HS@k",
    )


def average_similarity(k: int) -> Measure:
    """AHS@k."""
    return Measure(f"AHS@{k}", "HS at 1, 2, … k, averaged: the area under its curve.", family="AHS@k")


def correlation_of(subject: str) -> Measure:
    """The mean correlation of proxies, prototypes or another subject; the plain one for an empty text."""
    return CORRELATION.variant(f"of {subject}") if subject else CORRELATION


def right_at(level: float) -> Measure:
    """The share of right answers for a wanted level: "right at 95%"."""
    return Measure(
        f"right at {100 * level:g}%",
        "answers may be groups of the tree where the class is unsure: the share that is right, which should "
        "be the wanted one.",
        family="right at a level",
    )


def class_named_at(level: float) -> Measure:
    """The share of answers that are a class: "class named at 95%"."""
    return Measure(
        f"class named at {100 * level:g}%",
        "the share of these answers that name a class, and not a group of classes.",
        family="class named at a level",
    )
