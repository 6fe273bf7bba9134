"""A brief training takes the steps of a long one, and leaves nothing behind."""

import torch

from samekind.training import train
from samekind.training.brief import train_briefly


def test_is_the_last_epoch_of_a_training(run, items, tmp_path):
    run = run.override(["keep=last"])
    brief = train_briefly(run, items, device="cpu").state_dict()
    whole = train(run, items, folder=tmp_path, validate=lambda _: {"eer": 0.5}, device="cpu").state_dict()
    assert all(torch.equal(brief[name], whole[name]) for name in whole)


def test_draws_nothing_that_others_would_draw(run, items):
    before = torch.get_rng_state()
    assert not train_briefly(run.override(["epochs=1"]), items, device="cpu").training
    assert torch.equal(torch.get_rng_state(), before)
