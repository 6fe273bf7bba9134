"""The part of the catalogue about mistakes that a tree of classes grades."""

from samekind.measures.measure import Measure, Sentence

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
