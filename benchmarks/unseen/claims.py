"""What the paper claims that these runs can speak to, and the aims of this page."""

from grid import LOSSES, called
from grids.claims import Claim, Side

from samekind.recipes.unseen import Extension

RECALL, OWN = "Recall@1", "similarity"
#: The paper's best Recall@1 on these birds, Proxy-NCA with the soft adversary; and what its extensions gain.
BEST_PUBLISHED, GAIN = 58.1, 4.0
WORDS = {
    "energy": "energy confusion",
    "soft-adv": "attention and the soft adversary",
    "adapt-adv": "attention and the adaptive adversary",
}


def _side(variant: str) -> Side:
    return Side(variant, OWN)


def _over_all(
    first: Extension, second: Extension, sentence: str, *, by: float = 0.0, primary: bool = False
) -> Claim:
    """The difference of two extensions, in the mean of all losses."""
    pairs = [(_side(called(loss, first)), _side(called(loss, second))) for loss in LOSSES]
    return Claim(
        sentence,
        f"{RECALL}, {first} - {second}, mean of three losses",
        RECALL,
        *pairs[0],
        better="higher",
        by=by,
        more=tuple(pairs[1:]),
        primary=primary,
    )


def _of_one(first: str, second: str, sentence: str, *, by: float = 0.0, measure: str = RECALL) -> Claim:
    return Claim(
        sentence,
        f"{measure}, {first} - {second}",
        measure,
        _side(first),
        _side(second),
        better="higher",
        by=by,
    )


CLAIMS = (
    *(
        _over_all(
            extension,
            "base",
            f"With {words} a loss recalls more than alone.",
            primary=extension == "adapt-adv",
        )
        for extension, words in reversed(WORDS.items())
    ),
    *(
        _over_all(extension, "base", f"With {WORDS[extension]} it is more by {GAIN:g} points.", by=GAIN)
        for extension in ("soft-adv", "adapt-adv")
    ),
    _over_all("adapt-adv", "soft-adv", "The adaptive adversary is better than the soft one."),
    *(
        _of_one(
            called(loss, extension),
            called(loss, "base"),
            f"With {WORDS[extension]} {loss} recalls {GAIN:g} points more than alone.",
            by=GAIN,
        )
        for loss in LOSSES
        for extension in ("soft-adv", "adapt-adv")
    ),
    *(
        _of_one(
            f"{called(loss, 'base')}-from-pca",
            start,
            f"{loss} trained from {words} recalls more than {beside}.",
        )
        for loss in LOSSES
        for start, words, beside in (
            (called(loss, "base"), "principal directions", "from a random layer"),
            ("untrained-lite0-pca-64", "principal directions", "these without training"),
        )
    ),
    _of_one("triplet-attention", "triplet-base", "Attention alone raises the recall of triplets."),
    _of_one("triplet-adversary", "triplet-base", "The adversary alone raises the recall of triplets."),
    _of_one("triplet-adapt-adv", "triplet-attention", "The adversary helps beside attention."),
    _of_one("triplet-adapt-adv", "triplet-adversary", "Attention helps beside the adversary."),
    *(
        Claim(
            f"{variant} passes the paper's best, {BEST_PUBLISHED}.",
            f"{RECALL} - {BEST_PUBLISHED}",
            RECALL,
            _side(variant),
            BEST_PUBLISHED,
            better="higher",
        )
        for variant in ("proxy-anchor-512-lite2", "proxy-anchor-512-lite2-full")
    ),
)
