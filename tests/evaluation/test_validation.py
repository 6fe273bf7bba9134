"""What a training run is told: the measures of each family that is asked for, worked out again by loops."""

from dataclasses import replace

import pytest
import torch

from samekind.data import Items, clusters
from samekind.encoders import MLP
from samekind.errors import DataError, SettingError
from samekind.evaluation import retrieval, validation, verification
from samekind.evaluation.validation import FAMILIES, MEASURES
from samekind.inference import embed
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace
from samekind.training.run import VALIDATIONS, Run
from samekind.training.tables import Part, Parts, Term

ITEMS = clusters(classes=3, items=5, dimension=3, spread=0.8)


def a_space(similarity=None):
    torch.manual_seed(0)
    encoder = MLP(inputs=3, dimension=4, hidden=[8], dropout=0.5)
    return MetricSpace(
        encoder, similarity or PairsNetwork(dimension=4, hidden=8, dropout=0.5), SupportMeans(dimension=4)
    )


def test_the_rates_are_those_of_the_verification_and_the_first_is_the_similaritys():
    space = a_space().eval()
    rows = verification(space, ITEMS, embed(space, ITEMS.inputs), name="validation")
    expected = {f"eer {row.kind}": row.value for row in rows if row.measure == "EER"}
    measures = validation(ITEMS)(space)
    assert measures == {
        "eer": expected["eer similarity"],
        **expected,
        "eer best": min(expected.values()),
    }
    assert list(measures) == ["eer", "eer similarity", "eer cosine", "eer fused", "eer best"]
    assert len(set(expected.values())) > 1


def test_a_space_with_one_kind_of_score_has_one_rate():
    measures = validation(ITEMS)(a_space(Cosine()))
    assert measures["eer"] == measures["eer similarity"] == measures["eer best"]
    assert len(measures) == 3


def test_clusters_by_hand():
    """On the sphere, where the cosine compares; the shift is that of the means since the call before."""
    space, validate = a_space(Cosine()).eval(), validation(ITEMS, ("clusters",))
    z = torch.nn.functional.normalize(embed(space, ITEMS.inputs), dim=1)
    means = torch.stack([z[ITEMS.labels == label].mean(0) for label in range(3)])
    radii = [(z[ITEMS.labels == label] - means[label]).norm(dim=1).mean() for label in range(3)]
    first = validate(space)
    assert first["cluster radius"] == pytest.approx(float(sum(radii)) / 3, rel=1e-5)
    nearest = torch.cdist(z, means).argmin(1)
    assert first["nearest-centroid accuracy"] == pytest.approx(
        float((nearest == ITEMS.labels).double().mean())
    )
    assert first.keys() == {"nearest-centroid accuracy", "cluster radius"}
    assert validate(space)["centroid shift"] == 0
    with torch.no_grad():
        for weights in space.encoder.parameters():
            weights += 0.1
    moved = torch.nn.functional.normalize(embed(space, ITEMS.inputs), dim=1)
    others = torch.stack([moved[ITEMS.labels == label].mean(0) for label in range(3)])
    shift = validate(space)["centroid shift"]
    assert shift == pytest.approx(float((others - means).norm(dim=1).mean()), rel=1e-5)
    assert shift > 0.01


def test_a_space_in_training_mode_is_measured_in_evaluation_mode():
    """Dropout in the encoder or in the similarity would choose the best epoch by lot."""
    validate = validation(ITEMS)
    at_rest = validate(a_space().eval())
    space = a_space().train()
    assert [validate(space) for _ in range(3)] == [at_rest] * 3
    assert all(module.training for module in space.modules())


def test_clear_classes_cost_nothing():
    items = clusters(classes=3, items=4, dimension=3, spread=0)
    assert validation(items)(a_space(Cosine()))["eer"] == pytest.approx(0)


# --- retrieval ------------------------------------------------------------------------------------


def ranked_labels(space, kind):
    """The labels of all other items by score, best first, item by item."""
    z = embed(space, ITEMS.inputs)
    with torch.no_grad():
        scores = space.score_all(z, z, kind=kind)
    ranked = []
    for item in range(len(z)):
        others = [number for number in range(len(z)) if number != item]
        others.sort(key=lambda other: -float(scores[item, other]))
        ranked.append([int(ITEMS.labels[other]) for other in others])
    return ranked


def by_loops(space, kind):
    ranked, labels = ranked_labels(space, kind), ITEMS.labels.tolist()
    pairs = list(zip(ranked, labels, strict=True))
    measures = {f"recall@{k}": sum(own in row[:k] for row, own in pairs) / len(pairs) for k in (1, 2, 4, 8)}
    measures["knn accuracy"] = sum(row[:5].count(own) >= 3 for row, own in pairs) / len(pairs)
    measures["map@r"] = sum(precision_of(row, own) for row, own in pairs) / len(pairs)
    return measures


def precision_of(row, own):
    """The mean over the first R ranks of the precision there, where the rank is a hit."""
    count = row.count(own)
    hits = [rank for rank in range(count) if row[rank] == own]
    return sum(row[: rank + 1].count(own) / (rank + 1) for rank in hits) / count


def test_recall_is_by_the_similarity_and_two_measures_are_by_every_kind():
    space = a_space().eval()
    every = {kind: by_loops(space, kind) for kind in space.kinds}
    expected = every["similarity"]
    for name in ("recall@1", "map@r"):
        values = {kind: measures[name] for kind, measures in every.items()}
        expected |= {f"{name} {kind}": value for kind, value in values.items()}
        expected[f"{name} best"] = max(values.values())
        assert len(set(values.values())) > 1
    assert validation(ITEMS, ("retrieval",))(space) == pytest.approx(expected)


FIRSTS = ("recall@1 similarity", "recall@1 best", "map@r", "map@r similarity", "map@r best")


def test_ranks_beyond_the_number_of_items_are_left_out():
    few = clusters(classes=2, items=3, dimension=3)
    measures = validation(few, ("retrieval",))(a_space(Cosine()))
    assert list(measures) == ["recall@1", "recall@2", "recall@4", "knn accuracy", *FIRSTS]
    fewer = clusters(classes=2, items=2, dimension=3)
    assert list(validation(fewer, ("retrieval",))(a_space(Cosine()))) == [
        "recall@1",
        "recall@2",
        *FIRSTS,
    ]


def test_two_items_of_a_class_among_others_are_found_but_never_a_majority():
    items = clusters(classes=4, items=2, dimension=3, spread=0)
    measures = validation(items, ("retrieval",))(a_space(Cosine()))
    assert (measures["recall@1"], measures["knn accuracy"]) == (1, 0)


# --- clustering -----------------------------------------------------------------------------------


def test_groups_are_those_of_k_means_on_the_embeddings():
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score

    items = clusters(classes=3, items=20, dimension=3, spread=0.3)
    space = a_space().eval()
    z = embed(space, items.inputs).numpy()
    groups = KMeans(3, n_init=10, random_state=0).fit(z).labels_
    expected = normalized_mutual_info_score(items.labels.numpy(), groups)
    measures = validation(items, ("clustering",))(space)
    assert measures == {"nmi": pytest.approx(expected)}
    assert 0.2 < expected < 1


def test_groups_of_a_cosine_are_those_of_directions():
    from sklearn.cluster import KMeans
    from sklearn.metrics import normalized_mutual_info_score

    items = clusters(classes=3, items=20, dimension=3, spread=0.3)
    space = a_space(Cosine()).eval()
    z = embed(space, items.inputs)
    by = {"lengths too": z, "directions": z / z.norm(dim=1, keepdim=True)}
    expected = {
        name: normalized_mutual_info_score(
            items.labels.numpy(), KMeans(3, n_init=10, random_state=0).fit(measures.numpy()).labels_
        )
        for name, measures in by.items()
    }
    assert validation(items, ("clustering",))(space) == {"nmi": pytest.approx(expected["directions"])}
    assert expected["directions"] != pytest.approx(expected["lengths too"])


def test_clear_classes_are_groups():
    items = clusters(classes=3, items=4, dimension=3, spread=0)
    assert validation(items, ("clustering",))(a_space()) == {"nmi": pytest.approx(1)}


# --- families -------------------------------------------------------------------------------------


def test_several_families_are_measured_in_their_order():
    space = a_space().eval()
    together = validation(ITEMS, ("clustering", "retrieval", "verification"))(space)
    apart = {}
    for family in ("clustering", "retrieval", "verification"):
        apart |= validation(ITEMS, [family])(space)
    assert together == apart
    assert list(together) == list(apart)
    assert "recall@1" in together


def test_every_measure_of_an_epoch_can_be_watched():
    result = validation(ITEMS, tuple(FAMILIES))(a_space().eval())
    for name in result:
        assert callable(validation(ITEMS, tuple(FAMILIES), watch=name))
    assert {measure.key for measures in MEASURES.values() for measure in measures} <= result.keys()
    assert MEASURES.keys() == FAMILIES.keys()
    with pytest.raises(
        SettingError, match=r'"nmi" is measured by "clustering", which run.validate does not name'
    ):
        validation(ITEMS, ("verification", "retrieval"), watch="nmi")
    with pytest.raises(SettingError, match=r'run.watch: no measure "eer of something"'):
        validation(ITEMS, watch="eer of something")


def test_a_run_can_validate_by_every_family():
    assert tuple(FAMILIES) == VALIDATIONS


def test_a_run_knows_the_direction_of_every_measure():
    """What classes apart have more of than classes in a heap is better if there is more of it."""
    space = a_space(Cosine()).eval()
    apart, heap = (
        validation(clusters(classes=3, items=6, dimension=3, spread=spread), tuple(FAMILIES))(space)
        for spread in (0.0, 9.0)
    )
    run = Run("mine", Parts(Part("MLP"), Part("Cosine"), Part("SupportMeans")), {"only": Term("triplet")})
    for name, good in apart.items():
        assert good != heap[name]
        assert replace(run, watch=name).direction == ("higher" if good > heap[name] else "lower")


def test_classes_of_one_item_each_get_the_advice_to_enrol():
    lonely = Items(torch.zeros(3, 2), torch.arange(3), ("a", "b", "c"), "x")
    with pytest.raises(DataError, match=r"where it has nine or more\. .* samekind enroll$"):
        validation(lonely)


@pytest.mark.parametrize("families", [(), "retrieval"])
def test_refuses_families_that_are_not_a_list(families):
    with pytest.raises(
        SettingError, match='expected a list of "verification", "retrieval", "clustering", "clusters"'
    ):
        validation(ITEMS, families)


def test_an_unknown_family_names_the_nearest():
    with pytest.raises(SettingError, match=r'there is no validation by "retreival".*retrieval'):
        validation(ITEMS, ("retreival",))


def test_of_many_items_the_same_are_drawn_every_time():
    many = clusters(classes=3, items=30, dimension=3, spread=0.8)
    space = a_space().eval()
    drawn = [validation(many, ("retrieval",), most_items=20)(space) for _ in range(2)]
    assert drawn[0] == drawn[1]
    # A share of 20 items.
    assert round(20 * drawn[0]["recall@1"], 9).is_integer()


@pytest.mark.parametrize("family", ["verification", "retrieval", "clustering"])
def test_refuses_one_class_and_no_pair(family):
    alone = ITEMS.only([ITEMS.classes[0]])
    with pytest.raises(DataError, match="expected two classes or more"):
        validation(alone, (family,))
    with pytest.raises(DataError, match="one of them with two items"):
        validation(ITEMS.take(torch.tensor([0, 5, 10])), (family,))


def test_items_of_one_group_are_not_compared():
    groups = torch.arange(len(ITEMS)) // 2
    space, grouped = a_space().eval(), replace(ITEMS, groups=groups)
    z = embed(space, ITEMS.inputs)
    rows = [
        *verification(space, grouped, z, name="validation"),
        *retrieval(space, grouped, z, name="validation", measures="all"),
    ]
    expected = {(row.measure.lower(), row.kind): row.value for row in rows}
    result = validation(grouped, ("verification", "retrieval"))(space)
    for measure in ("eer", "recall@1", "recall@4", "recall@8", "knn accuracy"):
        assert result[measure] == pytest.approx(expected[measure, "similarity"])
    assert result["recall@1 cosine"] == pytest.approx(expected["recall@1", "cosine"])
    assert result != validation(ITEMS, ("verification", "retrieval"))(space)
