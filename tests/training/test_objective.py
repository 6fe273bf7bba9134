"""The objective against the algorithm written out with plain loops; nothing moves but random states."""

import copy
import dataclasses
import itertools
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F

from samekind import recipes
from samekind.miners import everything
from samekind.pairs import pair_masks
from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.recomputed_walk import Walk
from samekind.training import Penalty, Term, build_space
from samekind.training.context import BuiltTerm, Context
from samekind.training.memory import Memory
from samekind.training.objective import objective
from samekind.training.step import observe
from samekind.training.terms import build_penalties, build_terms

LABELS = torch.tensor([0, 0, 2, 2, 0, 3])  # class 1 is absent, class 3 is alone


def step(space, z, y, terms=(), penalties=(), **context):
    """A step up to its objective."""
    projected = observe(space, z, y)
    return objective(space, z, y, Context(dict(terms), dict(penalties), **context), projected=projected)


def similarity_of(network, first, second):
    """S(first, second): one hidden layer over the concatenation, then one logit."""
    hidden = network.first.weight @ torch.cat([first, second]) + network.first.bias
    hidden = torch.where(hidden > 0, hidden, 0.1 * hidden)
    return (network.last.weight @ hidden + network.last.bias)[0]


def by_hand(space, before, z, y):
    """The three losses of one step, prototypes first, each as its definition says."""
    prototypes = before[:, 0].clone()
    for label in set(y.tolist()):
        mean = torch.stack([z[i].detach() for i in range(len(y)) if y[i] == label]).mean(0)
        prototypes[label] = 0.9 * prototypes[label] + 0.1 * mean
    logits = torch.stack(
        [torch.stack([similarity_of(space.similarity, row, item) for row in prototypes]) for item in z]
    )
    same, different = [], []
    for i in range(len(y)):
        for j in range(len(y)):
            if i != j:
                score = similarity_of(space.similarity, z[i], z[j])
                (same if y[i] == y[j] else different).append(score)
    pair = F.binary_cross_entropy_with_logits(torch.stack(same), torch.ones(len(same)))
    pair = pair + F.binary_cross_entropy_with_logits(torch.stack(different), torch.zeros(len(different)))
    head = F.linear(z, space.auxiliary.prototypes.vectors[:, 0], space.auxiliary.offsets)
    costs = {"class": F.cross_entropy(logits, y), "pair": pair, "auxiliary": F.cross_entropy(head, y)}
    return costs, prototypes


def test_one_step_of_the_prototypical_recipe_is_the_algorithm(plain, space, z):
    with torch.no_grad():  # away from 0, so that it shows
        space.auxiliary.offsets.copy_(torch.tensor([0.3, -0.2, 0.1, 0.5]))
    before = space.prototypes.vectors.clone()
    costs = step(space, z, LABELS, build_terms(plain, space)).costs
    expected, prototypes = by_hand(space, before, z, LABELS)
    assert list(costs) == ["class", "pair", "auxiliary"]
    for name, cost in expected.items():
        torch.testing.assert_close(costs[name], cost)
    torch.testing.assert_close(space.prototypes.vectors[:, 0], prototypes)
    assert torch.equal(space.prototypes.vectors[1], before[1])  # the absent class stays

    weights = [z, *space.similarity.parameters(), *space.auxiliary.parameters()]
    ours = torch.autograd.grad(sum(costs.values()), weights)
    theirs = torch.autograd.grad(sum(expected.values()), weights)
    for mine, other in zip(ours, theirs, strict=True):
        torch.testing.assert_close(mine, other, rtol=1e-4, atol=1e-6)


def test_weights_and_penalties_count(plain, space, z):
    changed = plain.override(["terms.pair.weight=0.5", "terms.auxiliary.weight=0"])
    changed = dataclasses.replace(changed, penalties={"wide": Penalty("spread", weight=0.3)})
    once = step(space, z, LABELS, build_terms(plain, space)).costs
    space.prototypes.momentum = 1.0  # the prototypes stay where the first step left them
    costs = step(space, z, LABELS, build_terms(changed, space), build_penalties(changed)).costs
    assert list(costs) == ["class", "pair", "auxiliary", "wide"]
    torch.testing.assert_close(costs["class"], once["class"])
    torch.testing.assert_close(costs["pair"], 0.5 * once["pair"])
    assert costs["auxiliary"] == 0
    sphere = F.normalize(z.detach(), dim=1)
    nearest = [min(float((sphere[i] - sphere[j]).norm()) for j in range(6) if i != j) for i in range(6)]
    assert costs["wide"].item() == pytest.approx(-0.3 * sum(nearest) / 6, rel=1e-5)


def test_positive_pairs_count_in_one_order_where_asked(plain, space, z):
    """The network is not symmetric, so the two orders differ."""
    one = dataclasses.replace(plain, terms={"pair": Term("pair_likelihood", order="one")})
    cost = step(space, z, LABELS, build_terms(one, space)).costs["pair"]
    ahead = [similarity_of(space.similarity, z[i], z[j]) for i, j in [(0, 1), (0, 4), (1, 4), (2, 3)]]
    behind = [
        similarity_of(space.similarity, z[i], z[j])
        for i in range(6)
        for j in range(6)
        if LABELS[i] != LABELS[j]
    ]
    expected = sum(F.softplus(-score) for score in ahead) / 4 + sum(map(F.softplus, behind)) / len(behind)
    torch.testing.assert_close(cost, expected)


def test_scores_are_made_once_however_many_terms_read_them(plain, space, z, monkeypatch):
    calls = []
    real = space.similarity.score_all
    monkeypatch.setattr(space.similarity, "score_all", lambda a, b: calls.append(len(a)) or real(a, b))
    twice = dataclasses.replace(plain, terms={"a": Term("pair_likelihood"), "b": Term("softmax")})
    step(space, z, LABELS, build_terms(twice, space))
    assert calls == [6]


@pytest.mark.parametrize("order", list(itertools.permutations(["class", "pair", "auxiliary"])), ids=str)
def test_scores_are_made_in_the_order_of_the_terms(plain, space, z, order, monkeypatch):
    """Dropout draws with each: another order, as a set has in every process, is another run."""
    order_seen = []
    real = space.similarity.score_all
    monkeypatch.setattr(space.similarity, "score_all", lambda a, b: order_seen.append(len(a)) or real(a, b))
    head = space.auxiliary.score_projected
    monkeypatch.setattr(space.auxiliary, "score_projected", lambda z: order_seen.append("head") or head(z))
    built = build_terms(plain, space)
    step(space, z, LABELS, {name: built[name] for name in order})
    against = {"class": 4, "pair": 6, "auxiliary": "head"}  # four prototypes, six items
    assert order_seen == [against[name] for name in order]


@pytest.mark.parametrize("labels", [torch.tensor([0, 1, 2, 3]), torch.tensor([1, 1, 1, 1])])
def test_a_batch_that_mining_leaves_empty_costs_0_with_a_graph(plain, items, labels):
    changed = plain.update({"space": {"similarity": {"name": "Euclidean"}}})
    changed = dataclasses.replace(changed, terms={"triplet": Term("triplet", miner="hardest")})
    space = build_space(changed, items)
    z = torch.randn(4, 5, requires_grad=True)
    cost = step(space, z, labels, build_terms(changed, space)).costs["triplet"]
    assert cost.item() == 0
    cost.backward()
    assert z.grad is not None
    assert (z.grad == 0).all()


def recording(seen, *, asked):
    """A loss that notes what it is handed."""

    def loss(scores, positive, negative, **handed):
        seen.append((scores, positive, negative, handed))
        return scores.sum(1)

    return BuiltTerm(Term("mine"), loss, everything, asked)


def test_a_learned_scale_is_trained(run, items, z):
    learned = {"name": "Cosine", "scale": {"name": "LearnedScale"}}
    changed = run.update({"space": {"similarity": learned}})
    changed = dataclasses.replace(changed, terms={"class": Term("softmax", against="prototypes")})
    space = build_space(changed, items)
    step(space, z, LABELS, build_terms(changed, space)).costs["class"].backward()
    assert space.similarity.scale.logarithm.grad.abs() > 0


def test_miners_see_the_scores_without_gradient_and_the_generator(space, z):
    generator, seen = torch.Generator(), []

    def miner(scores, positive, negative, *, generator):
        seen.append((scores.requires_grad, generator))
        rows = torch.tensor([2, 0])
        return rows, positive[rows], negative[rows]

    losses = []
    term = dataclasses.replace(recording(losses, asked=()), term=Term("mine", miner="mine"), miner=miner)
    cost = step(space, z, LABELS, {"mine": term}, generator=generator).costs["mine"]
    assert seen == [(False, generator)]
    scores, positive, _, _ = losses[0]
    every = space.similarity.score_all(z, z)
    torch.testing.assert_close(scores, every[[2, 0]])
    assert positive.tolist() == [
        [False, False, False, True, False, False],
        [False, True, False, False, True, False],
    ]
    torch.testing.assert_close(cost, every[[2, 0]].sum() / 2)  # the mean over rows, not over anchors


def test_random_targets_come_from_the_generator_alone(run, space, z):
    terms = {"pair": build_terms(run, space)["pair"]}

    def cost(seed):
        return step(space, z, LABELS, terms, generator=torch.Generator().manual_seed(seed)).costs["pair"]

    state = torch.get_rng_state()
    assert cost(0) == cost(0)
    assert cost(0) != cost(1)
    assert torch.equal(torch.get_rng_state(), state)


# --- memory, candidates among themselves, scales ---------------------------------------------------


def remembered(space, count):
    memory = Memory(size=10, dimension=space.prototypes.dimension)
    memory.push(torch.randn(count, space.prototypes.dimension), torch.arange(count) % 3)
    return memory


def test_the_memory_adds_candidates_behind_the_batch(space, z):
    memory, seen = remembered(space, 4), []
    term = dataclasses.replace(recording(seen, asked=()), term=Term("mine", against="memory"))
    step(space, z, LABELS, {"mine": term}, memory=memory)
    scores, positive, negative, _ = seen[0]
    past, past_labels = memory.content()
    batch_positive, batch_negative = pair_masks(LABELS)
    assert scores.shape == (len(z), len(z) + 4)
    for row, column in itertools.product(range(len(z)), range(len(z) + 4)):
        other = LABELS[column] if column < len(z) else past_labels[column - len(z)]
        alike = bool(LABELS[row] == other)
        assert positive[row, column] == (alike and row != column)
        assert negative[row, column] == (not alike)
    assert torch.equal(positive[:, : len(z)], batch_positive)
    assert torch.equal(negative[:, : len(z)], batch_negative)
    assert past.shape == (4, z.shape[1])


# --- mixed scores ---------------------------------------------------------------------------------


@pytest.fixture
def precisions(monkeypatch):
    """In which precisions the layers of a pairs network see pairs, by either way there is."""
    seen = set()
    rest, logits = PairsNetwork.rest, Walk.logits

    def noted(self, hidden):
        seen.add(hidden.dtype)
        return rest(self, hidden)

    def walked(self, block):
        seen.add(self.first.dtype)
        return logits(self, block)

    monkeypatch.setattr(PairsNetwork, "rest", noted)
    monkeypatch.setattr(Walk, "logits", walked)
    return seen


@pytest.mark.parametrize("name", ["PairsNetwork", "CorrectedCosine"])
@pytest.mark.parametrize("kept_bytes", [2**30, 0], ids=["kept", "recomputed"])
def test_a_network_scores_in_the_precision_it_is_given_and_the_gradient_is_near(
    plain, items, precisions, monkeypatch, name, kept_bytes
):
    monkeypatch.setitem(recomputed.KEPT_BYTES, "cpu", kept_bytes)
    similarity = {"name": name, "hidden": 64, "depth": 3, "dropout": 0.0}
    terms = {"pair": {"against": "memory"}}
    changed = plain.update({"space": {"similarity": similarity}, "terms": terms, "memory": 8})
    torch.manual_seed(0)
    space, z = build_space(changed, items), torch.randn(48, 5).requires_grad_()
    for weight in space.similarity.parameters():
        weight.data += 0.1 * torch.randn(weight.shape)  # a correction begins at 0, without a gradient below
    memory = Memory(size=8, dimension=5)
    memory.push(torch.randn(8, 5), torch.arange(8) % 4)
    bfloat16 = lambda: torch.autocast("cpu", dtype=torch.bfloat16)  # noqa: E731
    gradients = []
    for scoring, precision in ((nullcontext, torch.float32), (bfloat16, torch.bfloat16)):
        precisions.clear()
        mine = copy.deepcopy(space)  # the prototypes move
        result = step(mine, z, items.labels, build_terms(changed, mine), memory=memory, scoring=scoring)
        assert precisions == {precision}
        assert {candidates.scores.dtype for candidates in result.candidates.values()} == {torch.float32}
        grads = torch.autograd.grad(sum(result.costs.values()), [z, *mine.similarity.parameters()])
        gradients.append(torch.cat([gradient.flatten() for gradient in grads]))
    exact, near = gradients
    assert 0 < (near - exact).norm() < 0.05 * exact.norm()


def test_cosines_and_distances_stay_as_they_are(plain, items, z):
    """In 16 bits they would have no digits left for items that are near."""
    for name in ("Cosine", "Euclidean", "Dot"):
        changed = plain.update({"space": {"similarity": {"name": name}, "auxiliary": None}})
        changed = dataclasses.replace(changed, terms={"class": Term("softmax", against="prototypes")})
        space = build_space(changed, items)
        scoring = lambda: torch.autocast("cpu", dtype=torch.bfloat16)  # noqa: E731
        result = step(space, z, LABELS, build_terms(changed, space), scoring=scoring)
        assert torch.equal(result.candidates["prototypes"].scores, space.score_classes(z))


# --- no side effect -------------------------------------------------------------------------------


def states_of(space, memory):
    tensors = {**space.state_dict(), **memory.state_dict(prefix="memory.")}
    return {name: tensor.clone() for name, tensor in tensors.items()}


@pytest.mark.parametrize("prototypes", ["RunningAverages", "EMAProxies"])
def test_fifty_calls_from_one_random_state_give_one_value(run, items, z, prototypes):
    similarity = {"name": "Cosine", "scale": {"name": "AdaCosScale"}}
    changed = run.update({"space": {"similarity": similarity, "prototypes": {"name": prototypes}}})
    terms = {
        "class": Term("softmax", against="prototypes"),
        "past": Term("triplet", against="memory", miner="semi_hard"),
        "auxiliary": Term("softmax", against="auxiliary"),
        "mined": Term("triplet", miner="distance_weighted"),
    }
    changed = dataclasses.replace(changed, terms=terms, penalties={"wide": Penalty("spread")})
    space = build_space(changed, items).train()
    memory, generator = remembered(space, 4), torch.Generator()
    context = Context(build_terms(changed, space), build_penalties(changed), memory, generator)
    before, values = states_of(space, memory), set()
    for _ in range(50):
        generator.manual_seed(0)
        values.add(objective(space, z, LABELS, context).total.item())
    assert len(values) == 1
    for name, tensor in states_of(space, memory).items():
        assert torch.equal(tensor, before[name]), name
    assert not any(parameter.grad is not None for parameter in space.parameters())


def test_dropout_draws_alike_from_the_same_random_state(run, items, z):
    space = build_space(run, items).train()
    context = Context(build_terms(run, space), generator=torch.Generator())
    values = []
    for _ in range(3):
        context.generator.manual_seed(0)
        with torch.random.fork_rng():
            torch.manual_seed(0)
            values.append(objective(space, z, LABELS, context).total.item())
    assert len(set(values)) == 1


def test_the_gradient_reaches_the_items(plain, space, items):
    x = items.inputs[:6].clone().requires_grad_()
    value = objective(space.eval(), space(x), LABELS, Context(build_terms(plain, space)))
    (gradient,) = torch.autograd.grad(value.total, x)
    assert (gradient.flatten(1).norm(dim=1) > 0).all()


def test_the_head_projects_by_itself_where_nothing_was_projected(plain, space, z):
    context = Context(build_terms(plain, space))
    given = objective(space, z, LABELS, context, projected=space.auxiliary.project(z))
    torch.testing.assert_close(objective(space, z, LABELS, context).costs, given.costs)


def test_a_term_by_inner_products_reads_the_embeddings_as_they_are(items, z):
    run = recipes.unseen(items.shape, loss="angular").override(["space.encoder.dimension=5"])
    run = dataclasses.replace(run, terms={"n-pair": Term("n_pair", miner="one_pair", by="inner product")})
    space, y = build_space(run, items), torch.tensor([0, 0, 2, 2, 3, 3])
    terms = build_terms(run, space)
    cost, twice = (step(space, length * z, y, terms).costs["n-pair"] for length in (1, 2))
    # Which of two is the anchor is drawn.
    assert any(torch.allclose(cost, pairs_cost(z, order)) for order in itertools.product((0, 1), repeat=3))
    assert not torch.allclose(cost, twice)
    # A term by inner products does not move the scale of the similarity.
    assert step(space, z, y, terms).candidates == {}


def pairs_cost(z, order):
    """N-pair of the pairs (0, 1), (2, 3), (4, 5), the anchor of each by its order."""
    anchors = [2 * pair + turned for pair, turned in enumerate(order)]
    positives = [2 * pair + 1 - turned for pair, turned in enumerate(order)]
    products = z[anchors] @ z[positives].T
    return -products.log_softmax(1).diagonal().mean()
