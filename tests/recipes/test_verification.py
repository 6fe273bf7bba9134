"""The verification recipe: one step against the definition, and the settings its paper selected."""

import pytest
import torch
import torch.nn.functional as F

from samekind.data import clusters
from samekind.recipes import verification
from samekind.similarities.pairs_network import concatenated
from samekind.training import Batches, Optimiser, Part, Schedule, Term, build_space
from samekind.training.context import Context
from samekind.training.objective import objective
from samekind.training.terms import build_terms

LABELS = torch.tensor([0, 0, 2, 2, 0, 3])


def test_the_settings_are_those_of_the_paper():
    run = verification((3, 32, 32))
    assert run.space.similarity == Part("PairsNetwork", {"hidden": 350, "depth": 3, "dropout": 0.2})
    assert run.space.prototypes == Part("SupportMeans")
    assert run.terms["pair"] == Term(
        "pair_likelihood", against="batch", arguments={"smoothing": 0.1, "total": "mean"}
    )
    assert run.terms["auxiliary"].arguments == {"margin": 0.35, "smoothing": 0.2}
    assert run.optimiser == Optimiser("SGD", rate=0.01, momentum=0.9, weight_decay=1e-3)
    assert run.schedule == Schedule("plateau", factor=0.5, patience=10)
    assert run.batches == Batches("Shuffled", {"size": 64})
    assert run.clip is None


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_one_step_is_the_pair_likelihood_and_the_margin_softmax(smoothing):
    items = clusters(classes=4, items=3, dimension=6)
    small = ["space.similarity.hidden=8", "space.similarity.dropout=0", "space.encoder.dimension=5"]
    losses = ["terms.pair.smoothing=0", f"terms.auxiliary.smoothing={smoothing}"]
    run = verification(items.shape).override(small + losses)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        space, z = build_space(run, items), torch.randn(6, 5)
    costs = objective(space, z, LABELS, Context(build_terms(run, space))).costs
    assert list(costs) == ["pair", "auxiliary"]

    scores = concatenated(space.similarity, z, z)
    pairs = [(i, j) for i in range(6) for j in range(6) if i != j]
    same = [F.softplus(-scores[i, j]) for i, j in pairs if LABELS[i] == LABELS[j]]
    different = [F.softplus(scores[i, j]) for i, j in pairs if LABELS[i] != LABELS[j]]
    torch.testing.assert_close(costs["pair"], (sum(same) / len(same) + sum(different) / len(different)) / 2)

    expected = 0.0
    for item, label in zip(z, LABELS.tolist(), strict=True):
        cosines = [
            F.cosine_similarity(item, proxy, dim=0) for proxy in space.auxiliary.prototypes.vectors[:, 0]
        ]
        logits = torch.stack([30 * (cosine - 0.35 * (j == label)) for j, cosine in enumerate(cosines)])
        target = torch.full((4,), smoothing / 3)  # what is taken off goes to the others
        target[label] = 1 - smoothing
        expected -= (target * logits.log_softmax(0)).sum() / 6
    torch.testing.assert_close(costs["auxiliary"], expected)


def test_training_leaves_the_prototypes_to_enrolment(tmp_path, one_thread):
    from samekind.training import train

    items = clusters(classes=4, items=4, dimension=6)
    small = ["space.similarity.hidden=8", "space.encoder.dimension=5", "epochs=1"]
    run = verification(items.shape).override(small)
    space = train(run, items, folder=tmp_path, validate=lambda space: {"eer best": 0.5})
    assert (space.prototypes.vectors == 0).all()
