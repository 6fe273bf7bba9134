"""Checkpoints: whole or not at all, no code inside, and the random numbers go on as if nothing happened."""

import pickle
from pathlib import Path

import pytest
import torch

from samekind import storage
from samekind.errors import TrainingError
from samekind.training.checkpoints import (
    RunProgress,
    load_checkpoint,
    random_states,
    random_states_kept,
    save_checkpoint,
    set_random_states,
)

PROGRESS = RunProgress(
    epoch=2, batch=3, step=13, best=0.1 + 0.2, best_epoch=1, costs=[[0.1, 0.2], [1e-17, 3.0]]
)


def save(path, weight=1.0):
    states = {"space": {"weight": torch.full((3,), weight)}, "scheduler": {"last": 3, "lambdas": [None]}}
    save_checkpoint(path, run={"epochs": 3, "clip": None}, data="abc", progress=PROGRESS, states=states)


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "new" / "last.pt"
    save(path)
    return path


def test_loads_what_was_saved(path):
    content = load_checkpoint(path)
    assert content["run"] == {"epochs": 3, "clip": None}
    assert content["data"] == "abc"
    assert content["progress"] == PROGRESS
    assert torch.equal(content["states"]["space"]["weight"], torch.ones(3))
    assert content["states"]["scheduler"] == {"last": 3, "lambdas": [None]}


def test_a_run_begins_at_zero():
    assert RunProgress() == RunProgress(epoch=0, batch=0, step=0, best=None, best_epoch=None, costs=[])
    assert RunProgress().costs is not RunProgress().costs


def test_the_file_can_be_read_without_running_code(path):
    keys = {"run", "data", "tree", "progress", "states", "random"}
    assert set(torch.load(path, weights_only=True)) == keys


def test_random_numbers_go_on_where_they_were(tmp_path):
    with torch.random.fork_rng():
        torch.manual_seed(3)
        torch.rand(7)
        torch.randn(3)  # the generator also holds half of a pair of normal numbers
        save(tmp_path / "last.pt")
        expected = torch.randn(5), torch.rand(5), torch.nn.functional.dropout(torch.ones(50))
        torch.manual_seed(99)
        set_random_states(load_checkpoint(tmp_path / "last.pt")["random"])
        again = torch.randn(5), torch.rand(5), torch.nn.functional.dropout(torch.ones(50))
    assert all(torch.equal(one, other) for one, other in zip(expected, again, strict=True))


def test_saving_draws_no_random_number(tmp_path):
    before = torch.get_rng_state()
    save(tmp_path / "last.pt")
    load_checkpoint(tmp_path / "last.pt")
    assert torch.equal(torch.get_rng_state(), before)


def test_a_machine_with_other_devices_keeps_its_own_states():
    states = random_states()
    set_random_states({**states, "cuda": [torch.zeros(16, dtype=torch.uint8)] * 99})
    assert torch.equal(torch.get_rng_state(), states["cpu"])


@pytest.fixture
def three_generators(monkeypatch):
    """Two GPUs and one of Apple's, as far as their generators go."""
    states = {"cuda": [torch.tensor([1]), torch.tensor([2])], "mps": torch.tensor([3])}
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 2)
    monkeypatch.setattr(torch.cuda, "get_rng_state_all", lambda: list(states["cuda"]))
    monkeypatch.setattr(torch.cuda, "set_rng_state_all", lambda given: states.update(cuda=given))
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: True)
    monkeypatch.setattr(torch.mps, "get_rng_state", lambda: states["mps"])
    monkeypatch.setattr(torch.mps, "set_rng_state", lambda given: states.update(mps=given))
    return states


def moved(states):
    """Every generator draws."""
    torch.rand(1)
    states.update(cuda=[state + 10 for state in states["cuda"]], mps=states["mps"] + 10)


def test_the_generators_of_all_devices_are_in_a_checkpoint(three_generators, tmp_path):
    save(tmp_path / "last.pt")
    moved(three_generators)
    set_random_states(load_checkpoint(tmp_path / "last.pt")["random"])
    assert [int(state) for state in three_generators["cuda"]] == [1, 2]
    assert int(three_generators["mps"]) == 3


def test_an_old_checkpoint_without_mps_leaves_its_generator_alone(three_generators):
    states = random_states()
    del states["mps"]
    moved(three_generators)
    set_random_states(states)
    assert int(three_generators["mps"]) == 13


def test_a_checkpoint_with_mps_is_read_without_mps():
    if not torch.backends.mps.is_available():
        set_random_states({**random_states(), "mps": [torch.zeros(16, dtype=torch.uint8)]})


@pytest.mark.parametrize("fails", [False, True])
def test_random_states_are_restored_on_every_device(three_generators, fails):
    before = torch.get_rng_state()
    try:
        with random_states_kept():
            moved(three_generators)
            if fails:
                raise ValueError("on purpose")
    except ValueError:
        assert fails
    assert torch.equal(torch.get_rng_state(), before)
    assert [int(state) for state in three_generators["cuda"]] == [1, 2]
    assert int(three_generators["mps"]) == 3


def test_a_save_that_dies_leaves_the_old_checkpoint(path, monkeypatch):
    def die(*_):
        raise OSError("no space left on device")

    # Before anything is written, and before it takes its place.
    for owner, step in ((storage, "_new_file"), (Path, "replace")):
        with monkeypatch.context() as patch:
            patch.setattr(owner, step, die)
            with pytest.raises(OSError, match="no space left"):
                save(path, weight=2.0)
        assert torch.equal(load_checkpoint(path)["states"]["space"]["weight"], torch.ones(3))
        assert [file.name for file in path.parent.iterdir()] == ["last.pt"]


def test_a_save_replaces_the_old_checkpoint(path):
    save(path, weight=2.0)
    assert load_checkpoint(path)["states"]["space"]["weight"].tolist() == [2, 2, 2]
    assert [file.name for file in path.parent.iterdir()] == ["last.pt"]


def refused(path, why="it is damaged, or not one of samekind's"):
    with pytest.raises(TrainingError) as refusal:
        load_checkpoint(path)
    advice = "remove all checkpoints of that folder to start again"
    assert str(refusal.value) == f"the checkpoint {path} cannot be read: {why}; {advice}"


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.99])
def test_refuses_a_file_cut_short(path, share):
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    refused(path)


def test_refuses_another_kind_of_file(path, tmp_path):
    path.write_bytes(b"not a checkpoint at all")
    refused(path)
    torch.save(torch.zeros(3), path)
    refused(path)
    torch.save({"progress": {"epochs": 3}}, path)
    refused(path)
    refused(tmp_path / "absent.pt", why="it does not exist")


class Trap:
    """What a file from a stranger may hold: something that runs when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_refuses_a_file_with_code_and_does_not_run_it(path, tmp_path):
    sprung = tmp_path / "sprung"
    pickle.loads(pickle.dumps(Trap(sprung)))  # the trap works
    assert sprung.exists()
    sprung.unlink()
    torch.save({"progress": {}, "states": Trap(sprung)}, path)
    refused(path)
    assert not sprung.exists()
