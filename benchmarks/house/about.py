"""What a space says about the test items: the four figures of the tables."""

from pathlib import Path
from typing import Any

import torch
from seen import embedded
from torch import Tensor

from samekind.data import Items, Sets, draw
from samekind.evaluation import few_shot_beside_known
from samekind.inference import all_trials, search
from samekind.measures import equal_error_rate
from samekind.similarities import Neighbourhood
from samekind.space import MetricSpace

#: Items of unseen classes that are searched in each other, and of these all pairs compared, at most; and
#: few-shot tasks.
MOST, COMPARED, TASKS = 6000, 2500, 100


def about(space: MetricSpace, sets: Sets, *, device: str, cache: Path | None = None) -> dict[str, Any]:
    """Accuracy on held-out items of seen classes; Recall@1 and EER on unseen classes (on the same held-out
    items where no class is unseen), by the kind of score that the space chose and by each kind; and items
    named rightly when classes are enrolled from five items beside the known ones. What networks make of the
    items is kept in the folder ``cache``.
    """
    space = space.to(device)
    known = embedded(space, sets.test, cache)
    names = [sets.test.classes[label] for label in sets.test.labels.tolist()]
    named_by = _named_rightly(space, known.to(device), names)
    items = asked(sets)
    z = embedded(space, items, cache)
    by_kind = {kind: of_pairs_and_neighbours(space, z, items, kind) for kind in space.kinds}
    result: dict[str, Any] = {
        "accuracy": named_by["discriminant" if space.discriminant is not None else "score"],
        "named by": named_by,
        "Recall@1": by_kind[space.kind_for("neighbours")]["Recall@1"],
        "EER": by_kind[space.kind_for("pairs")]["EER"],
        "by kind": by_kind,
        "numbers": z.shape[1],
    }
    if space.normalised is not None:
        result["gallery as cohort"] = _by_gallery(space, z, items)
    if sets.unseen is not None:
        rows = few_shot_beside_known(
            space, sets.test, known, items, z, name="unseen", shots=(5,), tasks=TASKS
        )
        result["beside known"] = {row.measure: row.value for row in rows}
    return result


def _named_rightly(space: MetricSpace, z: Tensor, names: list[str]) -> dict[str, float]:
    """The share of embeddings (n, d) that the space names rightly: by its discriminant, if it has one, and by
    the score alone.
    """
    own, shares = space.discriminant, {}
    for way in ("score",) if own is None else ("score", "discriminant"):
        space.discriminant = own if way == "discriminant" else None
        answers = space.classify(z).classes
        shares[way] = sum(one == other for one, other in zip(names, answers, strict=True)) / len(names)
    space.discriminant = own
    return shares


def _by_gallery(space: MetricSpace, z: Tensor, items: Items) -> dict[str, float]:
    """The same with the items themselves, which need no labels for it, in place of the space's cohort."""
    own = space.normalised
    assert isinstance(own, Neighbourhood)
    space.normalised = own.with_cohort(z)
    figures = of_pairs_and_neighbours(space, z, items, "normalised")
    space.normalised = own
    return figures


def asked(sets: Sets) -> Items:
    """The items that neighbours and pairs are asked about."""
    items = sets.test if sets.unseen is None else sets.unseen
    return draw(items, most=MOST, seed=0)


def of_pairs_and_neighbours(space: MetricSpace, z: Tensor, items: Items, kind: Any) -> dict[str, float]:
    labels = items.labels.cpu()
    nearest = search(space, z, z, k=1, kind=kind, same_items=True).indices[:, 0].cpu()
    few = torch.randperm(len(z), generator=torch.Generator().manual_seed(0))[:COMPARED]
    trials = all_trials(space, z[few.to(z.device)], items.labels[few], kind=kind)
    return {
        "Recall@1": float((labels[nearest] == labels).double().mean()),
        "EER": equal_error_rate(trials.scores, trials.same).rate,
    }


def cosine_figures(z: Tensor, labels: Tensor) -> dict[str, float]:
    """Recall@1 and EER by the cosine of vectors (n, d)."""
    z = torch.nn.functional.normalize(z.float(), dim=1)
    scores = z @ z.T
    few = torch.randperm(len(z), generator=torch.Generator().manual_seed(0))[:COMPARED]
    first, second = few[torch.triu_indices(len(few), len(few), 1)]
    rate = equal_error_rate(scores[first, second], labels[first] == labels[second]).rate
    scores.fill_diagonal_(-torch.inf)
    return {
        "Recall@1": float((labels[scores.argmax(1)] == labels).double().mean()),
        "EER": rate,
    }
