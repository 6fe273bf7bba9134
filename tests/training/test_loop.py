"""The training loop learns, keeps the best epoch, records each epoch, and stops at a broken number."""

import dataclasses
import json

import numpy
import pytest
import torch

from samekind.data import ImageReader, Items, Stored, clusters, write_image
from samekind.errors import SettingError, TrainingError
from samekind.inference import embed
from samekind.samplers import Shuffled
from samekind.similarities import PairsNetwork
from samekind.taxonomy import Tree
from samekind.training import Batches, Record, Schedule, Term, build_space, learner, loop, train
from samekind.training.checkpoints import load_checkpoint
from samekind.training.loop import LOOK_EVERY

CHANCE = 1 / 4


class Counting:
    """A validation that remembers how often it was called, as a tensor."""

    def __init__(self):
        self.before = None

    def __call__(self, space):
        self.before = (0 if self.before is None else self.before) + torch.ones(1)
        return {"eer": 0.5, "calls": float(self.before)}


class Notes:
    """A watcher that notes every call."""

    def __init__(self):
        self.told = []

    def begin(self, *, steps, done):
        self.told.append(("begin", steps, done))

    def step(self, *, loss, items_per_second):
        self.told.append(("step", loss, items_per_second))

    def epoch(self, entry):
        self.told.append(("epoch", entry))

    def end(self):
        self.told.append(("end",))

    def kinds(self):
        return [event[0] for event in self.told]


def equal(one, other):
    """Whether two spaces hold the same numbers, bit for bit."""
    one, other = one.state_dict(), other.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def without_speed(lines):
    return [{key: value for key, value in line.items() if key != "items_per_second"} for line in lines]


def fresh(run, items):
    """The space a run begins with."""
    with torch.random.fork_rng():
        torch.manual_seed(run.seed)
        return build_space(run, items)


@pytest.fixture
def measured():
    """A validation that gives prepared values, one an epoch; the first also for the untrained start."""

    def make(*values, name="eer"):
        left = [values[0], *values]
        return lambda space: {name: left.pop(0), "spare": 1.0}

    return make


@pytest.fixture
def constant():
    return lambda space: {"eer": 0.5}


# --- learning -------------------------------------------------------------------------------------


def test_training_lowers_the_loss_and_beats_chance(run, items, validate, tmp_path):
    sharp = ["epochs=15", "terms.class.smoothing=0", "terms.pair.smoothing=0", "terms.auxiliary.smoothing=0"]
    space = train(run.override(sharp), items, folder=tmp_path, validate=validate)
    lines = Record(tmp_path / "record.jsonl").lines()
    assert lines[-1]["loss"] < 0.7 * lines[0]["loss"]
    for name in ("class", "pair", "auxiliary"):
        assert lines[-1]["terms"][name] < lines[0]["terms"][name]
    new = clusters(classes=4, items=30, dimension=6, seed=1)  # the same centres, other items
    z = embed(space, new.inputs)
    for head in ("similarity", "auxiliary"):
        answers = space.classify(z, head=head).classes
        right = sum(answer == str(label) for answer, label in zip(answers, new.labels.tolist(), strict=True))
        assert right / len(new) > 2 * CHANCE
    assert not space.training
    assert not any(module.training for module in space.modules())


@pytest.mark.parametrize(("mixed", "precision"), [("true", torch.bfloat16), ("false", torch.float32)])
def test_a_pairs_network_scores_in_the_runs_precision_if_asked_to(
    run, items, validate, tmp_path, monkeypatch, mixed, precision
):
    seen, rest = set(), PairsNetwork.rest

    def watched(self, hidden):
        if self.training:
            seen.add(hidden.dtype)
        return rest(self, hidden)

    monkeypatch.setattr(PairsNetwork, "rest", watched)
    run = run.override(["precision=bf16-mixed", f"mixed_scores={mixed}", "epochs=6"])
    train(run, items, folder=tmp_path, validate=validate, device="cpu")
    assert seen == {precision}
    lines = Record(tmp_path / "record.jsonl").lines()
    assert lines[-1]["terms"]["pair"] < lines[0]["terms"]["pair"]


def test_the_seed_determines_a_run(run, items, validate, tmp_path):
    first = train(run, items, folder=tmp_path / "first", validate=validate)
    torch.manual_seed(12345)
    again = train(run, items, folder=tmp_path / "again", validate=validate)
    other = train(run.override(["seed=1"]), items, folder=tmp_path / "other", validate=validate)
    assert equal(first, again)
    assert not equal(first, other)
    records = [Record(tmp_path / name / "record.jsonl").lines() for name in ("first", "again")]
    assert without_speed(records[0]) == without_speed(records[1])


def test_the_random_state_of_the_caller_is_untouched(run, items, constant, tmp_path):
    before = torch.get_rng_state()
    for _ in range(2):  # a fresh run, and a finished one
        train(run, items, folder=tmp_path, validate=constant)
        assert torch.equal(torch.get_rng_state(), before)


def test_a_run_that_fails_leaves_the_random_state_alone_too(run, items, tmp_path):
    def fail(space):
        raise RuntimeError("broken")

    before = torch.get_rng_state()
    with pytest.raises(RuntimeError, match="broken"):
        train(run, items, folder=tmp_path, validate=fail)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_validation_that_draws_or_changes_the_mode_changes_nothing(run, items, constant, tmp_path):
    def careless(space):
        torch.rand(7)
        space.eval()
        return {"eer": 0.5}

    train(run, items, folder=tmp_path / "plain", validate=constant)
    train(run, items, folder=tmp_path / "careless", validate=careless)
    plain, other = (load_checkpoint(tmp_path / name / "last.pt") for name in ("plain", "careless"))
    for name, tensor in plain["states"]["space"].items():
        assert torch.equal(tensor, other["states"]["space"][name])


# --- the best epoch -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("better", "values", "best"),
    [
        ("lower", [0.3, 0.1, 0.2], 2),
        ("higher", [0.3, 0.1, 0.2], 1),
        ("lower", [0.3, 0.2, 0.1], 3),
        ("lower", [0.2, 0.2, 0.2], 3),  # of equal epochs the later
        ("lower", [float("nan"), 0.3, 0.4], 2),
        ("higher", [float("nan"), 0.3, 0.4], 3),
        ("lower", [0.3, float("nan"), 0.4], 1),
    ],
)
def test_the_watched_measure_picks_the_epoch(run, items, measured, tmp_path, better, values, best):
    spaces = []
    measure = measured(*values, name="mine")

    def validate(space):
        spaces.append({name: tensor.clone() for name, tensor in space.state_dict().items()})
        return measure(space)

    changed = run.override(["watch=mine", f"better={better}"])
    space = train(changed, items, folder=tmp_path, validate=validate)
    for name, tensor in space.state_dict().items():
        assert torch.equal(tensor, spaces[best][name])  # the first is that of the start
    assert load_checkpoint(tmp_path / "last.pt")["progress"].best_epoch == best
    assert load_checkpoint(tmp_path / "best.pt")["progress"].epoch == best
    assert [line["best"] for line in Record(tmp_path / "record.jsonl").lines()].index(True) == 0


@pytest.mark.parametrize(("watch", "best"), [("eer", 2), ("recall@1", 3), ("recall@1 cosine", 3), ("nmi", 3)])
def test_the_best_epoch_is_the_one_the_measure_calls_best(run, items, measured, tmp_path, watch, best):
    """Nothing says which is better of them."""
    train(
        run.override([f"watch={watch}"]), items, folder=tmp_path, validate=measured(0.3, 0.1, 0.9, name=watch)
    )
    assert load_checkpoint(tmp_path / "best.pt")["progress"].epoch == best


def test_the_direction_of_a_measure_of_ones_own_must_be_set(run, items, tmp_path):
    """Before the first step: nothing is measured, told or written."""

    def never(space):
        raise AssertionError("nothing was to be trained")

    notes = Notes()
    changed = dataclasses.replace(run, watch="mine", schedule=Schedule("plateau"))
    with pytest.raises(SettingError, match=r'run\.better: set "lower" or "higher"; .* for "mine"'):
        train(changed, items, folder=tmp_path / "run", validate=never, watcher=notes)
    assert notes.told == []
    assert not (tmp_path / "run").exists()


def test_refuses_an_unknown_measure_with_the_nearest(run, items, measured, tmp_path):
    with pytest.raises(SettingError, match=r'run\.watch: no measure "eerr"; did you mean "eer"\? Known: eer'):
        train(run.override(["watch=eerr", "better=lower"]), items, folder=tmp_path, validate=measured(0.5))


@pytest.mark.parametrize(
    "number", [numpy.float64, numpy.float32, torch.tensor], ids=["double", "single", "tensor"]
)
def test_a_measure_may_be_any_number(run, items, measured, tmp_path, number):
    """NumPy's own numbers would make the checkpoint unreadable where no code may run."""
    values = [number(0.5), number(0.25), number(0.75)]
    train(run, items, folder=tmp_path, validate=measured(*values))
    assert load_checkpoint(tmp_path / "last.pt")["progress"].best == 0.25
    assert [line["validation"]["eer"] for line in Record(tmp_path / "record.jsonl").lines()] == [
        0.5,
        0.25,
        0.75,
    ]


# --- what is written down -------------------------------------------------------------------------


def test_the_record_has_a_line_for_each_epoch(run, items, measured, tmp_path):
    changed = run.override(
        ["schedule={name='multi-step', milestones=[2], factor=0.5}", "optimiser.rate=0.04"]
    )
    train(changed, items, folder=tmp_path, validate=measured(0.3, 0.1, 0.2))
    lines = [json.loads(line) for line in (tmp_path / "record.jsonl").read_text().splitlines()]
    assert [line["epoch"] for line in lines] == [1, 2, 3]
    assert [line["step"] for line in lines] == [3, 6, 9]
    assert [line["best"] for line in lines] == [True, True, False]
    assert [line["rate"] for line in lines] == pytest.approx([0.04, 0.04, 0.02])
    assert [line["validation"] for line in lines] == [
        {"eer": value, "spare": 1.0} for value in (0.3, 0.1, 0.2)
    ]
    for line in lines:
        assert list(line["terms"]) == ["class", "pair", "auxiliary"]
        assert line["loss"] == pytest.approx(sum(line["terms"].values()))
        assert line["items_per_second"] > 0


def test_the_loss_of_an_epoch_is_the_mean_over_its_steps(run, items, constant, tmp_path):
    notes = Notes()
    train(run, items, folder=tmp_path, validate=constant, watcher=notes)
    losses = [event[1] for event in notes.told if event[0] == "step"]
    lines = Record(tmp_path / "record.jsonl").lines()
    assert [line["loss"] for line in lines] == pytest.approx([sum(losses[i : i + 3]) / 3 for i in (0, 3, 6)])


def test_the_folder_says_what_was_run(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path / "deep" / "run", validate=constant)
    folder = tmp_path / "deep" / "run"
    assert sorted(path.name for path in folder.iterdir()) == [
        "best.pt",
        "last.pt",
        "record.jsonl",
        "run.json",
    ]
    assert json.loads((folder / "run.json").read_text()) == run.to_dict()


@pytest.mark.parametrize(
    "size", [16, 2]
)  # 3 and 24 steps an epoch, fewer and more than are looked at at once
def test_a_watcher_is_called_for_every_step_and_epoch(run, items, constant, tmp_path, size):
    notes, steps = Notes(), 48 // size
    assert (steps < LOOK_EVERY) == (size == 16)
    train(run.override([f"batches.size={size}"]), items, folder=tmp_path, validate=constant, watcher=notes)
    assert notes.kinds() == ["begin", *(["step"] * steps + ["epoch"]) * 3, "end"]
    assert notes.told[0] == ("begin", 3 * steps, 0)
    assert all(
        loss > 0 and speed > 0 for _, loss, speed in (event for event in notes.told if event[0] == "step")
    )
    epochs = [event[1] for event in notes.told if event[0] == "epoch"]
    assert epochs == Record(tmp_path / "record.jsonl").lines()


def test_a_watcher_hears_the_end_also_of_a_run_that_fails(run, items, measured, tmp_path):
    notes = Notes()
    with pytest.raises(SettingError):
        train(
            run.override(["watch=x", "better=lower"]),
            items,
            folder=tmp_path,
            validate=measured(0.5),
            watcher=notes,
        )
    assert notes.kinds()[-1] == "end"


# --- the same folder again ------------------------------------------------------------------------


def test_a_finished_folder_gives_the_same_space_without_training(run, items, validate, tmp_path):
    space = train(run, items, folder=tmp_path, validate=validate)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def never(space):
        raise AssertionError("nothing is left to validate")

    notes = Notes()
    again = train(run, items, folder=tmp_path, validate=never, watcher=notes)
    assert equal(space, again)
    assert not again.training
    assert notes.told == [("begin", 9, 9), ("end",)]
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ("epochs=4", "epochs"),
        ("seed=1", "seed"),
        ("optimiser.rate=0.04", "optimiser"),
        ("terms.pair.weight=0.5", "terms"),
        ("space.similarity.dropout=0.1", "space"),
    ],
)
def test_other_settings_in_the_folder_are_refused_by_name(run, items, constant, tmp_path, change, name):
    train(run.override(["epochs=1"]), items, folder=tmp_path, validate=constant)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    with pytest.raises(TrainingError, match=rf"other settings \({name}\); choose another folder"):
        train(run.override(["epochs=1", change]), items, folder=tmp_path, validate=constant)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_another_tree_in_the_folder_is_refused(run, items, constant, tmp_path):
    flat = Tree(("root", *items.classes), (-1, *(0 for _ in items.classes)))
    train(run, dataclasses.replace(items, tree=flat), folder=tmp_path, validate=constant)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    deeper = Tree(("root", "kind", *items.classes), (-1, 0, *(1 for _ in items.classes)))
    for tree in (deeper, None):
        with pytest.raises(TrainingError, match="had another tree; choose another folder, or give the same"):
            train(run, dataclasses.replace(items, tree=tree), folder=tmp_path, validate=constant)
    reordered = Tree(("root", *reversed(items.classes)), (-1, *(0 for _ in items.classes)))
    train(run, dataclasses.replace(items, tree=reordered), folder=tmp_path, validate=constant)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


def test_other_data_in_the_folder_is_refused(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path, validate=constant)
    files = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    inputs = items.inputs.clone()
    inputs[0, 0] += 1e-6
    other = Items(inputs, items.labels, items.classes, items.name)
    with pytest.raises(TrainingError, match="holds a run on other data; choose another folder"):
        train(run, other, folder=tmp_path, validate=constant)
    renamed = Items(items.inputs, items.labels, items.classes, "the same under another name")
    train(run, renamed, folder=tmp_path, validate=constant)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == files


@pytest.mark.parametrize("name", ["last.pt", "best.pt"])
def test_a_damaged_checkpoint_is_a_sentence(run, items, constant, tmp_path, name):
    space = train(run, items, folder=tmp_path, validate=constant)
    (tmp_path / name).write_bytes(b"damaged")
    with pytest.raises(TrainingError, match=rf"{name} cannot be read: it is damaged"):
        train(run, items, folder=tmp_path, validate=constant)
    for path in tmp_path.glob("*.pt"):  # what the message advises
        path.unlink()
    assert equal(train(run, items, folder=tmp_path, validate=constant), space)


def test_a_removed_checkpoint_starts_again(run, items, constant, tmp_path):
    space = train(run, items, folder=tmp_path, validate=constant)
    (tmp_path / "last.pt").unlink()
    again = train(run, items, folder=tmp_path, validate=constant)
    assert equal(space, again)
    assert [line["epoch"] for line in Record(tmp_path / "record.jsonl").lines()] == [1, 2, 3]


# --- numbers that are none ------------------------------------------------------------------------


@pytest.mark.parametrize("size", [16, 2])
def test_a_broken_item_stops_the_run_at_its_step(run, items, constant, tmp_path, size):
    inputs = items.inputs.clone()
    inputs[30, 2] = float("nan")
    broken = Items(inputs, items.labels, items.classes, "broken")
    batches = Shuffled(items.labels, size=size, seed=0).batches(0)
    step = next(number for number, batch in enumerate(batches, start=1) if 30 in batch.tolist())
    with pytest.raises(TrainingError) as refusal:
        train(run.override([f"batches.size={size}"]), broken, folder=tmp_path, validate=constant)
    message = str(refusal.value)
    assert f'the term "class" became nan at step {step} (epoch 1)' in message
    assert "there is no checkpoint yet" in message
    assert not (tmp_path / "last.pt").exists()


def test_a_term_that_becomes_infinite_is_named(run, items, constant, tmp_path, monkeypatch):
    real, calls = learner.objective, []

    def infinite(*arguments, **keywords):
        calls.append(1)
        value = real(*arguments, **keywords)
        if len(calls) == 5:
            value.costs["pair"] = value.costs["pair"] + torch.inf
        return value

    monkeypatch.setattr(learner, "objective", infinite)
    with pytest.raises(TrainingError, match=r'the term "pair" became inf at step 5 \(epoch 2\)'):
        train(run, items, folder=tmp_path, validate=constant)


def test_a_run_that_diverges_later_names_the_last_good_checkpoint(run, items, constant, tmp_path):
    """The rate explodes after the first epoch; what was saved then must stay good."""
    changed = run.override(
        ["schedule={name='multi-step', milestones=[1], factor=1e30}", "checkpoint_steps=1"]
    )
    changed = dataclasses.replace(changed, clip=None)
    for _ in range(2):  # going on with the folder ends in the same place
        with pytest.raises(TrainingError) as refusal:
            train(changed, items, folder=tmp_path, validate=constant)
        message = str(refusal.value)
        assert "step 4" in message or "step 5" in message
        assert "(epoch 2)" in message
        assert f"the last good checkpoint is {tmp_path / 'last.pt'}" in message
        assert "Lower optimiser.rate, set clip" in message
        saved = load_checkpoint(tmp_path / "last.pt")
        assert saved["progress"].step in (3, 4)
        assert all(tensor.isfinite().all() for tensor in saved["states"]["space"].values())


def test_weights_that_the_last_step_broke_are_not_saved(run, items, tmp_path):
    """The loss is computed before the step; only the weights show that the step went wrong."""
    changed = run.override(["optimiser.rate=3e38", "batches.size=48", "epochs=1", "clip=1e6"])
    terms = {name: dataclasses.replace(term, weight=100.0) for name, term in changed.terms.items()}
    changed = dataclasses.replace(changed, terms=terms)

    seen = []

    def start_only(space):
        assert not seen, "such weights must not get as far as this"
        seen.append(space)
        return {"eer": 0.5}

    with pytest.raises(TrainingError, match=r"the weights of the encoder .* after step 1 \(epoch 1\)"):
        train(changed, items, folder=tmp_path, validate=start_only)
    assert not (tmp_path / "last.pt").exists()


# --- starting from a trained space ----------------------------------------------------------------


@pytest.fixture
def frozen(run):
    """A run that learns nothing: what comes out went in."""
    return run.override(["epochs=1", "optimiser.rate=0", "space.prototypes.momentum=1.0"])


def test_start_gives_all_its_weights_where_the_classes_agree(run, frozen, items, constant, tmp_path):
    start = fresh(run.override(["seed=5"]), items)
    space = train(frozen, items, folder=tmp_path, validate=constant, start=start)
    assert equal(space, start)
    assert not equal(space, fresh(frozen, items))
    assert space is not start


def test_start_gives_encoder_and_similarity_to_other_classes(run, frozen, items, constant, tmp_path):
    other = clusters(classes=6, items=4, dimension=6)
    start = fresh(run.override(["seed=5"]), other)
    space = train(frozen, items, folder=tmp_path, validate=constant, start=start)
    assert equal(space.encoder, start.encoder)
    assert equal(space.similarity, start.similarity)
    assert equal(space.prototypes, fresh(frozen, items).prototypes)
    assert space.classes == ["0", "1", "2", "3"]


def test_classes_of_other_names_are_other_classes(run, frozen, items, constant, tmp_path):
    named = Items(items.inputs, items.labels, ("a", "b", "c", "d"), "named")
    start = fresh(run.override(["seed=5"]), named)
    space = train(frozen, items, folder=tmp_path, validate=constant, start=start)
    assert equal(space.encoder, start.encoder)
    assert equal(space.prototypes, fresh(frozen, items).prototypes)


def test_a_head_that_differs_starts_fresh(run, frozen, items, constant, tmp_path):
    start = fresh(run.override(["seed=5", "space.auxiliary.bias=false"]), items)
    space = train(frozen, items, folder=tmp_path, validate=constant, start=start)
    assert equal(space.prototypes, start.prototypes)
    assert equal(space.auxiliary, fresh(frozen, items).auxiliary)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("space.encoder.dimension=4", ["its encoder (MLP)", "this run's (MLP)"]),
        ("space.encoder.hidden=[9]", ["its encoder (MLP)"]),
        ("space.similarity.hidden=4", ["its similarity (PairsNetwork)", "this run's (PairsNetwork)"]),
        ("space.similarity={name='Cosine'}", ["its similarity (Cosine)", "this run's (PairsNetwork)"]),
    ],
)
def test_a_start_that_does_not_fit_is_refused(run, items, constant, tmp_path, change, words):
    start = fresh(run.override([change]), items)
    with pytest.raises(SettingError) as refusal:
        train(run, items, folder=tmp_path, validate=constant, start=start)
    for word in ["cannot start from that space", *words]:
        assert word in str(refusal.value)


# --- one step, looked at closely ------------------------------------------------------------------


def moved(run, items, constant, tmp_path):
    """How far one step takes the weights."""
    one = run.override(["batches.size=48", "epochs=1", "optimiser.momentum=0", "optimiser.weight_decay=0"])
    space, begin = train(one, items, folder=tmp_path, validate=constant), fresh(one, items)
    gaps = [a - b for a, b in zip(space.parameters(), begin.parameters(), strict=True)]
    return torch.cat([gap.detach().flatten() for gap in gaps]).norm().item()


def test_clip_bounds_the_gradient_of_the_whole_space(run, items, constant, tmp_path):
    run = run.override(["optimiser.rate=0.5"])
    free = moved(dataclasses.replace(run, clip=None), items, constant, tmp_path / "free")
    assert free > 0.5 * 0.2
    clipped = moved(run.override(["clip=0.1"]), items, constant, tmp_path / "clipped")
    assert clipped == pytest.approx(0.5 * 0.1, rel=1e-3)
    loose = moved(run.override(["clip=1e6"]), items, constant, tmp_path / "loose")
    assert loose == pytest.approx(free, rel=1e-6)


def test_a_part_has_its_own_rate(run, items, constant, tmp_path):
    changed = run.override(["optimiser.rates.encoder=0", "epochs=1"])
    space, begin = train(changed, items, folder=tmp_path, validate=constant), fresh(changed, items)
    assert equal(space.encoder, begin.encoder)
    assert not equal(space.similarity, begin.similarity)


def test_the_running_averages_move_with_every_batch(run, items, constant, tmp_path):
    frozen = run.override(["optimiser.rate=0", "epochs=1", "space.encoder.dropout=0"])
    space, begin = train(frozen, items, folder=tmp_path, validate=constant), fresh(frozen, items)
    z, expected = begin.embed(items.inputs).detach(), begin.prototypes.vectors[:, 0].clone()
    for batch in Shuffled(items.labels, size=16, seed=0).batches(0):
        for label in set(items.labels[batch].tolist()):
            mean = z[batch][items.labels[batch] == label].mean(0)
            expected[label] = 0.9 * expected[label] + 0.1 * mean
    torch.testing.assert_close(space.prototypes.vectors[:, 0], expected)


def test_a_batch_without_a_pair_trains_on(run, constant, tmp_path):
    """Two items an epoch, of two classes: nothing to mine, nothing to pull together."""
    lonely = clusters(classes=2, items=1, dimension=6)
    changed = run.update({"space": {"similarity": {"name": "Euclidean"}, "auxiliary": "none"}})
    changed = dataclasses.replace(changed, terms={"triplet": Term("triplet", miner="hardest")})
    train(changed, lonely, folder=tmp_path, validate=constant)
    assert [line["loss"] for line in Record(tmp_path / "record.jsonl").lines()] == [0, 0, 0]


# --- devices --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("device", "words"),
    [
        ("tpu", 'expected a device auto, cpu, cuda, mps or "cuda:1", got "tpu"'),
        pytest.param(
            "cuda",
            "no CUDA device is available here; use --device cpu",
            marks=pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device here"),
        ),
    ],
)
def test_refuses_a_missing_device_before_anything_is_written(run, items, constant, tmp_path, device, words):
    with pytest.raises(SettingError, match=words):
        train(run, items, folder=tmp_path / "run", validate=constant, device=device)
    assert not (tmp_path / "run").exists()


def test_nothing_is_written_for_a_run_that_cannot_be_built(run, items, constant, tmp_path):
    with pytest.raises(SettingError):
        train(run.override(["space.encoder.hiden=3"]), items, folder=tmp_path / "run", validate=constant)
    assert not (tmp_path / "run").exists()


def test_a_run_can_draw_one_item_of_each_domain(run, items, constant, tmp_path):
    two = dataclasses.replace(items, domains=torch.arange(len(items)) % 2)
    changed = dataclasses.replace(run, batches=Batches("OnePerDomain", {"size": 8}), epochs=1)
    train(changed, two, folder=tmp_path, validate=constant)
    assert len(Record(tmp_path / "record.jsonl").lines()) == 1


# --- bytes, files and augmentations ---------------------------------------------------------------


@pytest.fixture(scope="module")
def pictures():
    """48 images in 4 classes, as bytes."""
    inputs = torch.randint(256, (48, 1, 8, 8), generator=torch.Generator().manual_seed(0)).to(torch.uint8)
    return Items(inputs, torch.arange(48) % 4, ("a", "b", "c", "d"), "pictures")


def of_pictures(run, *settings):
    small = {"name": "SmallConvnet", "dimension": 5, "width": 2}
    return run.update({"space": {"encoder": small}}).override(["epochs=2", *settings])


def test_bytes_are_numbers_from_0_to_1(run, pictures, constant, tmp_path):
    floats = dataclasses.replace(pictures, inputs=pictures.inputs.float() / 255)
    first = train(of_pictures(run), pictures, folder=tmp_path / "bytes", validate=constant)
    second = train(of_pictures(run), floats, folder=tmp_path / "floats", validate=constant)
    assert equal(first, second)
    assert torch.equal(embed(first, pictures.inputs), embed(first, floats.inputs))


def test_stored_pictures_train_as_those_in_memory(run, pictures, constant, tmp_path):
    for place, image in enumerate(pictures.inputs):
        write_image(tmp_path / f"{place}.png", image.float() / 255)
    files = [tmp_path / f"{place}.png" for place in range(48)]
    stored = dataclasses.replace(pictures, inputs=Stored(files, ImageReader(height=8, width=8), workers=2))
    run = of_pictures(run, "space.standardise=channels", 'augment=[{name="PadAndCrop", padding=1}]')
    memory = train(run, pictures, folder=tmp_path / "memory", validate=constant)
    disk = train(run, stored, folder=tmp_path / "disk", validate=constant)
    assert equal(memory, disk)
    assert torch.equal(embed(disk, stored.inputs), embed(memory, pictures.inputs))


def test_stored_pictures_are_decoded_once_where_they_fit_and_only_if_there_is_something_to_train(
    run, pictures, constant, tmp_path, monkeypatch
):
    asked = []
    monkeypatch.setattr(loop, "decoded_onto", lambda items, device: asked.append(device) or items)
    for _ in range(2):  # the second time it is finished
        train(of_pictures(run), pictures, folder=tmp_path, validate=constant)
    assert asked == [torch.device("cpu")]  # once, whatever the epochs find free


def test_augmentations_happen_to_training_batches(run, pictures, constant, tmp_path):
    """A certain mirror is the same as mirrored items."""
    mirrored = dataclasses.replace(pictures, inputs=pictures.inputs.flip(-1))
    certain = of_pictures(run, 'augment=[{name="Flip", probability=1.0}]')
    plain = train(of_pictures(run), pictures, folder=tmp_path / "plain", validate=constant)
    first = train(certain, pictures, folder=tmp_path / "augmented", validate=constant)
    second = train(of_pictures(run), mirrored, folder=tmp_path / "mirrored", validate=constant)
    assert equal(first, second)
    assert not equal(first, plain)


def test_channels_innermost_learn_the_same_and_are_kept_as_usual(run, pictures, constant, tmp_path):
    plain = of_pictures(run, "augment=[{name='PadAndCrop'}]")
    expected = train(plain, pictures, folder=tmp_path / "plain", validate=constant)
    layouts = []

    def look(space):
        weights = space.encoder.parameters()
        filters = next(weight for weight in weights if weight.dim() == 4 and weight.shape[1] > 1)
        layouts.append(filters.is_contiguous(memory_format=torch.channels_last))
        return {"eer": 0.5}

    changed = plain.override(["channels_last=true", "checkpoint_steps=1"])
    space = train(changed, pictures, folder=tmp_path / "last", validate=look)
    assert set(layouts) == {True}
    stored = load_checkpoint(tmp_path / "last" / "last.pt")["states"]["space"]
    for name, weights in space.state_dict().items():
        torch.testing.assert_close(weights, expected.state_dict()[name], rtol=1e-3, atol=1e-4, msg=name)
        assert weights.is_contiguous()
        assert stored[name].is_contiguous()


def test_a_compiled_encoder_trains_and_is_not_compiled_afterwards(
    run, items, constant, tmp_path, monkeypatch
):
    """Compiled to what it was, which takes no time."""
    compile_it, called = torch.compile, []

    def quick(function, *, dynamic):
        compiled = compile_it(function, dynamic=dynamic, backend="eager")
        return lambda x: called.append(len(x)) or compiled(x)

    monkeypatch.setattr(torch, "compile", quick)
    still = run.override(["space.encoder.dropout=0", "space.similarity.dropout=0"])
    expected = train(still, items, folder=tmp_path / "plain", validate=constant)
    assert called == []
    during = []

    def look(space):
        during.append("forward" in vars(space.encoder))
        return {"eer": 0.5}

    space = train(still.override(["compile=true"]), items, folder=tmp_path / "compiled", validate=look)
    assert called == [16] * 9
    assert during == [False] * 4  # the start, and three epochs
    assert equal(space, expected)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning:torch")  # the compiler's own
def test_an_encoder_that_is_really_compiled_learns_the_same(run, pictures, constant, tmp_path):
    run = of_pictures(run, "epochs=1")
    expected = train(run, pictures, folder=tmp_path / "plain", validate=constant)
    space = train(run.override(["compile=true"]), pictures, folder=tmp_path / "compiled", validate=constant)
    for name, weights in space.state_dict().items():
        torch.testing.assert_close(weights, expected.state_dict()[name], rtol=1e-3, atol=1e-4, msg=name)


def test_every_step_has_chances_of_its_own_and_seeds_differ(run, pictures, constant, tmp_path, monkeypatch):
    seen, real = [], learner.augment

    def noted(x, augmentations, *, generator, channels, labels):
        assert labels.shape == (len(x),)  # an augmentation may go by the classes of a batch
        seen.append(tuple(torch.rand(2, generator=generator).tolist()))
        return real(x, augmentations, generator=generator, channels=channels, labels=labels)

    monkeypatch.setattr(learner, "augment", noted)
    run = of_pictures(run, 'augment=[{name="Flip"}]')
    train(run, pictures, folder=tmp_path / "first", validate=constant)
    train(run, pictures, folder=tmp_path / "again", validate=constant)
    train(run.override(["seed=1"]), pictures, folder=tmp_path / "other", validate=constant)
    assert seen[:6] == seen[6:12]
    assert len(set(seen)) == 12


def test_a_run_begun_before_a_setting_existed_goes_on(run, items, constant, tmp_path):
    train(run, items, folder=tmp_path, validate=constant)
    for name in ("last.pt", "best.pt"):
        content = torch.load(tmp_path / name, weights_only=True)
        del content["run"]["augment"], content["run"]["space"]["standardise"]
        torch.save(content, tmp_path / name)
    train(run, items, folder=tmp_path, validate=constant)
    with pytest.raises(TrainingError, match=r"other settings \(space\)"):
        train(run.override(["space.standardise=features"]), items, folder=tmp_path, validate=constant)


def test_weights_come_with_the_means_they_were_trained_with(run, items, constant, tmp_path):
    run = run.override(["space.standardise=features"])
    start = train(run, items, folder=tmp_path / "first", validate=constant)
    moved = dataclasses.replace(items, inputs=items.inputs * 3 + 1)
    frozen = run.override(["optimiser.rate=0", "epochs=1"])
    space = train(frozen, moved, folder=tmp_path / "second", validate=constant, start=start)
    assert equal(space.encoder, start.encoder)
    with pytest.raises(
        SettingError, match=r"its encoder \(MLP, standardised\) does not fit this run's \(MLP\)"
    ):
        train(
            run.override(["space.standardise=none"]),
            moved,
            folder=tmp_path / "third",
            validate=constant,
            start=start,
        )


def test_what_a_validation_remembers_is_kept_with_the_run(run, items, tmp_path):
    """One that was called elsewhere begins anew, and a stopped run goes on where it was."""
    used = Counting()
    used(None)
    run = dataclasses.replace(run, epochs=3)

    class Stops(Notes):
        def epoch(self, entry):
            if entry["epoch"] == 2:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(run, items, folder=tmp_path, validate=used, watcher=Stops())
    train(run, items, folder=tmp_path, validate=Counting())
    lines = Record(tmp_path / "record.jsonl").lines()
    assert lines[0]["untrained"]["calls"] == 1
    assert [line["validation"]["calls"] for line in lines] == [2, 3, 4]
