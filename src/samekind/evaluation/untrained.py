"""The encoder before training, as a reference: nearest neighbour, nearest mean, logistic regression, cosines.

The reference of a space whose encoder began with weights that were learned elsewhere. A space that does not
beat it was not worth the training.
"""

from collections.abc import Callable, Mapping
from itertools import permutations

import torch
from torch import Tensor, nn

from samekind.data import Items, draw
from samekind.encoders.freezing import came_with_weights
from samekind.errors import PackageError
from samekind.evaluation.beside_known import few_shot_beside_known
from samekind.evaluation.retrieval import retrieval
from samekind.evaluation.rows import REFERENCE, Row, noted
from samekind.evaluation.samples import mean_sample, rows_of
from samekind.evaluation.verification import verification
from samekind.inference.embed import embed_by
from samekind.measures import catalogue
from samekind.measures.catalogue import ACCURACY, EER, recall
from samekind.prototypes import SupportMeans, class_means
from samekind.similarities import Cosine
from samekind.similarities.distances import unit_vectors
from samekind.space import MetricSpace
from samekind.training import Run
from samekind.training.build import build_encoder
from samekind.training.checkpoints import random_states_kept
from samekind.training.own_encoder import GIVEN

#: How the kinds of these rows end.
UNTRAINED = "of untrained features"
#: Items to fit to, and items of a set to ask about, at most: more would take minutes.
MOST_KNOWN, MOST_ASKED = 20_000, 5_000
#: The regularisations that are tried by cross-validation, and how many items it takes at most.
STRENGTHS, MOST_VALIDATED = (0.01, 0.1, 1.0), 2000
#: Items that the space of a run is built with.
SAMPLE = 16

WITHOUT_PACKAGE = (
    "the untrained encoder cannot be built here, so the space is compared with the nearest raw input: {why}"
)


class Features(nn.Module):
    """The input of the last layer of an encoder, as its embedding."""

    def __init__(self, encoder: nn.Module) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, x: Tensor) -> Tensor:
        features: Callable[[Tensor], Tensor] = getattr(self.encoder, "features", self.encoder)
        return features(x)


def untrained_encoder(run: Run | None, items: Items) -> tuple[Features | None, str]:
    """The encoder of a run as it was before the training, and a sentence if it cannot be built here.

    None without a run, for an encoder of the user's own, and for one that began with random weights.
    """
    if run is None or run.space.encoder.name == GIVEN:
        return None, ""
    few = items.take(torch.arange(min(len(items), SAMPLE)))
    try:
        with random_states_kept():
            encoder = build_encoder(run, few)
    except PackageError as error:
        return None, WITHOUT_PACKAGE.format(why=error)
    return (Features(encoder).eval(), "") if came_with_weights(encoder) else (None, "")


def untrained_references(
    encoder: nn.Module,
    train: Items,
    sets: Mapping[str, Items],
    *,
    way: int = 5,
    shot: int = 5,
    tasks: int = 600,
    seed: int = 0,
) -> list[Row]:
    """The rows of an encoder that was not trained, for named sets of items.

    "accuracy", if all classes of a set were trained on: of the nearest training item and of the nearest mean
    of a class, by the cosine, and of a logistic regression on standardised features, its regularisation
    chosen by cross-validation. "Recall@1" and "EER": by the cosine, and by the cosine of features less the
    mean of the training items. "5-way 5-shot harmonic mean", if there are sets of known and of new classes:
    as `few_shot_beside_known`, by the cosine with the mean of each class, as it is and centred. At most
    20,000 training items and 5,000 items of a set are used.
    """
    references = draw(train, most=MOST_KNOWN, seed=seed, balanced=False)
    z = embed_by(encoder, references.inputs)
    names = [references.classes[label] for label in references.labels.tolist()]
    rows: list[Row] = []
    full_sets: dict[str, tuple[Items, Tensor]] = {}
    for name, items in sets.items():
        queries = draw(items, most=MOST_ASKED, seed=seed, balanced=False)
        asked_z = embed_by(encoder, queries.inputs)
        note = "" if len(queries) == len(items) else f"of {len(queries):,} items drawn"
        truth = [queries.classes[label] for label in queries.labels.tolist()]
        if set(truth) <= set(names):
            accuracies = _accuracies(z, references, asked_z, truth, name=name, seed=seed)
            rows += [noted(row, note) for row in accuracies]
        if len(queries) == len(items):
            rows += _unlabelled(z.mean(0), items, asked_z, name=name, seed=seed)
            full_sets[name] = (items, asked_z)
    for centre, kind in ((torch.zeros_like(z[0]), "nearest mean"), (z.mean(0), "nearest centred mean")):
        moved = {name: (items, vectors - centre) for name, (items, vectors) in full_sets.items()}
        beside = _beside_known(z - centre, references, moved, way=way, shot=shot, tasks=tasks, seed=seed)
        rows += [row._replace(question=REFERENCE, kind=f"{kind} {UNTRAINED}") for row in beside]
    return rows


def _beside_known(
    z: Tensor,
    known: Items,
    sets: Mapping[str, tuple[Items, Tensor]],
    *,
    way: int,
    shot: int,
    tasks: int,
    seed: int,
) -> list[Row]:
    """How often new classes and known ones are named rightly by the nearest mean, for all pairs of sets."""
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=z.shape[1])).eval()
    means, present = class_means(z, known.labels.cpu(), len(known.classes))
    names = [known.classes[place] for place in present.nonzero().flatten().tolist()]
    space.prototypes.assign(names, means[present, None])
    rows: list[Row] = []
    for one, other in permutations(sets, 2):
        rows += few_shot_beside_known(
            space,
            *sets[one],
            *sets[other],
            name=f"{one}, {other}",
            way=way,
            shots=(shot,),
            tasks=tasks,
            seed=seed,
        )
    family = catalogue.few_shot_beside_known(way, shot, "harmonic mean").family
    return [row for row in rows if row.entry.family == family]


def _accuracies(
    z: Tensor, references: Items, query_z: Tensor, truth: list[str], *, name: str, seed: int
) -> list[Row]:
    """How often each way names the class of the items."""
    labels, units, queries = references.labels.cpu(), unit_vectors(z), unit_vectors(query_z)
    means, present = class_means(units, labels, len(references.classes))
    nearest_mean = (queries @ unit_vectors(means).T).masked_fill(~present, -torch.inf).argmax(1)
    nearest = torch.cat([(part @ units.T).argmax(1) for part in torch.split(queries, 512)])
    answers = {
        "nearest neighbour": labels[nearest],
        "nearest mean": nearest_mean,
        "logistic regression": _regression(z, labels, query_z, seed=seed),
    }
    place = {class_name: number for number, class_name in enumerate(references.classes)}
    expected = torch.tensor([place[class_name] for class_name in truth])
    samples = [
        mean_sample(
            REFERENCE, name, ACCURACY, f"{way} {UNTRAINED}", "items", (predicted == expected).double()
        )
        for way, predicted in answers.items()
    ]
    return rows_of(samples, seed=seed)


def _regression(z: Tensor, labels: Tensor, queries: Tensor, *, seed: int) -> Tensor:
    """The classes by a logistic regression on features in standard deviations."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold, cross_val_score
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    def model(strength: float) -> object:
        return make_pipeline(StandardScaler(), LogisticRegression(C=strength, max_iter=200, tol=1e-3))

    generator = torch.Generator().manual_seed(seed)
    rows = torch.randperm(len(z), generator=generator)[:MOST_VALIDATED]
    several = torch.bincount(labels[rows])[labels[rows]] > 2
    rows = rows[several]
    best = STRENGTHS[1]
    if len(torch.unique(labels[rows])) > 1:
        folds = StratifiedKFold(3, shuffle=True, random_state=seed)
        scores = {
            strength: cross_val_score(model(strength), z[rows].numpy(), labels[rows].numpy(), cv=folds).mean()
            for strength in STRENGTHS
        }
        best = max(scores, key=scores.__getitem__)
    if len(torch.unique(labels)) < 2:
        return labels[:1].expand(len(queries))
    classifier = model(best).fit(z.numpy(), labels.numpy())  # type: ignore[attr-defined]
    return torch.from_numpy(classifier.predict(queries.numpy()))


def _unlabelled(mean: Tensor, items: Items, z: Tensor, *, name: str, seed: int) -> list[Row]:
    """Recall@1 and the equal error by the cosine, as it is and centred."""
    plain = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=z.shape[1])).eval()
    rows: list[Row] = []
    for kind, vectors in {"cosine": z, "centred cosine": z - mean}.items():
        measured = [
            *retrieval(plain, items, vectors, name=name, ks=(1,), seed=seed),
            *verification(plain, items, vectors, name=name, seed=seed),
        ]
        rows += [
            row._replace(question=REFERENCE, kind=f"{kind} {UNTRAINED}")
            for row in measured
            if row.measure in (recall(1), EER)
        ]
    return rows
