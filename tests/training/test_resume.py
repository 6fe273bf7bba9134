"""A run that is stopped and run again ends as if it had never been stopped, bit for bit."""

import dataclasses
import itertools
import os
import random
import signal
import subprocess
import sys
import time

import pytest
import torch
from lightning_fabric.plugins.precision import MixedPrecision

from samekind.data import Items
from samekind.training import Penalty, Record, Term, loop, train
from samekind.training.checkpoints import load_checkpoint
from samekind.training.fabric import Fabric

# --- runs that together hold every kind of state --------------------------------------------------


def with_everything(run):
    """Dropout twice, running averages, momentum, random targets, steps in the rate."""
    steps = "schedule={name='multi-step', milestones=[1, 3], factor=0.5}"
    return run.override(["epochs=4", "checkpoint_steps=2", steps])


def saved_at_epochs_only(run):
    return run.override(["epochs=4"])


def with_adam(run):
    plateau = "schedule={name='plateau', factor=0.5, patience=0}"
    return run.override(["epochs=4", "checkpoint_steps=1", "optimiser={name='Adam', rate=0.01}", plateau])


def with_mined_triplets(run):
    """Another sampler, a penalty, Nesterov's steps, a rate that moves with every step, a learned scale."""
    rate = "schedule={name='inverse-square-root', warmup=4}"
    run = run.override(["epochs=4", "checkpoint_steps=1", "optimiser.nesterov=true", rate])
    scaled = {"name": "Euclidean", "normalise": True, "scale": {"name": "LearnedScale"}}
    proxies = {"name": "LearnedProxies"}
    run = run.update({"space": {"similarity": scaled, "prototypes": proxies, "auxiliary": "none"}})
    run = run.update({"batches": {"sampler": "Balanced", "classes": 4, "items": 4}})
    terms = {
        "triplet": Term("triplet", miner="hardest", order="one"),
        "class": Term("softmax", against="prototypes"),
    }
    return dataclasses.replace(run, terms=terms, penalties={"spread": Penalty("spread", weight=0.1)})


def with_batch_normalisation(run):
    """Images; the layers keep running means of their own."""
    small = {"name": "SmallConvnet", "dimension": 5, "width": 2}
    return run.update({"space": {"encoder": small}}).override(["epochs=4", "checkpoint_steps=1"])


def with_augmentation(run):
    """Bytes, standardised and augmented in every way that draws anything else."""
    listed = ["PadAndCrop", "Flip", "RandAugment", "Rotation", "ColourJitter", "Blur", "AdditiveNoise"]
    augment = {"augment": [{"name": name} for name in listed]}
    return with_batch_normalisation(run).update(augment).override(["space.standardise=channels"])


def with_fine_tuning(run):
    """Channels innermost, a warm-up and a cosine, decoupled weight decay."""
    tuned = ["channels_last=true", "schedule={name='cosine', warmup_epochs=1.5}"]
    tuned += ["optimiser={name='AdamW', rate=0.01, weight_decay=0.1}"]
    return with_augmentation(run).override(tuned)


def with_adversary(run):
    """A classifier with dropout of its own, Adam's moments and a coefficient that every epoch sets anew."""
    rates = {"optimiser": {"name": "Adam", "rate": 0.01}, "adversary": {"hidden": 6, "rate": 0.02}}
    return run.override(["epochs=4", "checkpoint_steps=2"]).update(rates)


def with_tasks(run):
    """Few-shot tasks, augmented two steps at a time, so that a run is stopped between the two."""
    tasks = {"batches": {"sampler": "Episodes", "way": 3, "shot": 2, "queries": 3, "tasks": 2, "steps": 3}}
    ratio = {"name": "LogDistance", "scale": {"name": "LearnedScale"}}
    run = with_augmentation(run).update({**tasks, "optimiser": {"name": "Adam", "rate": 0.01}})
    run = run.update({"space": {"similarity": ratio, "prototypes": {"name": "SupportMeans"}}})
    space = dataclasses.replace(run.space, auxiliary=None)
    terms = {"task": Term("softmax", against="support")}
    return dataclasses.replace(run, space=space, terms=terms, ahead=2, capture=True)


RUNS = [
    with_everything,
    saved_at_epochs_only,
    with_adam,
    with_mined_triplets,
    with_batch_normalisation,
    with_augmentation,
    with_fine_tuning,
    with_adversary,
    with_tasks,
]


def items_for(settings, vectors):
    if settings not in (with_batch_normalisation, with_augmentation, with_fine_tuning, with_tasks):
        return vectors
    images = torch.rand(48, 1, 8, 8, generator=torch.Generator().manual_seed(0))
    if settings is not with_batch_normalisation:
        images = (images * 255).to(torch.uint8)
    return Items(images, vectors.labels, vectors.classes, "images")


def measure(space):
    """A number that depends on every weight and goes up and down."""
    torch.rand(3)  # careless on purpose
    return {"eer": float(sum(tensor.sum() for tensor in space.state_dict().values()).sin())}


# --- stopping a run at a chosen moment ------------------------------------------------------------


class StopError(Exception):
    """The moment has come."""


class Fuse:
    """A watcher, a validation and a checkpoint writer that stops at the n-th event of a kind."""

    def __init__(self, kind=None, count=0):
        self.kind, self.left = kind, count

    def burn(self, kind):
        if kind == self.kind:
            self.left -= 1
            if self.left == 0:
                raise StopError(kind)

    def begin(self, *, steps, done): ...

    def step(self, *, loss, items_per_second):
        self.burn("step")

    def epoch(self, entry):
        self.burn("epoch")

    def end(self): ...

    def validate(self, space):
        self.burn("validation")
        return measure(space)

    def save(self, *arguments, **keywords):
        self.burn("before a checkpoint")
        save_checkpoint(*arguments, **keywords)
        self.burn("after a checkpoint")


save_checkpoint = loop.save_checkpoint


def life(run, items, folder, monkeypatch, fuse):
    """One process's worth of training; None if it was stopped."""
    with monkeypatch.context() as patch:  # no other run, such as a reference, may meet the fuse
        patch.setattr(loop, "save_checkpoint", fuse.save)
        try:
            return train(run, items, folder=folder, validate=fuse.validate, watcher=fuse)
        except StopError:
            return None


def same(one, other):
    """Whether two nested values are equal, tensors bit for bit."""
    if isinstance(one, torch.Tensor):
        return torch.equal(one, other)
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(itertools.starmap(same, zip(one, other, strict=True)))
    return one == other


def assert_same_outcome(folder, unbroken):
    for name in ("last.pt", "best.pt"):
        ours, theirs = load_checkpoint(folder / name), load_checkpoint(unbroken / name)
        for part in theirs:
            assert same(ours[part], theirs[part]), part
    lines = [Record(place / "record.jsonl").lines() for place in (folder, unbroken)]
    for line in itertools.chain(*lines):
        line.pop("items_per_second")
    assert lines[0] == lines[1]


@pytest.fixture(scope="module")
def references(tmp_path_factory):
    """The folders of unbroken runs, each made when it is first asked for."""
    folders = {}

    def reference(settings, run, items):
        if settings not in folders:
            folders[settings] = tmp_path_factory.mktemp(settings.__name__)
            space = train(settings(run), items, folder=folders[settings], validate=measure)
            assert (
                space.state_dict().keys()
                == load_checkpoint(folders[settings] / "best.pt")["states"]["space"].keys()
            )
        return folders[settings]

    return reference


MOMENTS = [
    ("step", 5),
    ("validation", 1),
    ("epoch", 4),
    ("after a checkpoint", 4),
]
MORE_MOMENTS = [
    ("step", 1),
    ("step", 8),
    ("validation", 3),
    ("epoch", 1),
    ("before a checkpoint", 2),
    ("after a checkpoint", 1),
]
CASES = [
    *itertools.product(RUNS, MOMENTS),
    *itertools.product([with_everything], MORE_MOMENTS),
]


@pytest.mark.parametrize(
    ("settings", "moment"),
    CASES,
    ids=[f"{settings.__name__}, {kind} {count}" for settings, (kind, count) in CASES],
)
def test_a_stopped_run_ends_as_an_unbroken_one(
    settings, moment, run, items, tmp_path, monkeypatch, references
):
    items, run_once = items_for(settings, items), settings(run)
    unbroken = references(settings, run, items)
    assert life(run_once, items, tmp_path, monkeypatch, Fuse(*moment)) is None
    space = life(run_once, items, tmp_path, monkeypatch, Fuse())
    assert same(dict(space.state_dict()), dict(load_checkpoint(unbroken / "best.pt")["states"]["space"]))
    assert_same_outcome(tmp_path, unbroken)


@pytest.mark.parametrize("kind", ["step", "before a checkpoint", "after a checkpoint"])
def test_a_run_stopped_again_and_again_gets_there(kind, run, items, tmp_path, monkeypatch, references):
    lives = 1
    while life(with_everything(run), items, tmp_path, monkeypatch, Fuse(kind, 3)) is None:
        lives += 1
        assert lives < 20
    assert lives > 3
    assert_same_outcome(tmp_path, references(with_everything, run, items))


def test_the_runs_above_hold_the_states_they_claim(run, items, references):
    """Or else nothing would be shown by resuming them."""
    every = {
        settings: load_checkpoint(references(settings, run, items_for(settings, items)) / "last.pt")["states"]
        for settings in RUNS
    }
    rates = {
        settings: [line["rate"] for line in Record(references(settings, run, None) / "record.jsonl").lines()]
        for settings in RUNS
    }
    momenta = every[with_everything]["optimiser"]["state"]
    assert all(state["momentum_buffer"].abs().sum() > 0 for state in momenta.values())
    assert "exp_avg_sq" in every[with_adam]["optimiser"]["state"][0]
    assert every[with_adam]["scheduler"]["by_measure"]["num_bad_epochs"] >= 0
    assert rates[with_adam][-1] < rates[with_adam][0]
    assert rates[with_everything] == pytest.approx([0.05, 0.025, 0.025, 0.0125])
    assert len(set(rates[with_mined_triplets])) == 4
    assert rates[with_fine_tuning][0] == pytest.approx(0.01 * 4 / 5)
    assert rates[with_fine_tuning][-1] == pytest.approx(0, abs=1e-9)
    assert all(tensor.is_contiguous() for tensor in every[with_fine_tuning]["space"].values())
    assert every[with_mined_triplets]["scheduler"]["by_step"]["last_epoch"] == 12
    classifier = every[with_adversary]["adversary"]
    assert {"coefficient", "layers.0.weight"} < classifier.keys()
    told = Record(references(with_adversary, run, None) / "record.jsonl").lines()
    coefficients = [line["adversary"]["coefficient"] for line in told]
    assert len({*coefficients, classifier["coefficient"].item()}) == 5
    assert every[with_adversary]["optimiser"]["param_groups"][-1]["lr"] == 0.02
    assert any("running_mean" in name for name in every[with_batch_normalisation]["space"])
    assert "encoder.centre" in every[with_augmentation]["space"]
    untouched = torch.Generator().manual_seed(0).get_state()
    assert not torch.equal(every[with_everything]["generator"], untouched)


def test_the_scale_of_half_precision_is_resumed_too(run, items, tmp_path, monkeypatch):
    """A GPU's half precision, played on the CPU: the scale of the loss grows every third step."""

    def half(device, precision):
        scaler = torch.amp.GradScaler("cpu", init_scale=2.0, growth_interval=3)
        return Fabric(accelerator="cpu", devices=1, plugins=[MixedPrecision("16-mixed", "cpu", scaler)])

    monkeypatch.setattr(loop, "launch", half)
    run = with_everything(run)
    assert life(run, items, tmp_path / "unbroken", monkeypatch, Fuse()) is not None
    assert life(run, items, tmp_path / "broken", monkeypatch, Fuse("step", 8)) is None
    assert life(run, items, tmp_path / "broken", monkeypatch, Fuse()) is not None
    scale = load_checkpoint(tmp_path / "unbroken" / "last.pt")["states"]["precision"]["scale"]
    assert scale == 2.0 * 2**4
    assert_same_outcome(tmp_path / "broken", tmp_path / "unbroken")


# --- real processes, really killed ----------------------------------------------------------------

# Imports take seconds and training a moment, so one process imports and every life is a child of it, told
# where to train and after which words to wait for its end. The seed of Python's hashes differs from one
# house to the next, as it does between any two commands of a user.
SCRIPT = """
import os, sys, time
import torch
from samekind.data import clusters
from samekind.evaluation import validation
from samekind.recipes import prototypical
from samekind.training import train

torch.set_num_threads(1)
items = clusters(classes=4, items=12, dimension=6, seed=1)
validate = validation(clusters(classes=4, items=12, dimension=6, seed=1, spread=0.5))
run = prototypical(items.shape).override([
    "space.encoder.dimension=5", "space.encoder.hidden=[8]", "space.encoder.dropout=0.2",
    "space.similarity.hidden=8", "batches.size=16", "epochs=5", "checkpoint_steps=2",
    "schedule={name='plateau', factor=0.5, patience=0}",
] + sys.argv[1:])

def say(*words):  # in one piece: a process that is killed must not leave half a line
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

class Voice:
    def __init__(self, last_words):
        self.last_words, self.written = last_words, 0
    def say(self, *words):
        say(*words)
        if " ".join(map(str, words)) == self.last_words:
            time.sleep(60)
    def begin(self, *, steps, done):
        self.done = done
    def step(self, *, loss, items_per_second):
        self.done += 1
        self.say("step", self.done)
    def epoch(self, entry):
        self.say("epoch", entry["epoch"])
    def end(self):
        pass
    def fsync(self, handle):  # a file is written, but not yet in its place
        self.written += 1
        self.say("written", self.written)
        fsync(handle)

fsync = os.fsync
for line in sys.stdin:
    folder, last_words = line.rstrip("\\n").split("\\t")
    child = os.fork()
    if child:
        end = os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
        say("ended", end.si_status if end.si_code == os.CLD_EXITED else -end.si_status)
        sys.stdin.readline()  # until then its number is not given to another process
        os.waitpid(child, 0)
        continue
    say("born", os.getpid())
    voice = Voice(last_words)
    os.fsync = voice.fsync
    train(run, items, folder=folder, validate=validate, device="cpu", watcher=voice)
    os._exit(0)
"""


class House:
    """A process that has imported everything and gives birth to lives."""

    def __init__(self, hash_seed, settings):
        self.process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, *settings],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONHASHSEED": str(hash_seed), "OMP_NUM_THREADS": "1"},
            text=True,
        )

    def begin(self, folder, last_words=""):
        """A new life; returns its process id."""
        print(folder, last_words, sep="\t", file=self.process.stdin, flush=True)
        return int(self.hear("born ").split()[1])

    def hear(self, *words):
        """The next line that begins with any of these words."""
        for line in self.process.stdout:
            if line.startswith(words):
                return line.strip()
        raise AssertionError(f"the process ended before it said {words}")

    def end(self, heard=""):
        """The exit status of a life, once it has ended."""
        status = int((heard if heard.startswith("ended") else self.hear("ended")).split()[1])
        print("buried", file=self.process.stdin, flush=True)
        return status

    def live(self, folder):
        """Train to the end."""
        self.begin(folder)
        assert self.end() == 0

    def die(self, folder, last_words):
        """Train until these words are said, and be killed."""
        child = self.begin(folder, last_words)
        assert self.hear(f"{last_words}\n", "ended") == last_words
        os.kill(child, signal.SIGKILL)
        assert self.end() == -signal.SIGKILL

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


@pytest.fixture
def houses(request):
    houses = [House(hash_seed, getattr(request, "param", [])) for hash_seed in (1, 4)]
    yield houses
    for house in houses:
        house.close()


@pytest.mark.parametrize(
    "houses",
    [
        pytest.param([], id="alone"),
        pytest.param(["adversary={hidden=8}"], id="adversary", marks=pytest.mark.slow),
    ],
    indirect=True,
)
def test_a_killed_process_goes_on_in_another_and_ends_as_an_unbroken_one(houses, tmp_path):
    one, other = houses
    one.live(tmp_path / "unbroken")
    broken = tmp_path / "broken"
    one.die(broken, "step 1")  # nothing is saved yet
    other.die(broken, "step 3")  # in an epoch; the second step was saved
    one.die(broken, "written 4")  # while a checkpoint is written
    other.die(broken, "epoch 2")  # in the record, but not in the checkpoints
    one.die(broken, "written 3")  # while the best checkpoint is written
    other.die(broken, "step 11")
    one.die(broken, "epoch 5")
    other.live(broken)
    assert_same_outcome(broken, tmp_path / "unbroken")


@pytest.mark.slow
@pytest.mark.parametrize(
    "houses", [["epochs=20", "checkpoint_steps=1", "space.encoder.hidden=[256, 256]"]], indirect=True
)
def test_a_process_killed_at_any_moment_whatever_ends_as_an_unbroken_one(houses, tmp_path):
    houses[0].live(tmp_path / "unbroken")
    chance = random.Random(0)
    kills = 0
    while True:
        house = chance.choice(houses)
        child = house.begin(tmp_path / "broken")
        heard = house.hear("written 6\n", "ended")  # however busy the machine, every life gets a step further
        time.sleep(chance.uniform(0, 0.04))
        os.kill(child, signal.SIGKILL)
        if house.end(heard) == 0:
            break
        kills += 1
        assert kills < 200
    assert kills >= 5
    assert_same_outcome(tmp_path / "broken", tmp_path / "unbroken")
