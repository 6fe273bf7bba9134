"""The cosine at its best, beside a learned score: centred, and normalised by a cohort.

A learned score that beats the plain cosine may only have learned where the embeddings lie. Both references
use that too, without training: one subtracts the mean of the known embeddings, the other is AS-norm with the
known embeddings as its cohort.
"""

from collections.abc import Sequence

from torch import Tensor, nn

from samekind.data import Items
from samekind.data.drawing import at_most
from samekind.evaluation.retrieval import RANKS, retrieval
from samekind.evaluation.rows import Measures, Row
from samekind.evaluation.verification import verification
from samekind.inference.cohort import TOP
from samekind.inference.fitting import COHORT
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, Neighbourhood, Similarity
from samekind.space import MetricSpace

#: The two references, as rows name them in place of a kind of score.
CENTRED, NORMALISED = "centred cosine", "AS-norm cosine"


def cosine_references(
    items: Items,
    z: Tensor,
    known: Tensor,
    *,
    name: str,
    ks: Sequence[int] = RANKS,
    measures: Measures = "main",
    seed: int = 0,
) -> list[Row]:
    """The rows of `verification` and `retrieval` by two better cosines of the embeddings ``z`` (n, d).

    ``known`` (m, d) are the embeddings of the training items. "centred cosine" subtracts their mean.
    "AS-norm cosine" has up to 2,000 of them, drawn by ``seed``, as its cohort.
    """
    known = known.to(z)
    cohort = known[at_most(len(known), COHORT, seed=seed)]
    top = min(TOP["as"], max(2, len(cohort) - 1))  # of a small cohort all are its closest
    plain = Neighbourhood(Cosine(), size=len(cohort), dimension=z.shape[1], neighbours=top, form="as")
    scorers: dict[str, tuple[Similarity, Tensor]] = {
        CENTRED: (Cosine(), z - known.mean(0)),
        NORMALISED: (plain.with_cohort(cohort), z),
    }
    rows: list[Row] = []
    for reference, (similarity, compared) in scorers.items():
        space = MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=z.shape[1])).eval().to(z.device)
        answered = [
            *verification(space, items, compared, name=name, measures=measures, seed=seed),
            *retrieval(space, items, compared, name=name, ks=ks, measures=measures, seed=seed),
        ]
        rows += [row._replace(kind=reference) for row in answered if row.kind == "similarity"]
    return rows
