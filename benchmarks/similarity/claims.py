"""What the two papers claim that these runs can speak to."""

from grids.claims import Claim, Side

from samekind.evaluation.cosine_references import CENTRED, NORMALISED

STRICT = "minDCF at 1%"
LEARNED, COSINE, FUSED = (Side("verification", kind) for kind in ("similarity", "cosine", "fused"))
BASELINE, PROTOTYPICAL = Side("triplet", "cosine"), Side("prototypical", "similarity")
DENSE, BOTH = Side("prototypical", "auxiliary"), Side("prototypical", "fused")
IN_ITS_PLACE = Side("prototypical-cosine", "similarity")
ALONE = Side("verification-alone", "similarity")

CLAIMS = (
    Claim(
        "The learned score tells pairs better than the cosine of the same embeddings.",
        "EER, learned - cosine",
        "EER",
        LEARNED,
        COSINE,
        primary=True,
    ),
    Claim("The same, by the area under the curve.", "1 - AUC, learned - cosine", "1 - AUC", LEARNED, COSINE),
    Claim(
        "The same at strict thresholds.",
        "minDCF at 1%, learned - cosine",
        STRICT,
        LEARNED,
        COSINE,
    ),
    *(
        Claim(
            f"The learned score tells pairs better than the {reference}.",
            f"EER, learned - {reference}",
            "EER",
            LEARNED,
            Side("verification", reference),
        )
        for reference in (CENTRED, NORMALISED)
    ),
    Claim("The two fused are better than the cosine.", "EER, fused - cosine", "EER", FUSED, COSINE),
    Claim(
        "The learned score is better than a triplet baseline with the same encoder.",
        "EER, learned - triplet",
        "EER",
        LEARNED,
        BASELINE,
    ),
    Claim(
        "The same, by the area under the curve.",
        "1 - AUC, learned - triplet",
        "1 - AUC",
        LEARNED,
        BASELINE,
    ),
    Claim(
        "The same at strict thresholds.",
        "minDCF at 1%, learned - triplet",
        STRICT,
        LEARNED,
        BASELINE,
    ),
    Claim(
        "The cosine of a space trained with the learned score is better than the triplet baseline.",
        "EER, cosine - triplet",
        "EER",
        COSINE,
        BASELINE,
    ),
    Claim(
        "With one hidden layer the learned score is on a par with the triplet baseline (within 0.2 points).",
        "EER, depth 1 - triplet",
        "EER",
        Side("verification-depth-1", "similarity"),
        BASELINE,
        within=0.2,
    ),
    Claim(
        "Three hidden layers are better than one.",
        "EER, depth 3 - depth 1",
        "EER",
        LEARNED,
        Side("verification-depth-1", "similarity"),
    ),
    Claim(
        "The auxiliary term helps the learned score.",
        "EER, with - without",
        "EER",
        LEARNED,
        ALONE,
    ),
    Claim(
        "Without the auxiliary term, too, the learned score tells pairs better than the cosine.",
        "EER, learned - cosine",
        "EER",
        ALONE,
        Side("verification-alone", "cosine"),
    ),
    Claim(
        "The similarity classifies as well as the dense layer beside it (within 0.3 points).",
        "accuracy, learned - dense layer",
        "accuracy",
        PROTOTYPICAL,
        DENSE,
        better="higher",
        within=0.3,
    ),
    Claim(
        "The two heads together classify better than the dense layer.",
        "accuracy, fused - dense layer",
        "accuracy",
        BOTH,
        DENSE,
        better="higher",
    ),
    Claim(
        "The network classifies better than the cosine in its place.",
        "accuracy, network - cosine",
        "accuracy",
        PROTOTYPICAL,
        IN_ITS_PLACE,
        better="higher",
    ),
    Claim(
        "The network tells pairs better than the cosine in its place.",
        "EER, network - cosine",
        "EER",
        PROTOTYPICAL,
        IN_ITS_PLACE,
    ),
    Claim(
        "The same, by the area under the curve.",
        "1 - AUC, network - cosine",
        "1 - AUC",
        PROTOTYPICAL,
        IN_ITS_PLACE,
    ),
    Claim(
        "The network finds neighbours better than the cosine in its place.",
        "Recall@1, network - cosine",
        "Recall@1",
        PROTOTYPICAL,
        IN_ITS_PLACE,
        better="higher",
    ),
    Claim(
        "Running averages are better prototypes than those trained by SGD.",
        "accuracy, averages - trained",
        "accuracy",
        PROTOTYPICAL,
        Side("prototypical-learned-prototypes", "similarity"),
        better="higher",
    ),
    Claim(
        "The auxiliary term helps the prototypical classifier.",
        "accuracy, with - without",
        "accuracy",
        PROTOTYPICAL,
        Side("prototypical-alone", "similarity"),
        better="higher",
    ),
)
