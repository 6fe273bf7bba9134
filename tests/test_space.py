"""The metric space, asked: every answer against a loop, every change of a class against what must stay."""

import inspect
import math
import time

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from samekind import prototypes, similarities
from samekind.auxiliary_head import AuxiliaryHead
from samekind.decisions import Balance, Choices, Decision, Temperature
from samekind.encoders import MLP
from samekind.errors import SettingError, SpaceError
from samekind.prototypes import LearnedProxies, SupportMeans
from samekind.similarities import (
    Cosine,
    Dot,
    Euclidean,
    FixedScale,
    LearnedScale,
    Mahalanobis,
    Neighbourhood,
    PairsNetwork,
    TwoCovariance,
)
from samekind.space import MetricSpace

CLASSES = ["ant", "bee", "cat"]
HEADS = ("similarity", "auxiliary", "fused")


def random(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def a_similarity(name, scale=None):
    kind = getattr(similarities, name)
    takes = inspect.signature(kind).parameters
    needed = {"dimension": 4} if "dimension" in takes else {}
    return kind(**needed, scale=scale)


def a_space(similarity="Cosine", kind="LearnedProxies", scale=None, **options):
    torch.manual_seed(0)
    known = getattr(prototypes, kind)(CLASSES, dimension=4)
    known.assign(CLASSES, random(3, 1, 4, seed=1))
    encoder = MLP(inputs=3, dimension=4, hidden=[5])
    return MetricSpace(encoder, a_similarity(similarity, scale), known, **options).eval()


def with_auxiliary(**options):
    """A space whose head holds the classes in another order, at a scale of its own."""
    head = AuxiliaryHead(Dot(scale=FixedScale(3.0)), LearnedProxies(CLASSES[::-1], dimension=4), **options)
    head.prototypes.assign(CLASSES[::-1], random(3, 1, 4, seed=2))
    return a_space("PairsNetwork", scale=FixedScale(2.0), auxiliary=head)


@pytest.fixture(params=similarities.SIMILARITIES)
def similarity(request):
    return request.param


@pytest.fixture(params=prototypes.PROTOTYPES)
def kind(request):
    return request.param


@pytest.fixture(autouse=True)
def _without_gradient():
    with torch.no_grad():
        yield


# --- scores -----------------------------------------------------------------------------------------


def test_embeds_with_its_encoder():
    space = a_space()
    items = random(5, 3)
    assert torch.equal(space.embed(items), space.encoder(items))
    assert torch.equal(space(items), space.encoder(items))


def test_pairs_are_scored_first_against_second(similarity):
    space = a_space(similarity)
    a, b = random(5, 4, seed=3), random(5, 4, seed=4)
    by_hand = torch.cat([space.similarity(a[i : i + 1], b[i : i + 1]) for i in range(5)])
    torch.testing.assert_close(space.score(a, b), by_hand)


@pytest.mark.parametrize("memory_budget", [1, 100, 2**20])
def test_all_scores_are_the_scores_of_all_pairs(similarity, memory_budget):
    space = a_space(similarity)
    a, b = random(5, 4, seed=3), random(7, 4, seed=4)
    by_hand = torch.stack([torch.cat([space.score(x[None], y[None]) for y in b]) for x in a])
    torch.testing.assert_close(space.score_all(a, b, memory_budget=memory_budget), by_hand)
    met = torch.zeros(5, 7)
    for rows, columns, block in space.blocks(a, b, memory_budget=memory_budget):
        torch.testing.assert_close(block, by_hand[rows, columns])
        met[rows, columns] += 1
    assert (met == 1).all()


def test_the_budget_bounds_the_blocks():
    space = a_space("PairsNetwork")
    budget = 6 * space.similarity.pair_bytes(4)
    sizes = [block.numel() for *_, block in space.blocks(random(5, 4), random(7, 4), memory_budget=budget)]
    assert sum(sizes) == 35
    assert max(sizes) <= 6


def test_the_kinds_of_score():
    assert a_space("Cosine").kinds == ["similarity"]
    assert a_space("Euclidean").kinds == ["similarity", "cosine"]
    assert a_space("PairsNetwork").kinds == ["similarity", "cosine", "fused"]


def test_the_cosine_and_the_fused_score_by_hand():
    space = a_space("PairsNetwork")
    a, b = random(5, 4, seed=3), random(7, 4, seed=4)
    for i in range(5):
        for j in range(7):
            cosine = float(a[i] @ b[j] / (a[i].norm() * b[j].norm()))
            logit = float(space.similarity(a[i : i + 1], b[j : j + 1]))
            fused = (1 / (1 + math.exp(-logit)) + (cosine + 1) / 2) / 2
            assert float(space.score_all(a, b, kind="cosine")[i, j]) == pytest.approx(cosine, abs=1e-5)
            assert float(space.score_all(a, b, kind="fused")[i, j]) == pytest.approx(fused, abs=1e-5)
    pair = space.score(a, b[:5], kind="fused")
    torch.testing.assert_close(pair, space.score_all(a, b[:5], kind="fused").diagonal())


def test_fitted_and_normalised_scores_are_saved_with_the_space(tmp_path):
    space = a_space("Cosine")
    space.fitted, space.normalised = Mahalanobis(dimension=4), Dot()
    space.choices = Choices("normalised", "fitted", "similarity", "four items")
    torch.nn.init.normal_(space.fitted.map)
    space.save(tmp_path / "space")
    loaded = MetricSpace.load(tmp_path / "space")
    assert loaded.kinds == ["similarity", "fitted", "normalised"]
    questions = ("pairs", "neighbours", "classes")
    assert [loaded.kind_for(question) for question in questions] == ["normalised", "fitted", "similarity"]
    a, b = random(5, 4, seed=3), random(7, 4, seed=4)
    for kind in loaded.kinds:
        torch.testing.assert_close(loaded.score_all(a, b, kind=kind), space.score_all(a, b, kind=kind))


def test_without_a_choice_every_question_is_answered_by_the_own_similarity():
    assert a_space("Euclidean").kind_for("pairs") == "similarity"


def test_an_unknown_or_impossible_kind_is_refused():
    with pytest.raises(SpaceError, match='unknown kind of score "fitted"'):
        a_space("Euclidean").score(random(1, 4), random(1, 4), kind="fitted")
    with pytest.raises(SpaceError, match='unknown kind of score "cosin"; did you mean "cosine"'):
        a_space("Euclidean").score(random(1, 4), random(1, 4), kind="cosin")
    with pytest.raises(SettingError, match="needs a similarity whose scores are logits"):
        a_space("Euclidean").score(random(1, 4), random(1, 4), kind="fused")


# --- classes ----------------------------------------------------------------------------------------


def test_a_class_is_scored_by_its_prototype_in_the_first_place(similarity):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind)
        z = random(6, 4, seed=5)
        scores = space.score_classes(z)
        assert scores.shape == (6, 3)
        for i in range(6):
            for j in range(3):
                prototype = space.prototypes.vectors[j]  # (1, d)
                torch.testing.assert_close(scores[i, j], space.similarity(prototype, z[i : i + 1])[0])


def test_the_places_matter_to_a_pairs_network():
    """Else the test above could not tell prototype first from item first."""
    space = a_space("PairsNetwork")
    vectors = space.prototypes.vectors[:, 0]
    assert (space.score_classes(vectors) - space.score_classes(vectors).T).abs().max() > 1e-3


@pytest.mark.parametrize("pooling", ["mean", "max", "soft", "sum"])
def test_several_vectors_a_class_are_pooled(similarity, pooling):
    torch.manual_seed(0)
    known = LearnedProxies(CLASSES, dimension=4, count=2, pooling=pooling, temperature=0.5)
    space = MetricSpace(nn.Identity(), a_similarity(similarity), known).eval()
    z = random(5, 4, seed=5)
    for i, row in enumerate(space.score_classes(z).tolist()):
        for j, value in enumerate(row):
            first, second = (float(space.similarity(known.vectors[j, k][None], z[i][None])) for k in (0, 1))
            share = 1 / (1 + math.exp((second - first) / 0.5))
            expected = {
                "mean": (first + second) / 2,
                "max": max(first, second),
                "soft": share * first + (1 - share) * second,
                "sum": 0.5 * math.log(math.exp(first / 0.5) + math.exp(second / 0.5)),
            }
            assert value == pytest.approx(expected[pooling], abs=1e-4)


@pytest.mark.parametrize("scale", [FixedScale(), FixedScale(7.0), LearnedScale(5.0)])
def test_probabilities_are_the_softmax_of_scale_times_score(similarity, scale):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind, scale=scale)
        z = random(6, 4, seed=5)
        answer = space.classify(z)
        assert torch.equal(answer.scores, space.score_classes(z))
        for scores, probabilities, name in zip(*answer, strict=True):
            powers = [math.exp(float(scale()) * score) for score in scores.tolist()]
            torch.testing.assert_close(probabilities, torch.tensor([power / sum(powers) for power in powers]))
            assert name == CLASSES[int(scores.argmax())]


def test_many_items_are_classified_in_bounded_memory(monkeypatch):
    space = a_space("PairsNetwork")
    z = random(5, 4, seed=5)
    scores, met, real = space.score_classes(z), [], PairsNetwork.score_all
    monkeypatch.setattr(PairsNetwork, "score_all", lambda *all: met.append(real(*all)) or met[-1])
    monkeypatch.setattr(PairsNetwork, "pair_bytes", lambda *_: similarities.MEMORY_BUDGET["cpu"] // 2)
    torch.testing.assert_close(space.score_classes(z), scores)
    assert all(block.numel() <= 2 for block in met)


def test_the_auxiliary_head_answers_in_the_order_of_the_space():
    space = with_auxiliary()
    z = random(6, 4, seed=5)
    by_hand = z @ torch.cat([space.auxiliary.prototypes.vectors[index] for index in (2, 1, 0)]).T
    answer = space.classify(z, head="auxiliary")
    torch.testing.assert_close(answer.scores, by_hand)
    torch.testing.assert_close(answer.probabilities, (3.0 * by_hand).softmax(1))
    assert answer.classes == [CLASSES[index] for index in by_hand.argmax(1).tolist()]


def test_the_fused_head_averages_probabilities_and_its_scores_logits():
    space = with_auxiliary()
    z = random(6, 4, seed=5)
    one, other, fused = (space.classify(z, head=head) for head in HEADS)
    torch.testing.assert_close(fused.probabilities, 0.5 * one.probabilities + 0.5 * other.probabilities)
    torch.testing.assert_close(fused.scores, (2.0 * one.scores + 3.0 * other.scores) / 2)
    assert fused.classes == [CLASSES[index] for index in fused.probabilities.argmax(1).tolist()]


@pytest.mark.parametrize("head", HEADS)
def test_a_temperature_divides_the_logarithm_of_the_probabilities_of_its_head_alone(head):
    space = with_auxiliary()
    z = random(6, 4, seed=5)
    plain = {name: space.classify(z, head=name) for name in HEADS}
    torch.testing.assert_close(space.log_probabilities(z, head=head), plain[head].probabilities.log())
    space.temperatures[head] = Temperature(2.5, "made up", 40)
    for name in HEADS:
        probabilities = space.classify(z, head=name)
        powers = plain[name].probabilities ** (1 / 2.5 if name == head else 1)
        torch.testing.assert_close(probabilities.probabilities, powers / powers.sum(1, keepdim=True))
        assert torch.equal(probabilities.scores, plain[name].scores)
        assert probabilities.classes == plain[name].classes
        uncalibrated = space.classify(z, head=name, calibrated=False)
        assert torch.equal(uncalibrated.probabilities, plain[name].probabilities)


@pytest.mark.parametrize("value", [1e-12, 1e12])
def test_no_temperature_changes_which_class_is_named(value):
    space = with_auxiliary()
    z = random(6, 4, seed=5)
    for head in HEADS:
        before = space.classify(z, head=head).classes
        space.temperatures[head] = Temperature(value, "made up", 40)
        assert len(set(before)) > 1
        assert space.classify(z, head=head).classes == before


def test_where_the_heads_disagree_the_probabilities_decide():
    """The mean of the logits follows the head that shouts: here -8 of one drowns the 1 of the other."""
    classes = ["a", "b", "c"]
    head = AuxiliaryHead(Dot(), LearnedProxies(classes, dimension=1))
    head.prototypes.assign(classes, torch.tensor([[[-8.0]], [[0.1]], [[0.0]]]))
    known = SupportMeans(classes, dimension=1)
    known.assign(classes, torch.tensor([[[5.0]], [[0.0]], [[0.0]]]))
    answer = MetricSpace(nn.Identity(), Dot(), known, auxiliary=head).classify(torch.ones(1, 1), head="fused")
    assert answer.scores.argmax() == 1
    assert answer.probabilities.argmax() == 0  # 0.99 and 0 against 0 and 0.52
    assert answer.classes == ["a"]


def test_the_auxiliary_head_projects_normalises_and_shifts():
    torch.manual_seed(0)
    projection = MLP(inputs=4, dimension=5, hidden=[])
    known = LearnedProxies(CLASSES, dimension=5)
    head = AuxiliaryHead(Euclidean(), known, projection=projection, normalise=True, bias=True)
    assert torch.equal(head.offsets, torch.zeros(3))
    head.offsets.copy_(torch.tensor([1.0, 2.0, 3.0]))
    z = random(6, 4, seed=5)
    for i, row in enumerate(head.score_classes(z).tolist()):
        inner = projection(z[i : i + 1])[0]
        for j, value in enumerate(row):
            distance = (inner / inner.norm() - known.vectors[j, 0]).norm()
            assert value == pytest.approx(float(-distance) + j + 1, abs=1e-5)


def test_heads_that_are_not_there_are_refused():
    with pytest.raises(SpaceError, match='no auxiliary head; use head="similarity"'):
        a_space().classify(random(1, 4), head="auxiliary")
    with pytest.raises(SpaceError, match='no auxiliary head; use head="similarity"'):
        a_space().classify(random(1, 4), head="fused")
    with pytest.raises(SpaceError, match='unknown head "auxilary"; did you mean "auxiliary"'):
        with_auxiliary().classify(random(1, 4), head="auxilary")


def test_a_space_without_classes_scores_none_and_classifies_nothing(kind):
    space = a_space(kind=kind)
    for name in CLASSES:
        space.remove(name)
    assert space.classes == []
    assert space.score_classes(random(2, 4)).shape == (2, 0)
    with pytest.raises(SpaceError, match="knows no class yet; enrol one"):
        space.classify(random(2, 4))
    with pytest.raises(SpaceError, match="knows no class yet; enrol one"):
        space.log_probabilities(random(2, 4))
    space.enroll("dog", random(2, 4))
    assert space.classify(random(2, 4)).classes == ["dog", "dog"]


def test_no_items_are_classified_as_nothing(similarity):
    answer = a_space(similarity).classify(torch.empty(0, 4))
    assert answer.scores.shape == answer.probabilities.shape == (0, 3)
    assert answer.classes == []


# --- enrolling, removing, renaming ------------------------------------------------------------------


def test_enrolling_adds_the_mean_and_leaves_all_else(similarity):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind)
        z, examples = random(6, 4, seed=5), random(3, 4, seed=6)
        vectors, scores = space.prototypes.vectors.clone(), space.score_classes(z)
        space.enroll("dog", examples)
        assert space.classes == [*CLASSES, "dog"]
        assert torch.equal(space.prototypes.vectors[:3], vectors)
        torch.testing.assert_close(
            space.prototypes.vectors[3, 0], (examples[0] + examples[1] + examples[2]) / 3
        )
        # To the last bit but one: a product of a larger matrix may be summed in another order.
        torch.testing.assert_close(space.score_classes(z)[:, :3], scores, rtol=1e-6, atol=1e-6)
        mean = examples.mean(0)[None].expand(6, -1)
        torch.testing.assert_close(space.score_classes(z)[:, 3], space.score(mean, z))


def test_replacing_changes_one_class_and_no_bit_of_another(similarity):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind)
        z, examples = random(6, 4, seed=5), random(3, 4, seed=6)
        before = space.score_classes(z)
        space.enroll("bee", examples, replace=True)
        after = space.score_classes(z)
        assert space.classes == CLASSES
        assert torch.equal(after[:, [0, 2]], before[:, [0, 2]])
        torch.testing.assert_close(space.prototypes.vectors[1, 0], examples.mean(0))
        assert not torch.equal(after[:, 1], before[:, 1])


def test_removing_leaves_the_others_in_their_order(similarity):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind)
        z = random(6, 4, seed=5)
        vectors, scores = space.prototypes.vectors.clone(), space.score_classes(z)
        space.remove("bee")
        assert space.classes == ["ant", "cat"]
        assert torch.equal(space.prototypes.vectors, vectors[[0, 2]])
        torch.testing.assert_close(space.score_classes(z), scores[:, [0, 2]], rtol=1e-6, atol=1e-6)


def test_removing_looks_a_class_up_once_however_many_there_are(monkeypatch):
    space, asked = a_space(), []
    known, classes = MetricSpace._known, MetricSpace.classes
    monkeypatch.setattr(MetricSpace, "_known", lambda self, name: asked.append(name) or known(self, name))
    monkeypatch.setattr(
        MetricSpace, "classes", property(lambda self: asked.append("all") or classes.fget(self))
    )
    space.prototypes.assign([str(number) for number in range(50)], random(50, 1, 4))
    space.remove("30")
    assert sorted(asked) == ["30", "all"]
    assert space.classes == [str(number) for number in range(50) if number != 30]


def test_renaming_changes_the_name_alone(similarity):
    for kind in prototypes.PROTOTYPES:
        space = a_space(similarity, kind)
        z = random(6, 4, seed=5)
        before = space.classify(z)
        space.rename("bee", "wasp")
        after = space.classify(z)
        assert space.classes == ["ant", "wasp", "cat"]
        assert torch.equal(after.scores, before.scores)
        assert after.classes == [name.replace("bee", "wasp") for name in before.classes]


def test_in_exact_arithmetic_nothing_of_the_others_changes_at_all():
    space = a_space("Dot", "SupportMeans")
    space.prototypes.assign(CLASSES, torch.arange(12.0).view(3, 1, 4))
    z = torch.arange(20.0).view(5, 4)
    before = space.score_classes(z)
    space.enroll("dog", torch.ones(2, 4))
    assert torch.equal(space.score_classes(z)[:, :3], before)
    space.remove("ant")
    assert torch.equal(space.score_classes(z)[:, :2], before[:, 1:])


def test_the_similarity_head_scores_by_the_chosen_kind():
    space, z = a_space("Euclidean"), random(5, 4, seed=3)
    own = space.classify(z)
    space.choices = Choices("similarity", "similarity", "cosine", "four items")
    chosen = space.classify(z)
    torch.testing.assert_close(chosen.scores, space.score_classes(z, kind="cosine"))
    torch.testing.assert_close(chosen.probabilities, chosen.scores.softmax(-1))
    assert torch.equal(space.classify(z, kind="similarity").scores, own.scores)


def test_a_temperature_is_for_the_chosen_kind_alone():
    space, z = a_space("Euclidean"), random(5, 4, seed=3)
    space.choices = Choices("similarity", "similarity", "cosine", "four items")
    space.temperatures = {"similarity": Temperature(0.5, "four items", 4)}
    scores = space.score_classes(z, kind="cosine")
    torch.testing.assert_close(space.classify(z).probabilities, (2 * scores).softmax(-1))
    plain = space.score_classes(z).softmax(-1)
    torch.testing.assert_close(space.classify(z, kind="similarity").probabilities, plain)


def test_enrolled_classes_get_the_bonus_of_their_kind_of_score():
    space, z = a_space("Euclidean", scale=FixedScale(2.0)), random(5, 4, seed=3)
    space.balances = {"similarity": Balance(10.0, "four items")}
    before = space.classify(z)
    space.enroll("owl", random(3, 4, seed=4))
    after = space.classify(z)
    assert after.classes == ["owl"] * 5
    torch.testing.assert_close(after.scores[:, :3], before.scores)  # the scores themselves stay
    with_bonus = after.scores + torch.tensor([0.0, 0.0, 0.0, 10.0])
    torch.testing.assert_close(after.probabilities, (2 * with_bonus).softmax(-1))
    assert space.classify(z, kind="cosine").classes != after.classes
    space.rename("owl", "hawk")
    assert space.enrolled == ["hawk"]
    space.remove("hawk")
    assert space.enrolled == []
    torch.testing.assert_close(space.classify(z).probabilities, before.probabilities)
    space.enroll("ant", random(3, 4, seed=4), replace=True)
    assert space.enrolled == ["ant"]


def test_a_class_of_several_vectors_is_enrolled_with_as_many(similarity):
    known = SupportMeans(CLASSES, dimension=4, count=3, pooling="max")
    space = MetricSpace(nn.Identity(), a_similarity(similarity), known).eval()
    space.enroll("dog", random(2, 4))
    assert known.vectors.shape == (4, 3, 4)
    torch.testing.assert_close(known.vectors[3], random(2, 4).mean(0).expand(3, -1))


def test_a_space_remembers_how_many_examples_a_class_was_enrolled_from(kind, tmp_path):
    space = a_space(kind=kind)
    assert space.prototypes.counts is None
    space.enroll("dog", random(5, 4, seed=3))
    space.enroll("elk", random(2, 4, seed=4))
    space.enroll(CLASSES[0], random(7, 4, seed=5), replace=True)
    assert space.prototypes.counts == [7, 0, 0, 5, 2]
    space.remove(CLASSES[1])
    space.rename("dog", "fox")
    assert space.prototypes.counts == [7, 0, 5, 2]
    space.save(tmp_path / "space")
    assert MetricSpace.load(tmp_path / "space").prototypes.counts == [7, 0, 5, 2]


def test_a_similarity_that_counts_examples_is_given_their_number():
    space, z = a_space(), random(6, 4, seed=9)
    space.fitted = TwoCovariance(dimension=4).fit(random(40, 4, seed=7), torch.arange(40) % 5)
    space.normalised = Neighbourhood(space.fitted, size=1, dimension=4).with_cohort(random(20, 4, seed=8))
    space.enroll("dog", random(3, 4, seed=3))
    vectors, counts = space.prototypes.vectors[:, 0], torch.tensor([0, 0, 0, 3])
    for of_space in ("fitted", "normalised"):
        expected = space.score_enrolled(vectors, z, counts, kind=of_space).T
        torch.testing.assert_close(space.score_classes(z, kind=of_space), expected)
        one_each = space.score_enrolled(vectors, z, torch.ones(4), kind=of_space).T
        assert not torch.allclose(expected, one_each)
        torch.testing.assert_close(one_each, space.score_all(z, vectors, kind=of_space), atol=1e-4, rtol=1e-4)
    cosines = space.score_enrolled(vectors, z, counts, kind="similarity").T
    torch.testing.assert_close(cosines, space.score_classes(z))


def test_enrolling_takes_no_gradient_and_keeps_the_type():
    space = a_space("Dot").double()
    with torch.enable_grad():
        examples = random(2, 4).requires_grad_()
        space.enroll("dog", examples * 2)
    assert space.prototypes.vectors.dtype == torch.double
    assert space.prototypes.vectors.is_leaf
    assert isinstance(space.prototypes.vectors, nn.Parameter)


def test_many_classes_at_once_are_as_one_by_one(kind):
    examples = {"dog": random(2, 4), "bee": random(3, 4) + 1, "eel": random(1, 4) - 1}
    together, alone = a_space(kind=kind), a_space(kind=kind)
    together.enroll_classes(examples, replace=True)
    for name, z in examples.items():
        alone.enroll(name, z, replace=True)
    assert together.classes == alone.classes == [*CLASSES, "dog", "eel"]
    assert together.enrolled == alone.enrolled == ["dog", "bee", "eel"]
    assert torch.equal(together.prototypes.vectors, alone.prototypes.vectors)
    assert together.prototypes.counts == alone.prototypes.counts


def test_all_classes_are_enrolled_or_none(kind):
    space = a_space(kind=kind)
    before = space.prototypes.vectors.clone()
    for wrong in ({"bee": random(2, 4)}, {"eel": torch.full((1, 4), torch.nan)}):
        with pytest.raises(SpaceError):
            space.enroll_classes({"dog": random(2, 4), **wrong})
    with pytest.raises(SettingError, match="class names must differ"):
        space.enroll_classes({"M\u00f6we": random(2, 4), "Mo\u0308we": random(2, 4)})
    assert (space.classes, space.enrolled) == (CLASSES, [])
    assert torch.equal(space.prototypes.vectors, before)


def test_thousands_of_classes_are_enrolled_and_named_exactly_and_soon():
    """As quick as the arithmetic: nothing is done class by class but the mean of its examples."""
    generator = torch.Generator().manual_seed(0)
    centres = torch.randn(5000, 32, generator=generator)
    examples = centres[:, None] + 0.3 * torch.randn(5000, 5, 32, generator=generator)
    space = MetricSpace(nn.Identity(), Cosine(), SupportMeans(dimension=32)).eval()
    space.balances = {"similarity": Balance(0.1, "made up")}
    began = time.process_time()
    space.enroll_classes({str(number): z for number, z in enumerate(examples)})
    asked = centres[:500] + 0.3 * torch.randn(500, 32, generator=generator)
    with torch.no_grad():
        named = space.classify(asked)
    assert time.process_time() - began < 3
    best = F.normalize(asked) @ F.normalize(examples.mean(1)).T
    assert named.classes == [str(place) for place in best.argmax(1).tolist()]
    torch.testing.assert_close(named.scores, best)


@pytest.mark.parametrize("shape", [(4,), (0, 4), (2, 3), (2, 5), (1, 2, 4), ()])
def test_examples_of_another_shape_are_refused(kind, shape):
    space = a_space(kind=kind)
    with pytest.raises(
        SpaceError, match=r'to enrol "dog": expected embeddings of shape \(examples, 4\), '
    ) as caught:
        space.enroll("dog", torch.zeros(shape))
    assert str(tuple(shape)) in str(caught.value)
    assert space.classes == CLASSES


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_examples_that_are_not_finite_are_refused(kind, value):
    space = a_space(kind=kind)
    examples = random(3, 4)
    examples[1, 2] = value
    with pytest.raises(SpaceError, match='to enrol "dog": an embedding is not finite'):
        space.enroll("dog", examples)
    assert space.classes == CLASSES


def test_a_known_class_is_not_enrolled_twice_by_accident(kind):
    space = a_space(kind=kind)
    before = space.prototypes.vectors.clone()
    with pytest.raises(SpaceError, match='the class "bee" is already there; ask to replace it'):
        space.enroll("bee", random(2, 4))
    assert torch.equal(space.prototypes.vectors, before)


def test_unknown_classes_are_answered_with_the_nearest(kind):
    space = a_space(kind=kind)
    for ask in (lambda: space.remove("beee"), lambda: space.rename("beee", "dog")):
        with pytest.raises(SpaceError, match='there is no class "beee"; did you mean "bee"'):
            ask()
    with pytest.raises(SpaceError, match='the class "cat" is already there; choose another name'):
        space.rename("bee", "cat")
    assert space.classes == CLASSES


def test_a_class_has_one_name_however_its_accents_are_stored(kind):
    one, two = "M\u00f6we", "Mo\u0308we"
    space = a_space(kind=kind)
    space.rename("bee", one)
    for ask in (lambda: space.rename("cat", two), lambda: space.enroll(two, random(2, 4))):
        with pytest.raises(SpaceError, match=f'the class "{one}" is already there'):
            ask()
    space.rename(two, two)  # spelt in the other way, it is the same class
    assert two in space.classes
    assert one not in space.classes
    space.rename(one, "bee")
    assert space.classes == CLASSES
    space.rename("bee", one)
    space.remove(two)
    assert space.classes == [name for name in CLASSES if name != "bee"]


def test_a_name_is_a_text(kind):
    space = a_space(kind=kind)
    for ask in (
        lambda: space.enroll(7, random(2, 4)),
        lambda: space.remove(7),
        lambda: space.rename(7, "dog"),
        lambda: space.rename("bee", 7),
    ):
        with pytest.raises(SettingError, match='expected the name of a class, such as "7"; got int'):
            ask()
    assert space.classes == CLASSES


# --- the auxiliary head, on the sphere, and after its classes have changed ---------------------------


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_it_leaves_a_zero_vector_at_the_centre_of_the_sphere(dtype):
    z = torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 3.0, 0.0, 4.0]], dtype=dtype)
    expected = torch.tensor([[0.0, 0.0, 0.0, 0.0], [0.0, 0.6, 0.0, 0.8]], dtype=dtype)
    torch.testing.assert_close(with_auxiliary(normalise=True).auxiliary.project(z), expected)


@pytest.mark.parametrize("head", ["auxiliary", "fused"])
def test_a_class_it_was_not_trained_with_is_a_clear_error(head):
    space = with_auxiliary(bias=True)
    space.enroll("eel", random(2, 4))
    space.enroll("dog", random(2, 4))
    with pytest.raises(SpaceError, match='was not trained with dog, eel; use head="similarity"'):
        space.classify(random(1, 4), head=head)
    assert space.classify(random(1, 4)).scores.shape == (1, 5)
    space.remove("dog")
    space.remove("eel")
    assert space.classify(random(1, 4), head=head).scores.shape == (1, 3)


def test_a_replaced_class_is_none_it_was_trained_with():
    space = with_auxiliary(bias=True)
    space.enroll("bee", random(2, 4), replace=True)
    with pytest.raises(SpaceError, match="was not trained with bee"):
        space.classify(random(1, 4), head="auxiliary")


def test_it_forgets_and_renames_with_the_space():
    space = with_auxiliary(bias=True)
    space.auxiliary.offsets.copy_(torch.tensor([1.0, 2.0, 3.0]))
    z = random(6, 4, seed=5)
    before = space.classify(z, head="auxiliary").scores
    space.remove("bee")
    space.rename("cat", "lion")
    after = space.classify(z, head="auxiliary")
    torch.testing.assert_close(after.scores, before[:, [0, 2]])
    assert set(after.classes) <= {"ant", "lion"}
    assert torch.equal(space.auxiliary.offsets, torch.tensor([1.0, 3.0]))


def test_spaces_do_not_share_decisions():
    one, other = a_space(), a_space()
    one.decisions["similarity"] = Decision("similarity", 0.5, "eer", "four trials", 0.0, 0.0)
    assert other.decisions == {}
