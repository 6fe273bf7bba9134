"""A training that collapses says so within an epoch or two, and one that does not pay at its end."""

import pytest
import torch

from samekind.data import clusters
from samekind.evaluation import validation
from samekind.training import RunFolder, train
from samekind.training.health import spread_of, trouble, verdict


def entry(epoch, *, loss=1.0, eer=0.2, best=True, **more):
    validation = {"eer": eer, "recall@1": 1 - eer}
    return {"epoch": epoch, "step": 30 * epoch, "loss": loss, "validation": validation, "best": best, **more}


START = {"eer": 0.3, "recall@1": 0.7}


@pytest.mark.parametrize("length", [1e-3, 1.0, 1e3])
def test_the_spread_is_a_share_of_the_length(length):
    z = torch.randn(50, 8, generator=torch.Generator().manual_seed(0))
    by_hand = sum(((one - z.mean(0)) ** 2).sum() for one in z) / sum((one**2).sum() for one in z)
    assert spread_of(length * z) == pytest.approx(float(by_hand), rel=1e-5)
    assert spread_of(length * (z[:1] + 1e-4 * z)) < 1e-6
    assert spread_of(torch.zeros(3, 2)) == 0


@pytest.mark.parametrize(
    ("now", "spread", "says", "collapsed"),
    [
        ({"loss": 0.5}, 0.3, None, None),
        ({"loss": 0.5}, 1e-6, "all embeddings are nearly equal", True),
        ({"loss": 0.5, "eer": 0.5}, 0.3, "that of a coin", True),
        ({"loss": 0.999, "eer": 0.31}, 0.3, "the loss does not fall", True),
        ({"loss": 0.999, "eer": 0.29}, 0.3, None, None),
        ({"loss": 0.5, "eer": 0.31}, 0.3, None, None),
        ({"loss": 0.5, "eer": 0.4}, 0.3, "not better than EER 30.00% before the first step", False),
    ],
)
def test_warnings_are_given_after_the_second_epoch(run, now, spread, says, collapsed):
    first = entry(1, untrained=START)
    wrong = trouble(run, entry(2, **now), [first], spread=spread)
    if says is None:
        assert wrong is None
    else:
        assert says in wrong.sentence
        assert "optimiser.rate=0.005, it is 0.05" in wrong.sentence
        assert wrong.collapsed == collapsed


def test_a_loss_of_few_steps_need_not_fall(run):
    early = {**entry(2, loss=1.0, eer=0.31), "step": 6}
    assert trouble(run, early, [entry(1, untrained=START)], spread=0.3) is None


def test_a_record_without_its_start_is_not_judged(run):
    assert trouble(run, entry(2, eer=0.5), [entry(1)], spread=0.3) is None
    assert verdict(run, [entry(1, eer=0.5)]) is None
    assert verdict(run, []) is None


@pytest.mark.parametrize(("watch", "better"), [("eer", None), ("recall@1", None)])
def test_the_kept_epoch_has_to_beat_the_start(run, watch, better):
    run = run.override([f'watch="{watch}"'])
    lines = [entry(1, eer=0.3, untrained=START), entry(2, eer=0.4, best=False)]
    assert "is not better than" in verdict(run, lines)
    assert verdict(run, [entry(1, eer=0.29, untrained=START)]) is None
    assert verdict(run, [entry(1, eer=0.0, untrained={"eer": 0.0, "recall@1": 1.0})]) is None


def test_a_collapse_is_in_the_record_once_and_the_start_before_it(run, items, tmp_path):
    """Proxies that pull everything to one place: no learned difference is left."""
    told = validation(clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5))
    run = run.override(["epochs=4", "optimiser.rate=0", "keep=last"])

    def collapsing(space):
        with torch.no_grad():
            for weight in space.encoder.parameters():
                weight.zero_()
            space.encoder.embedding.bias.fill_(1.0)
        return told(space)

    train(run, items, folder=tmp_path, validate=collapsing, device="cpu")
    lines = RunFolder(tmp_path).record.lines()
    assert lines[0]["untrained"].keys() == lines[0]["validation"].keys()
    assert [("trouble" in line) for line in lines] == [True, False, False, False]
    assert "nearly equal" in lines[0]["trouble"]


def test_the_start_is_the_space_before_the_first_step(run, items, validate, tmp_path):
    seen = []

    def remembering(space):
        seen.append(validate(space))
        return seen[-1]

    train(run, items, folder=tmp_path, validate=remembering, device="cpu")
    first, *rest = RunFolder(tmp_path).record.lines()
    assert first["untrained"] == seen[0]
    assert first["validation"] == seen[1]
    assert not any("untrained" in line for line in rest)
