"""How long a training will take: about that, and nothing has changed."""

import importlib
import time

import torch

from samekind.recipes import few_shot
from samekind.training import train
from samekind.training.estimate import in_words, seconds_of_features, seconds_of_training


def test_is_near_the_time_that_the_training_takes(run, items, tmp_path):
    run = run.override(["epochs=20"])
    seconds_of_training(run, items, device="cpu")  # what is slow the first time
    estimate = seconds_of_training(run, items, device="cpu")
    began = time.perf_counter()
    train(run, items, folder=tmp_path, validate=lambda _: {"eer": 0.5}, device="cpu")
    took = time.perf_counter() - began
    assert estimate / 30 < took < 30 * estimate + 1  # other work on the machine, checkpoints


def test_draws_nothing(run, items):
    before = torch.get_rng_state()
    seconds_of_training(run, items, device="cpu")
    assert torch.equal(torch.get_rng_state(), before)


def test_more_epochs_take_longer(run, items):
    few, many = (
        seconds_of_training(run.override([f"epochs={epochs}"]), items, device="cpu") for epochs in (2, 2000)
    )
    assert many > few


def test_tasks_are_tried_whole(items):
    assert seconds_of_training(few_shot(items, shot=2), items, device="cpu") > 0


def test_features_of_more_items_take_longer(items):
    class Slow(torch.nn.Module):
        dimension = 1

        def forward(self, x):
            time.sleep(0.002 * len(x))
            return x.flatten(1)[:, :1]

    few = items.take(torch.arange(4))
    assert 0.008 <= seconds_of_features(Slow(), few) < seconds_of_features(Slow(), items)
    assert seconds_of_features(Slow(), items.take(torch.arange(0))) == 0


def test_a_gpu_is_timed_with_many_items(items, monkeypatch):
    """It takes as long for few of them."""

    class Launched(torch.nn.Module):
        dimension = 1

        def forward(self, x):
            time.sleep(0.01)
            return x.flatten(1)[:, :1]

    module = importlib.import_module("samekind.training.estimate")
    by_few = seconds_of_features(Launched(), items)
    monkeypatch.setattr(module, "device_of", lambda _: torch.device("cuda"))
    assert seconds_of_features(Launched(), items) < by_few / 2


def test_durations_are_words():
    assert [in_words(seconds) for seconds in (0.1, 59, 600)] == ["1 second", "59 seconds", "10 minutes"]
