"""One training step against the algorithm written out with plain loops, and who is called when."""

import copy
import dataclasses
import itertools
from contextlib import nullcontext

import pytest
import torch
import torch.nn.functional as F

from samekind.losses import softmax
from samekind.miners import everything
from samekind.pairs import pair_masks
from samekind.similarities import PairsNetwork, recomputed
from samekind.similarities.recomputed_walk import Walk
from samekind.training import Penalty, Term, build_space
from samekind.training.build import BuiltPenalty, BuiltTerm, build_penalties, build_terms
from samekind.training.memory import Memory
from samekind.training.step import after_step
from samekind.training.step import loss_terms as step

LABELS = torch.tensor([0, 0, 2, 2, 0, 3])  # class 1 is absent, class 3 is alone


def loss_terms(space, z, y, terms, penalties, *, generator=None):
    """The terms of a step alone."""
    return step(space, z, y, terms, penalties, generator=generator).costs


@pytest.fixture
def plain(run):
    """The prototypical run without anything random."""
    plain = ["terms.class.smoothing=0", "terms.pair.smoothing=0", "terms.auxiliary.smoothing=0"]
    return run.override([*plain, "space.similarity.dropout=0", "space.encoder.dropout=0"])


@pytest.fixture
def space(plain, items):
    with torch.random.fork_rng():
        torch.manual_seed(0)
        return build_space(plain, items)


@pytest.fixture
def z():
    return torch.randn(6, 5, generator=torch.Generator().manual_seed(0)).requires_grad_()


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
        [torch.stack([similarity_of(space.similarity, each, item) for each in prototypes]) for item in z]
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
    costs = loss_terms(space, z, LABELS, build_terms(plain, space), {})
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
    once = loss_terms(space, z, LABELS, build_terms(plain, space), {})
    space.prototypes.momentum = 1.0  # the prototypes stay where the first step left them
    costs = loss_terms(space, z, LABELS, build_terms(changed, space), build_penalties(changed))
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
    cost = loss_terms(space, z, LABELS, build_terms(one, space), {})["pair"]
    ahead = [similarity_of(space.similarity, z[i], z[j]) for i, j in [(0, 1), (0, 4), (1, 4), (2, 3)]]
    behind = [
        similarity_of(space.similarity, z[i], z[j])
        for i in range(6)
        for j in range(6)
        if LABELS[i] != LABELS[j]
    ]
    expected = sum(F.softplus(-each) for each in ahead) / 4 + sum(map(F.softplus, behind)) / len(behind)
    torch.testing.assert_close(cost, expected)


def test_the_hooks_come_in_order_and_without_gradient(plain, space, z):
    events = []

    def spy(owner, name, label):
        real = getattr(owner, name)

        def called(embeddings, *rest):
            events.append((label, torch.is_grad_enabled(), embeddings.requires_grad))
            return real(embeddings, *rest)

        object.__setattr__(owner, name, called)

    for name in ("before_loss", "after_step"):
        spy(space.prototypes, name, f"prototypes {name}")
        spy(space.auxiliary.prototypes, name, f"head {name}")
    spy(space, "score_classes", "scores")
    spy(space.auxiliary, "score_projected", "head scores")

    done = step(space, z, LABELS, build_terms(plain, space), {})
    assert events == [
        ("prototypes before_loss", False, False),
        ("head before_loss", False, False),
        ("scores", True, True),
        ("head scores", True, True),
    ]
    events.clear()
    after_step(space, z, LABELS, done)
    assert events == [("prototypes after_step", False, False), ("head after_step", False, False)]


def test_scores_are_made_once_however_many_terms_read_them(plain, space, z, monkeypatch):
    calls = []
    real = space.similarity.score_all
    monkeypatch.setattr(space.similarity, "score_all", lambda a, b: calls.append(len(a)) or real(a, b))
    twice = dataclasses.replace(plain, terms={"a": Term("pair_likelihood"), "b": Term("softmax")})
    loss_terms(space, z, LABELS, build_terms(twice, space), {})
    assert calls == [6]


@pytest.mark.parametrize("order", list(itertools.permutations(["class", "pair", "auxiliary"])), ids=str)
def test_scores_are_made_in_the_order_of_the_terms(plain, space, z, order, monkeypatch):
    """Dropout draws with each: another order, as a set has in every process, is another run."""
    made = []
    real = space.similarity.score_all
    monkeypatch.setattr(space.similarity, "score_all", lambda a, b: made.append(len(a)) or real(a, b))
    head = space.auxiliary.score_projected
    monkeypatch.setattr(space.auxiliary, "score_projected", lambda z: made.append("head") or head(z))
    built = build_terms(plain, space)
    loss_terms(space, z, LABELS, {name: built[name] for name in order}, {})
    against = {"class": 4, "pair": 6, "auxiliary": "head"}  # four prototypes, six items
    assert made == [against[name] for name in order]


def test_a_space_without_a_head_takes_a_step(plain, items, z):
    headless = dataclasses.replace(
        plain,
        space=dataclasses.replace(plain.space, auxiliary=None),
        terms={"pair": plain.terms["pair"]},
    )
    space = build_space(headless, items)
    done = step(space, z, LABELS, build_terms(headless, space), {})
    assert done.costs["pair"].isfinite()
    after_step(space, z, LABELS, done)


@pytest.mark.parametrize("labels", [torch.tensor([0, 1, 2, 3]), torch.tensor([1, 1, 1, 1])])
def test_a_batch_that_mining_leaves_empty_costs_0_with_a_graph(plain, items, labels):
    changed = plain.update({"space": {"similarity": {"name": "Euclidean"}}})
    changed = dataclasses.replace(changed, terms={"triplet": Term("triplet", miner="hardest")})
    space = build_space(changed, items)
    z = torch.randn(4, 5, requires_grad=True)
    cost = loss_terms(space, z, labels, build_terms(changed, space), {})["triplet"]
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


@pytest.mark.parametrize("asked", [(), ("scale",), ("generator",), ("scale", "generator")])
def test_scale_and_generator_are_handed_over_only_where_asked(space, z, asked):
    seen, generator = [], torch.Generator()
    loss_terms(space, z, LABELS, {"mine": recording(seen, asked=asked)}, {}, generator=generator)
    handed = seen[0][3]
    assert set(handed) == set(asked)
    if "scale" in asked:
        assert handed["scale"] == 1
    if "generator" in asked:
        assert handed["generator"] is generator


@pytest.mark.parametrize(("against", "scale"), [("batch", 3.0), ("prototypes", 3.0), ("auxiliary", 7.0)])
def test_the_scale_is_that_of_the_similarity_that_scored(run, items, z, against, scale):
    here = {"name": "Cosine", "scale": {"name": "FixedScale", "value": 3.0}}
    head = {"name": "Cosine", "scale": {"name": "FixedScale", "value": 7.0}}
    space = build_space(run.update({"space": {"similarity": here, "auxiliary": {"similarity": head}}}), items)
    seen = []
    term = dataclasses.replace(recording(seen, asked=("scale",)), term=Term("mine", against=against))
    loss_terms(space, z, LABELS, {"mine": term}, {})
    assert seen[0][3]["scale"] == scale


@pytest.mark.parametrize(
    ("term", "known"),
    [
        (Term("mine", against="prototypes"), True),
        (Term("mine", against="auxiliary"), True),
        (Term("mine", against="batch"), False),
        (Term("mine", against="prototypes", miner="mine"), False),
    ],
    ids=str,
)
def test_the_targets_are_handed_over_where_the_classes_are_the_candidates(space, z, term, known):
    seen = []
    built = dataclasses.replace(recording(seen, asked=("targets",)), term=term)
    loss_terms(space, z, LABELS, {"mine": built}, {})
    targets = seen[0][3]["targets"]
    assert (targets is LABELS) if known else (targets is None)


def test_a_learned_scale_is_trained(run, items, z):
    learned = {"name": "Cosine", "scale": {"name": "LearnedScale"}}
    changed = run.update({"space": {"similarity": learned}})
    changed = dataclasses.replace(changed, terms={"class": Term("softmax", against="prototypes")})
    space = build_space(changed, items)
    loss_terms(space, z, LABELS, build_terms(changed, space), {})["class"].backward()
    assert space.similarity.scale.logarithm.grad.abs() > 0


def test_miners_see_the_scores_without_gradient_and_the_generator(space, z):
    generator, seen = torch.Generator(), []

    def miner(scores, positive, negative, *, generator):
        seen.append((scores.requires_grad, generator))
        rows = torch.tensor([2, 0])
        return rows, positive[rows], negative[rows]

    losses = []
    term = dataclasses.replace(recording(losses, asked=()), term=Term("mine", miner="mine"), miner=miner)
    cost = loss_terms(space, z, LABELS, {"mine": term}, {}, generator=generator)["mine"]
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
        return loss_terms(space, z, LABELS, terms, {}, generator=torch.Generator().manual_seed(seed))["pair"]

    state = torch.get_rng_state()
    assert cost(0) == cost(0)
    assert cost(0) != cost(1)
    assert torch.equal(torch.get_rng_state(), state)


# --- memory, candidates among themselves, scales ---------------------------------------------------


def remembered(space, count):
    memory = Memory(size=10, dimension=space.prototypes.dimension)
    memory.push(torch.randn(count, space.prototypes.dimension), torch.arange(count) % 3)
    return memory


def seeing(seen, *, needs=()):
    """A term whose loss writes down what it is given."""

    def loss(scores, positive, negative, **handed):
        seen.append((scores, positive, negative, handed))
        return scores.sum(1)

    return loss, needs


def test_the_memory_adds_candidates_behind_the_batch(space, z):
    memory, seen = remembered(space, 4), []
    loss, needs = seeing(seen)
    term = BuiltTerm(Term("softmax", against="memory"), loss, everything, needs)
    step(space, z, LABELS, {"mine": term}, {}, memory=memory)
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


def test_the_memory_is_filled_after_the_step(space, z):
    memory = Memory(size=10, dimension=space.prototypes.dimension)
    after_step(space, z, LABELS, step(space, z, LABELS, {}, {}), memory=memory)
    assert torch.equal(memory.content()[0], z[:10].detach())


@pytest.mark.parametrize("against", ["batch", "prototypes", "memory"])
def test_candidates_of_different_classes_are_scored_with_each_other(space, z, against):
    seen, memory = [], remembered(space, 3)
    loss, needs = seeing(seen, needs=("between",))
    space.eval()
    step(
        space,
        z,
        LABELS,
        {"mine": BuiltTerm(Term("x", against=against), loss, everything, needs)},
        {},
        memory=memory,
    )
    between = seen[0][3]["between"]
    vectors, labels = {
        "batch": (z, LABELS),
        "memory": (torch.cat([z, memory.content()[0]]), torch.cat([LABELS, memory.content()[1]])),
        "prototypes": (space.prototypes.vectors[:, 0], torch.arange(len(space.classes))),
    }[against]
    for row, column in itertools.product(range(len(vectors)), repeat=2):
        if labels[row] == labels[column]:
            assert between[row, column] == -torch.inf
        else:
            expected = space.similarity(vectors[row : row + 1], vectors[column : column + 1])
            torch.testing.assert_close(between[row, column], expected[0], rtol=1e-4, atol=1e-5)


def test_a_scale_sees_the_class_scores_after_the_step(space, z, monkeypatch):
    seen = []
    monkeypatch.setattr(space.similarity.scale, "after_step", lambda *given: seen.append(given))
    term = BuiltTerm(Term("softmax", against="prototypes"), softmax, everything, ("scale",))
    done = step(space, z, LABELS, {"class": term}, {})
    after_step(space, z, LABELS, done)
    scores, positive = seen[0]
    assert torch.equal(scores, done.candidates["prototypes"].scores)
    assert not scores.requires_grad
    assert positive.nonzero()[:, 1].tolist() == LABELS.tolist()


@pytest.mark.parametrize("prototypes", ["LearnedProxies", "RunningAverages", "EMAProxies"])
def test_the_head_projects_once_and_all_see_the_same(plain, items, z, prototypes):
    """With dropout a second projection is another one, and after the optimiser's step so is a third."""
    head = {
        "similarity": {"name": "Cosine"},
        "prototypes": {"name": prototypes},
        "projection": {"name": "MLP", "hidden": [8], "dimension": 3, "dropout": 0.5},
    }
    changed = plain.update({"space": {"auxiliary": {**head, "bias": False}}})
    space = build_space(changed, items).train()
    calls, seen, prototypes = [], [], space.auxiliary.prototypes
    space.auxiliary.projection.register_forward_hook(lambda *each: calls.append(each[2].detach().clone()))
    for name in ("before_loss", "after_step"):
        real = getattr(prototypes, name)
        object.__setattr__(
            prototypes, name, lambda given, y, real=real: seen.append(given.clone()) or real(given, y)
        )
    done = step(space, z, LABELS, build_terms(changed, space), {})
    scores = space.auxiliary.similarity.score_all(calls[0], done.candidates["auxiliary"].vectors)
    torch.testing.assert_close(done.candidates["auxiliary"].scores, scores)
    with torch.no_grad():  # as an optimiser would
        for each in space.auxiliary.projection.parameters():
            each.add_(1)
    after_step(space, z, LABELS, done)
    assert len(calls) == 1
    assert len(seen) == 2
    assert all(torch.equal(each, calls[0]) for each in seen)


def test_a_penalty_gets_what_it_asks_for(space, z):
    def crowding(y, prototypes):
        return y.double().mean() + prototypes.sum() * 0

    penalty = BuiltPenalty(2.0, crowding, ("y", "prototypes"))
    costs = step(space, z, LABELS, {}, {"crowding": penalty}).costs
    assert costs["crowding"].item() == pytest.approx(2 * LABELS.double().mean().item())


# --- mixed scores ---------------------------------------------------------------------------------


@pytest.fixture
def precisions(monkeypatch):
    """In which precisions the layers of a pairs network see pairs, by either way there is."""
    seen = set()
    rest, logits = PairsNetwork.rest, Walk.logits

    def kept(self, hidden):
        seen.add(hidden.dtype)
        return rest(self, hidden)

    def walked(self, block):
        seen.add(self.first.dtype)
        return logits(self, block)

    monkeypatch.setattr(PairsNetwork, "rest", kept)
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
    for each in space.similarity.parameters():
        each.data += 0.1 * torch.randn(each.shape)  # a correction begins at 0, without a gradient below
    memory = Memory(size=8, dimension=5)
    memory.push(torch.randn(8, 5), torch.arange(8) % 4)
    bfloat16 = lambda: torch.autocast("cpu", dtype=torch.bfloat16)  # noqa: E731
    found = []
    for scoring, precision in ((nullcontext, torch.float32), (bfloat16, torch.bfloat16)):
        precisions.clear()
        mine = copy.deepcopy(space)  # the prototypes move
        made = step(mine, z, items.labels, build_terms(changed, mine), {}, memory=memory, scoring=scoring)
        assert precisions == {precision}
        assert {each.scores.dtype for each in made.candidates.values()} == {torch.float32}
        grads = torch.autograd.grad(sum(made.costs.values()), [z, *mine.similarity.parameters()])
        found.append(torch.cat([each.flatten() for each in grads]))
    exact, near = found
    assert 0 < (near - exact).norm() < 0.05 * exact.norm()


def test_cosines_and_distances_stay_as_they_are(plain, items, z):
    """In 16 bits they would have no digits left for items that are near."""
    for name in ("Cosine", "Euclidean", "Dot"):
        changed = plain.update({"space": {"similarity": {"name": name}, "auxiliary": None}})
        changed = dataclasses.replace(changed, terms={"class": Term("softmax", against="prototypes")})
        space = build_space(changed, items)
        scoring = lambda: torch.autocast("cpu", dtype=torch.bfloat16)  # noqa: E731
        made = step(space, z, LABELS, build_terms(changed, space), {}, scoring=scoring)
        assert torch.equal(made.candidates["prototypes"].scores, space.score_classes(z))
