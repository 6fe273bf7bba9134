"""What the two papers claim of unseen birds that these runs can speak to, each score at its best epoch."""

from grids.claims import Claim, Side

from samekind.evaluation.cosine_references import CENTRED, NORMALISED

RECALL, PRECISION, NMI, ORACLE = "Recall@1", "MAP@R", "NMI", "NMI from true means"
EER, STRICT = "EER", "minDCF at 1%"


def _better(
    sentence: str, first: tuple[str, str], second: tuple[str, str], *, measure: str = RECALL, words: str
) -> Claim:
    better = "lower" if measure in (EER, STRICT) else "higher"
    return Claim(sentence, f"{measure}, {words}", measure, Side(*first), Side(*second), better=better)


VERIFICATION, PROTOTYPICAL = "verification", "prototypical"


def _of_both(
    sentence: str, kinds: tuple[str, str], *, other: str = "", measure: str = RECALL, words: str
) -> list[Claim]:
    """A claim of each system: one kind of score is better than another, or than that of the ``other`` run."""
    return [
        _better(
            f"{sentence} ({system}).",
            (system, kinds[0]),
            (f"{system}{other}", kinds[1]),
            measure=measure,
            words=words,
        )
        for system in (PROTOTYPICAL, VERIFICATION)
    ]


CLAIMS = (
    *(
        _better(
            f"The learned score tells pairs better than the {reference} ({system}).",
            (system, "similarity"),
            (system, reference),
            measure=measure,
            words=f"learned - {reference}",
        )
        for system in (PROTOTYPICAL, VERIFICATION)
        for measure, references in ((EER, ("cosine", CENTRED, NORMALISED)), (STRICT, ("cosine",)))
        for reference in references
    ),
    *_of_both(
        "The learned score ranks better than the cosine beside it",
        ("similarity", "cosine"),
        measure=PRECISION,
        words="learned - cosine",
    ),
    *(
        claim
        for reference in (CENTRED, NORMALISED)
        for claim in _of_both(
            f"The learned score ranks better than the {reference}",
            ("similarity", reference),
            measure=PRECISION,
            words=f"learned - {reference}",
        )
    ),
    *_of_both(
        "The learned score finds more than the cosine beside it",
        ("similarity", "cosine"),
        words="learned - cosine",
    ),
    *_of_both("The two fused find more than the cosine", ("fused", "cosine"), words="fused - cosine"),
    _better(
        "Training brings the learned score above the untrained network's cosine (prototypical).",
        (PROTOTYPICAL, "similarity"),
        ("untrained", "similarity"),
        words="learned - untrained",
    ),
    _better(
        "Training brings the cosine of the embeddings above the untrained network's (prototypical).",
        (PROTOTYPICAL, "cosine"),
        ("untrained", "similarity"),
        words="cosine - untrained",
    ),
    _better(
        "The cosine of embeddings trained with the network finds more than the cosine trained in its place.",
        (PROTOTYPICAL, "cosine"),
        ("prototypical-cosine", "similarity"),
        words="cosine beside the network - cosine",
    ),
    _better(
        "The network finds more than the cosine trained in its place.",
        (PROTOTYPICAL, "similarity"),
        ("prototypical-cosine", "similarity"),
        words="network - cosine",
    ),
    _better(
        "Running averages are better prototypes than those trained by SGD.",
        (PROTOTYPICAL, "similarity"),
        ("prototypical-learned-prototypes", "similarity"),
        words="averages - trained",
    ),
    *_of_both(
        "The auxiliary term helps the learned score",
        ("similarity", "similarity"),
        other="-alone",
        words="with - without",
    ),
    *_of_both(
        "The auxiliary term helps the cosine of the embeddings",
        ("cosine", "cosine"),
        other="-alone",
        words="cosine, with - without",
    ),
    _better(
        "Groups given by the learned score agree more with the classes than those of k-means.",
        (VERIFICATION, "similarity"),
        (VERIFICATION, "embedding"),
        measure=NMI,
        words="by the score - k-means",
    ),
    _better(
        "The same from the means of the true classes, as the authors' code has it.",
        (VERIFICATION, "similarity"),
        (VERIFICATION, "embedding"),
        measure=ORACLE,
        words="by the score - nearest mean",
    ),
    _better(
        "The auxiliary term helps k-means.",
        (VERIFICATION, "embedding"),
        ("verification-alone", "embedding"),
        measure=NMI,
        words="with - without",
    ),
)
