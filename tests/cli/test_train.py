"""samekind train: a folder with everything, the same answer when asked again, no other run in its place."""

import json
import shutil
import sys
from types import SimpleNamespace

import pytest
import torch

from samekind import recipes
from samekind.cli import train
from samekind.data import digits, open_data, prepare, sets
from samekind.decisions import Ladder, Rung
from samekind.errors import SettingError
from samekind.questions.choices import choices_in_words
from samekind.recipes import fit
from samekind.recipes.plans import read_plan
from samekind.space import MetricSpace
from samekind.storage import FolderLock
from samekind.training import Run, RunFolder, build_space
from samekind.training.run_folder import LOCK

FILES = {"best.pt", "data.json", "last.pt", "record.jsonl", "run.json", "space", "split.json"}


@pytest.fixture
def copy(trained, tmp_path):
    return shutil.copytree(trained, tmp_path / "copy")


def content(folder):
    """What training wrote, and not the measures that an evaluation keeps."""
    files = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.name != "measures.json")
    return {path: path.read_bytes() for path in files}


def test_the_folder_holds_the_whole_run(trained):
    # Another test may have evaluated the run, which keeps its measures there.
    assert {path.name for path in trained.iterdir()} - {"measures.json"} == FILES
    reported = json.loads((trained / "data.json").read_text())
    assert reported["source"] == "digits"
    assert (reported["split"]["unseen"], reported["split"]["seed"]) == (["7", "8", "9"], 0)


def test_a_finished_run_answers_again_without_training(again, copy):
    before = {name: (copy / name).read_bytes() for name in ("last.pt", "best.pt", "record.jsonl")}
    answer = again(copy, "--json")
    assert (answer.status, answer.err) == (0, "")  # no epoch, so no progress
    reported = json.loads(answer.out)
    assert reported.keys() == {"folder", "space", "best", "classes"}
    assert (reported["folder"], reported["space"]) == (str(copy), str(copy / "space"))
    assert reported["classes"] == ["0", "1", "2", "3", "4", "5", "6"]
    record = [json.loads(line) for line in (copy / "record.jsonl").read_text().splitlines()]
    assert reported["best"] == min(record, key=lambda entry: entry["validation"]["eer"])
    assert {name: (copy / name).read_bytes() for name in before} == before


def test_the_text_says_the_same_as_the_json(again, copy):
    best = json.loads(again(copy, "--json").out)["best"]
    items = len(RunFolder(copy).sets().train)
    chosen = choices_in_words(MetricSpace.load(copy / "space"))
    assert len(chosen) > 1  # after two epochs the network is far behind the cosine
    assert again(copy).out.splitlines() == [
        f"Trained prototypical for 2 epochs on {items} items of 7 classes.",
        f"Best epoch {best['epoch']}: validation EER {100 * best['validation']['eer']:.2f}%.",
        "That was the last epoch: training longer may help, such as --set epochs=4 with another --out.",
        *(f"{sentence[0].upper()}{sentence[1:]}." for sentence in chosen),
        f"The space is in {copy / 'space'}; next: samekind evaluate {copy}",
    ]


@pytest.mark.parametrize(
    ("epoch", "errors", "said"),
    [
        (2, (0.2, 0.1), True),
        (1, (0.1, 0.2), False),
        (2, (0.2, 0.0), False),
        (2, (0.1, 0.1), False),  # no better than before: of equal epochs the last is taken
    ],
)
def test_proposes_longer_training_if_only_the_last_epoch_is_the_best(again, copy, epoch, errors, said):
    record = [json.loads(line) for line in (copy / "record.jsonl").read_text().splitlines()]
    for entry, error in zip(record, errors, strict=True):
        entry["best"] = entry["epoch"] == epoch
        entry["validation"] = dict.fromkeys(entry["validation"], error)
    (copy / "record.jsonl").write_text("".join(f"{json.dumps(entry)}\n" for entry in record))
    assert ("training longer may help" in again(copy).out) == said


@pytest.mark.parametrize("damage", [b"", b"\xff\xff\n"])
def test_a_damaged_record_does_not_cost_the_space(again, copy, damage):
    (copy / "record.jsonl").write_bytes(damage)
    shutil.rmtree(copy / "space")
    answer = again(copy, "--json")
    assert answer.status == 0
    assert json.loads(answer.out)["best"] is None
    assert (copy / "space" / "space.json").is_file()
    assert "Best epoch" not in again(copy).out


def test_the_order_of_the_unseen_classes_does_not_matter(again, copy):
    answer = again(copy, "--unseen", " 9,8, 7,7")
    assert (answer.status, answer.err) == (0, "")


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (("--set", "epochs=3"), "holds a run with other settings (epochs"),
        (("--seed", "1"), "holds a run on other data or another split"),
        (("--unseen", "8,9"), "holds a run on other data or another split"),
    ],
)
def test_refuses_another_run_and_leaves_the_folder_as_it_was(again, copy, more, says):
    before = content(copy)
    answer = again(copy, *more)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"samekind: {copy} {says}")
    assert content(copy) == before


def test_refuses_a_second_training_but_not_readers(again, samekind, copy):
    before = content(copy)
    lock = FolderLock(copy, LOCK)
    answer = again(copy)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err == (
        f"samekind: this very process is training in {copy}; "
        "wait for that to end or stop it, or choose another folder\n"
    )
    assert samekind("evaluate", copy, "--tasks", "2", "--no-references").status == 0
    assert samekind("info", copy).status == 0
    lock.give_back(remove=True)
    assert content(copy).items() >= before.items()
    assert again(copy).status == 0


def test_another_operating_point_is_fitted_without_training(again, copy):
    answer = again(copy, "--at", "far=0.05")
    assert (answer.status, answer.err) == (0, "")
    for decision in MetricSpace.load(copy / "space").decisions.values():
        assert decision.point == "far=0.05"
        assert decision.false_accepts <= 0.05


def test_a_diverged_run_says_so_and_can_be_started_anew(samekind, tmp_path):
    """Nothing of the first attempt stands in the way of the second, not even another split."""
    command = ("train", "triplet", "--out", tmp_path / "run", "--set", "epochs=1", "--unseen")
    answer = samekind(*command, "5,6,7,8,9", "--set", "optimiser.rate=1e30", "--set", "clip=1e30")
    assert answer.status == 2
    _, line = answer.err.splitlines()  # the first says what was chosen
    assert line.startswith("samekind: ")
    assert "Lower optimiser.rate" in line
    assert samekind(*command, "4,5,6,7,8,9").status == 0


def test_a_run_file_names_the_recipe_and_the_recipe_the_folder(samekind, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.toml").write_text('recipe = "triplet"\nepochs = 1\n')
    answer = samekind("train", "mine.toml", "--unseen", "2,3,4,5,6,7,8,9", "--json")
    assert answer.status == 0
    assert json.loads(answer.out)["folder"] == "runs/triplet"
    assert {path.name for path in (tmp_path / "runs" / "triplet").iterdir()} == FILES
    chosen, line = answer.err.splitlines()
    assert chosen == (
        "triplet: with few items to train on it takes Adam at 0.001, cosine, "
        "not the recipe's SGD at 0.01, plateau"
    )
    assert line.startswith("triplet: epoch 1 loss ")


def test_a_recipe_for_unseen_classes_prints_its_watched_measure(samekind, tmp_path):
    command = ("train", "unseen-triplet-adapt-adv", "--out", tmp_path / "run", "--unseen", "4,5,6,7,8,9")
    answer = samekind(*command, "--set", "epochs=1", "--set", "adversary.hidden=8")
    assert answer.status == 0
    entry = json.loads((tmp_path / "run" / "record.jsonl").read_text())
    assert entry["adversary"].keys() == {"coefficient", "loss", "plain_loss"}
    best = f"Best epoch 1: validation Recall@1 {100 * entry['validation']['recall@1']:.2f}%."
    assert best in answer.out.splitlines()


def test_only_shares_are_printed_in_per_cent(samekind, tmp_path):
    command = ("train", "prototypical", "--out", tmp_path / "run", "--set", "epochs=1", "--set", "watch=nmi")
    command += ("--unseen", "4,5,6,7,8,9")
    answer = samekind(*command, "--set", 'validate=["verification", "clustering"]')
    entry = json.loads((tmp_path / "run" / "record.jsonl").read_text())
    nmi = f"NMI {entry['validation']['nmi']:.3f}"
    assert answer.out.splitlines()[1] == f"Best epoch 1: validation {nmi}."
    assert f"{nmi} " in answer.err


def test_a_network_of_another_library_is_trained_by_its_name_and_loaded_again(samekind, timm, tmp_path):
    table = 'space.encoder={name = "Backbone", library = "timm", network = "tiny", dimension = 4}'
    command = ("train", "triplet", "--out", tmp_path / "run", "--unseen", "4,5,6,7,8,9", "--set", table)
    command += ("--set", "epochs=1", "--set", "optimiser.rates.encoder.module.stem=0.001")
    assert samekind(*command).status == 0
    assert timm == [True, True]  # for the time it takes, and for the training
    assert MetricSpace.load(tmp_path / "run" / "space").encoder.network == "tiny"
    answer = samekind("info", tmp_path / "run")
    assert (answer.status, answer.err) == (0, "")
    assert timm == [True, True, False, False]  # to load it no weights are fetched
    assert samekind("evaluate", tmp_path / "run", "--tasks", 2, "--no-references").status == 0
    assert samekind(*command).status == 0  # finished: what it began with does not matter


def test_a_missing_library_is_one_line(samekind, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "timm", None)
    table = 'space.encoder={name = "Backbone", library = "timm", network = "resnet18"}'
    answer = samekind("train", "triplet", "--out", tmp_path / "run", "--set", table)
    assert answer.status == 2
    [line] = answer.err.splitlines()
    assert line.startswith("samekind: timm cannot be imported here")
    assert line.endswith("pip install timm")


def test_a_run_can_start_from_a_space(again, trained, tmp_path):
    """With a rate of 0 what comes out is what went in."""
    answer = again(tmp_path / "next", "--from", trained, "--set", "epochs=1", "--set", "optimiser.rate=0")
    assert answer.status == 0
    assert answer.out.startswith("Trained prototypical for 1 epoch on ")
    first, second = (MetricSpace.load(folder / "space") for folder in (trained, tmp_path / "next"))
    for name in ("encoder", "similarity"):
        before, after = (dict(getattr(space, name).named_parameters()) for space in (first, second))
        assert all(torch.equal(before[key], after[key]) for key in before)


def test_prints_no_note_if_nothing_was_chosen(again, tmp_path):
    """The command says all that would have been."""
    said = again(tmp_path / "run", "--unseen", "3,4,5,6,7,8,9").err.splitlines()
    assert [line.split(" loss ")[0] for line in said] == ["prototypical: epoch 1", "prototypical: epoch 2"]


@pytest.mark.parametrize(
    ("few", "alone", "network"),
    [
        ((0, 2_000), False, "ResNet18"),
        ((0, 2_000), True, "ResNet18"),
        ((2_000, 0), False, "Conv4"),
        ((2_000, 0), True, "ResNet18"),  # without its run a Conv4 is not known to be of this recipe
    ],
)
def test_a_start_keeps_its_network_whether_items_are_few_or_many(
    samekind, folders, tmp_path, monkeypatch, few, alone, network
):
    monkeypatch.setattr("samekind.recipes.few_items.FEW", few[0])
    plan = read_plan("triplet", source=str(folders), data={"size": 33})
    items = open_data(plan.source, settings=plan.data)
    first, run = RunFolder(tmp_path / "first"), plan.suited(plan.run(items), items, items=21)
    first.begin(run)
    first.finish(build_space(run, items), prepare(items))
    monkeypatch.setattr("samekind.recipes.few_items.FEW", few[1])
    given = []

    def stop(run, sets, *, start, **_):
        given.append((run.space.encoder.name, type(start.encoder).__name__))
        raise SettingError("stopped")

    monkeypatch.setattr(recipes, "fit", stop)
    start = first.space_folder().rename(tmp_path / "alone") if alone else first.path
    samekind("train", "triplet", "--data", folders, "--size", 33, "--out", tmp_path / "next", "--from", start)
    assert given == [(network, run.space.encoder.name)]


def test_warns_of_copies_in_training_and_test(samekind, folders, tmp_path):
    data = shutil.copytree(folders, tmp_path / "data")
    for name in ("0", "1", "7"):
        for path in sorted((data / name).glob("*.png")):
            shutil.copy(path, path.with_name(f"copy-{path.name}"))
    run, page = tmp_path / "run", tmp_path / "page.html"
    said = "test items have the content of a training item"
    trained = samekind("train", "triplet", "--data", data, "--set", "epochs=1", "--out", run)
    assert f" {said} (" in trained.err
    answer = samekind("evaluate", run, "--tasks", 2, "--no-references", "--report", page, "--json")
    [reported] = [line for line in json.loads(answer.out)["warnings"]["run"] if said in line]
    assert f"Careful: {reported}." in page.read_text(encoding="utf-8")


def test_prints_no_warning_without_copies(samekind, folders, tmp_path):
    answer = samekind("train", "triplet", "--data", folders, "--set", "epochs=1", "--out", tmp_path / "run")
    assert "content of a training item" not in answer.err


@pytest.fixture
def counted_runs(monkeypatch):
    """How many runs were made so far, and how often items were split."""
    counts = {"runs": 0, "splits": 0}
    check, split = Run.__post_init__, sets.split_items

    def counted_check(run):
        counts["runs"] += 1
        check(run)

    def counted_split(*arguments):
        counts["splits"] += 1
        return split(*arguments)

    monkeypatch.setattr(Run, "__post_init__", counted_check)
    monkeypatch.setattr(sets, "split_items", counted_split)
    monkeypatch.setattr("samekind.data.split_settings.split_items", counted_split)
    return counts


def test_a_training_makes_few_runs_and_one_split(samekind, tmp_path, counted_runs):
    """One for the seed of the split, one for what is left to train on. It once made 18, and split twice."""
    command = ("train", "triplet", "--out", tmp_path / "run", "--unseen", "2,3,4,5,6,7,8,9")
    assert samekind(*command, "--set", "epochs=1").status == 0
    assert counted_runs["runs"] <= 6
    assert counted_runs["splits"] == 1


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ("raw input", "Kept: raw input, because nothing that was tried is better by more than chance."),
        ("encoder trained", "Kept: encoder trained."),
    ],
)
def test_a_ladder_that_stays_at_its_start_says_why(kept, said, capsys):
    rungs = [
        Rung(name, 0.5, 0.2, "similarity", "similarity", 1.0) for name in ("raw input", "encoder trained")
    ]
    answer = SimpleNamespace(ladder=Ladder(tuple(rungs), kept, "2 folds"), choices=(), saved="s", folder="f")
    train._print(answer)
    assert capsys.readouterr().out.splitlines()[0] == said


# --- trainings that were stopped --------------------------------------------------------------------


def stopped(trained, folder, epochs):
    """What a training leaves that was stopped after some of its two epochs."""
    names = ("run.json", "last.pt", "best.pt") if epochs else ("run.json",)
    folder.mkdir()
    for name in names:
        shutil.copy(trained / name, folder)
    lines = (trained / "record.jsonl").read_text().splitlines(keepends=True)
    (folder / "record.jsonl").write_text("".join(lines[:epochs]))
    return folder


@pytest.mark.parametrize("epochs", [0, 1, 2])
def test_commands_refuse_a_training_that_has_not_ended(samekind, trained, tmp_path, epochs):
    run = stopped(trained, tmp_path / "run", epochs)
    says = (
        f"samekind: {run} holds a training that has not ended: {epochs} of 2 epochs are done; the same "
        "samekind train command goes on with it\n"
    )
    commands = (("evaluate", run), ("info", run), ("calibrate", run), ("novelty", "digits", "--space", run))
    for command in commands:
        assert samekind(*command) == (2, "", says)


def test_a_stopped_training_goes_on_by_the_same_command(again, samekind, trained, tmp_path):
    run = stopped(trained, tmp_path / "run", 1)
    assert again(run).status == 0
    assert samekind("info", run).status == 0


# --- folders that Python wrote ----------------------------------------------------------------------


def test_a_folder_that_fit_wrote_is_evaluated_and_reported(samekind, tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr("samekind.questions.report.write_report", lambda path, **_: written.append(path))
    items, folder = digits(), tmp_path / "first"
    run = recipes.triplet(items.shape).override(["epochs=1", "space.encoder.width=4"])
    fit(run, prepare(items, unseen=["7", "8", "9"]), folder=folder)
    quick = ("--tasks", 2, "--no-references")
    for command in (("evaluate", folder, *quick), ("info", folder), ("report", folder, *quick)):
        answer = samekind(*command)
        assert answer.status == 0, answer.err
    assert written == [folder / "report.html"]


def test_a_folder_of_items_in_memory_says_what_to_do(samekind, tmp_path, folders):
    items = digits().only(["0", "1", "7"])
    run = recipes.triplet(items.shape).override(["epochs=1"])
    fit(run, prepare(items), folder=tmp_path / "run")
    for command in ("evaluate", "report"):
        answer = samekind(command, tmp_path / "run")
        assert (answer.status, answer.out) == (2, "")
        assert "was trained on items that exist only in memory" in answer.err
        assert "samekind evaluate --data" in answer.err
    assert samekind("info", tmp_path / "run").status == 0
