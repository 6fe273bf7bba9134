"""The benchmark of training: that its ways do the same work, and what is said of their times."""

import importlib.util
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
import torch.nn.functional as F

PATH = Path(__file__).parents[1] / "benchmarks/training.py"


@pytest.fixture(scope="module")
def training():
    spec = importlib.util.spec_from_file_location("benchmark_training", PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def every_change_of(image, padding):
    """All shifts of an image, mirrored and not, as numbers from 0 to 1."""
    _, height, width = image.shape
    padded = F.pad(image, [padding] * 4)
    shifts = range(2 * padding + 1)
    moved = [padded[:, top : top + height, left : left + width] for top in shifts for left in shifts]
    return torch.stack([picture for one in moved for picture in (one, one.flip(2))]).float() / 255


def test_the_plain_loop_and_the_loader_change_images_alike(training):
    torch.manual_seed(0)
    items = training.synthetic(3, 6)
    loader = training.Noise(items)
    possible = [every_change_of(image, training.PADDING) for image in items.inputs]
    for _ in range(20):
        together = training.augmented(items.inputs)
        for place in range(3):
            alone, label = loader[place]
            assert label == items.labels[place]
            for changed in (together[place], alone):
                assert (possible[place] == changed).flatten(1).all(1).any()


def test_both_ratios_are_those_of_the_rounds(training, capsys):
    seconds = {
        training.OURS: [1.0, 2.0, 4.0],
        training.PLAIN: [0.9, 1.9, 9.0],
        training.PEER: [3.0, 5.0, 12.0],
    }
    rows = training.show(seconds, 100)
    assert rows[training.PLAIN]["samekind is"] == pytest.approx(0.95)
    assert rows[training.PEER]["samekind is"] == pytest.approx(3.0)
    assert rows[training.OURS]["images per second"] == pytest.approx(50)
    told = capsys.readouterr().out
    assert "0.95x" in told
    assert "3.00x" in told


def test_ways_with_another_loss_are_not_timed(training):
    plain = Mock(images=torch.zeros(64, 1, 2, 2), labels=torch.zeros(64))
    ways = {name: Mock(loss=Mock(return_value=value)) for name, value in (("a", 4.6), ("b", 4.61))}
    training.check(ways, plain)
    ways["b"].loss.return_value = 4.7
    with pytest.raises(SystemExit, match="one loss"):
        training.check(ways, plain)


def test_every_way_gives_the_same_loss_and_trains(training, tmp_path, monkeypatch):
    monkeypatch.setattr(sys, "argv", ["training.py", "--size", "8", "--batch", "8"])
    arguments = training.arguments_given()
    items = training.synthetic(16, 8)
    ours = training.Ours(arguments, items, tmp_path, "32-true", direct=True)
    plain = training.Plain(arguments, items, ours)
    ways = {training.OURS: ours, training.PLAIN: plain}
    training.check(ways, plain)
    before = plain.proxies.detach().clone()
    assert all(way.epoch() > 0 for way in ways.values())
    assert not torch.equal(plain.proxies, before)
    assert not torch.equal(ours.trainer.space.prototypes.vectors[:, 0], before)
