"""Losses, miners and scales that would misread their scores are refused, with what to change."""

import pytest

from samekind import losses
from samekind.errors import SettingError
from samekind.training import build_space
from samekind.training.terms import build_terms

FOLLOWING = {
    "AdaCosScale": {"name": "AdaCosScale", "dynamic": True},
    "cosine": {"name": "DynamicScale", "form": "cosine"},
    "log-distance": {"name": "DynamicScale", "form": "log-distance"},
}
CHORD = {"name": "LogDistance", "normalise": True}


def built(run, items, *, similarity=None, head=None, **fields):
    """The terms of the run with other parts of the space, or why there are none."""
    space = {} if similarity is None else {"similarity": similarity}
    if head is not None:
        space["auxiliary"] = head
    changed = run.from_dict({**run.update({"space": space}).to_dict(), **fields})
    return build_terms(changed, build_space(changed, items))


def table(loss, against, **others):
    return {"terms": {"only": {"loss": loss, "against": against, **others}}}


# --- scales that follow angles --------------------------------------------------------------------


@pytest.mark.parametrize("against", ["prototypes", "auxiliary"])
@pytest.mark.parametrize(
    ("similarity", "scale"),
    [
        ({"name": "Dot"}, "AdaCosScale"),
        ({"name": "Euclidean"}, "cosine"),
        ({"name": "LogDistance"}, "log-distance"),
        (CHORD, "AdaCosScale"),
        (CHORD, "cosine"),
        ({"name": "Cosine"}, "log-distance"),
        ({"name": "LogAngle"}, "log-distance"),
        ({"name": "PairsNetwork"}, "AdaCosScale"),
    ],
)
def test_refuses_a_scale_of_angles_for_other_scores(run, items, similarity, scale, against):
    part = {**similarity, "scale": FOLLOWING[scale]}
    head = {"similarity": part, "bias": False}
    place = {"similarity": part} if against == "prototypes" else {"head": head}
    with pytest.raises(SettingError) as refusal:
        built(run, items, **place, **table("softmax", against))
    readable = "LogDistance with normalise=true" if scale == "log-distance" else "Cosine"
    assert str(refusal.value).startswith(
        f"run.terms.only: {FOLLOWING[scale]['name']} cannot read the angles between items and classes "
        f"from the scores of {similarity['name']} with these settings; choose {readable}, or another scale"
    )


@pytest.mark.parametrize(
    ("similarity", "scale"),
    [
        ({"name": "Cosine"}, FOLLOWING["AdaCosScale"]),
        ({"name": "Cosine"}, FOLLOWING["cosine"]),
        (CHORD, FOLLOWING["log-distance"]),
        ({"name": "Dot"}, {"name": "AdaCosScale"}),  # a number, which follows nothing
        ({"name": "Dot"}, {"name": "LearnedScale"}),
    ],
)
def test_accepts_a_scale_that_fits_the_scores(run, items, similarity, scale):
    part = {**similarity, "scale": scale}
    assert built(run, items, similarity=part, **table("softmax", "prototypes"))
    assert built(run, items, head={"similarity": part, "bias": False}, **table("softmax", "auxiliary"))


def test_a_scale_that_no_class_scores_reach_may_be_anything(run, items):
    part = {"name": "Dot", "scale": FOLLOWING["AdaCosScale"]}
    assert built(run, items, similarity=part, **table("pair_likelihood", "batch"))


# --- a bias on top of angles ----------------------------------------------------------------------


@pytest.mark.parametrize("loss", [name for name, kinds in losses.ACCEPTS.items() if len(kinds) == 1])
def test_a_loss_that_reads_angles_or_distances_takes_no_bias(run, items, loss):
    kinds = {"cosine": "Cosine", "inner product": "Dot"}
    similarity = {"name": kinds.get(losses.ACCEPTS[loss][0], "Euclidean")}
    with pytest.raises(SettingError) as refusal:
        built(run, items, head={"similarity": similarity, "bias": True}, **table(loss, "auxiliary"))
    assert str(refusal.value) == (
        f"run.terms.only: the loss {loss} takes scores that are {losses.ACCEPTS[loss][0]}, and the bias of "
        "the auxiliary head is added to them; set space.auxiliary.bias to false, or choose another loss"
    )
    assert built(run, items, head={"similarity": similarity, "bias": False}, **table(loss, "auxiliary"))


def test_a_loss_that_takes_any_scores_takes_a_bias(run, items):
    head = {"similarity": {"name": "Cosine"}, "bias": True}
    assert built(run, items, head=head, **table("softmax", "auxiliary"))


@pytest.mark.parametrize("similarity", [{"name": "Cosine"}, CHORD], ids=["cosine", "log-distance"])
def test_a_scale_that_follows_angles_takes_no_bias(run, items, similarity):
    form = "cosine" if similarity["name"] == "Cosine" else "log-distance"
    head = {"similarity": {**similarity, "scale": FOLLOWING[form]}, "bias": True}
    with pytest.raises(
        SettingError,
        match=r"only: the bias .* DynamicScale reads the angles .* set space\.auxiliary\.bias to",
    ):
        built(run, items, head=head, **table("softmax", "auxiliary"))


# --- the order of the batch -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("against", "miner"),
    [
        ("prototypes", "everything"),
        ("auxiliary", "everything"),
        ("batch", "hardest"),
        ("memory", "hardest"),
    ],
)
def test_triplets_are_counted_in_a_batch_with_itself_alone(run, items, against, miner):
    fields = table("pair_likelihood", against, miner=miner, weighting="triplets")
    with pytest.raises(SettingError) as refusal:
        built(run, items, memory=16, **fields)
    assert str(refusal.value) == (
        'run.terms.only: pair_likelihood with weighting "triplets" counts the items of a batch that come '
        'after the anchor; set against to "batch" or "memory" and miner to "everything", not '
        f'"{against}" and "{miner}", or leave out weighting'
    )
    del fields["terms"]["only"]["weighting"]
    assert built(run, items, memory=16, **fields)


@pytest.mark.parametrize("against", ["batch", "memory"])
def test_triplets_of_a_batch_and_of_what_follows_it_are_counted(run, items, against):
    assert built(run, items, memory=16, **table("pair_likelihood", against, weighting="triplets"))


# --- mixed scores ---------------------------------------------------------------------------------


@pytest.mark.parametrize("similarity", ["PairsNetwork", "CorrectedCosine"])
@pytest.mark.parametrize("precision", ["auto", "bf16-mixed", "16-mixed"])
def test_a_network_over_the_pair_may_score_in_mixed_precision(run, items, similarity, precision):
    fields = {"mixed_scores": True, "precision": precision}
    assert built(run, items, similarity={"name": similarity}, **fields)


def test_mixed_scores_of_one_precision_are_refused(run, items):
    with pytest.raises(SettingError, match=r'run\.mixed_scores: .* "32-true"; set precision to "auto" or'):
        built(run, items, mixed_scores=True, precision="32-true")


def test_mixed_scores_without_a_network_are_refused(run, items):
    with pytest.raises(SettingError, match=r"run\.mixed_scores: .* and Cosine is computed in float32"):
        built(run, items, similarity={"name": "Cosine"}, mixed_scores=True, **table("softmax", "prototypes"))
