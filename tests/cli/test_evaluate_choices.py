"""What `samekind evaluate` can be asked: other items, fewer items, and one thing at a time."""

import json
from dataclasses import replace

import pytest

from samekind import evaluation
from samekind.cli.spaces import open_space
from samekind.data import draw
from samekind.data.trial_lists import read_trial_list
from samekind.errors import DataError
from samekind.inference import embed, embed_files
from samekind.questions.evaluate import EvaluationSettings
from samekind.space import MetricSpace
from samekind.training import RunFolder


def told(samekind, *arguments):
    tasks = () if "--trials" in arguments else ("--tasks", "3")
    answer = samekind("evaluate", *arguments, *tasks, "--json")
    assert (answer.status, answer.err) == (0, "")
    return json.loads(answer.out)


def test_other_items_are_asked_about_and_the_promises_held_against_them(samekind, trained, folders):
    found = told(samekind, trained / "space", "--data", folders)
    space = MetricSpace.load(trained / "space")
    items = open_space(trained, "cpu").read_labelled(str(folders), skip_unreadable=False)
    rows = evaluation.evaluate(space, {"folders": items}, tasks=3)
    assert found["systems"]["space"] == [row._asdict() for row in rows]
    assert found["data"] == str(folders)
    assert [each["kind"] for each in found["promises"]] == space.kinds
    assert all("promised" in each["sentence"] for each in found["promises"])


def test_the_validation_items_of_a_run_are_other_items_too(samekind, trained):
    found = told(samekind, trained, "--data", trained)
    assert {row["items"] for row in found["systems"]["trained"]} == {"digits, validation"}


@pytest.mark.parametrize("asked", [".", "space"])
def test_items_that_were_trained_on_are_warned_of(samekind, trained, asked, monkeypatch):
    """On the standard error, and in every row."""
    row = evaluation.Row("verification", "digits", "Cllr", "cosine", 0.5, note="of 10 pairs")
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: [row])
    answer = samekind("evaluate", trained / asked, "--data", "digits", "--json")
    assert answer.status == 0
    assert "careful: digits holds the items this space was trained on" in answer.err
    [rows] = json.loads(answer.out)["systems"].values()
    assert [each["note"] for each in rows] == ["of 10 pairs; training items among them"]


def test_the_test_items_are_asked_about_without_the_space_too(samekind, trained):
    rows = json.loads(samekind("evaluate", trained, "--tasks", 2, "--json").out)["systems"]["trained"]
    found = {(row["items"], row["measure"], row["kind"]) for row in rows if row["question"] == "reference"}
    assert {
        ("seen", "accuracy", "nearest raw input"),
        ("seen", "accuracy", "commonest class"),
        ("seen", "Recall@1", "nearest raw input"),
    } <= found


def test_the_references_can_be_left_out(samekind, trained, monkeypatch):
    whole = told(samekind, trained)["systems"]["trained"]
    monkeypatch.setattr("samekind.evaluation.references", None)  # nobody may call it
    found = told(samekind, trained, "--no-references")
    assert found["systems"]["trained"] == [row for row in whole if row["question"] != "reference"] != whole
    assert found["warnings"] == {"trained": []}


def test_the_references_are_compared_where_the_space_lives(samekind, trained, monkeypatch):
    asked = []
    monkeypatch.setattr("samekind.evaluation.references", lambda *_, **how: asked.append(how) or [])
    monkeypatch.setattr("samekind.questions.evaluate.device_of", lambda _: "elsewhere")
    monkeypatch.setattr("samekind.questions.evaluate._rows", lambda *_: [])
    monkeypatch.setattr("samekind.questions.evaluate._promises", lambda *_: [])
    told(samekind, trained, "--seed", 3)
    assert asked == [{"seed": 3, "device": "elsewhere"}]


def test_fewer_items_are_drawn(samekind, trained):
    found = told(samekind, trained, "--most", 40)
    tests = {name: draw(items, most=40) for name, items in RunFolder(trained).sets().tests().items()}
    rows = evaluation.evaluate(MetricSpace.load(trained / "space"), tests, tasks=3)
    rows += evaluation.references(RunFolder(trained).sets().train, tests)
    assert found["systems"]["trained"] == [row._asdict() for row in rows]


@pytest.fixture
def strangers(folders, trained):
    """The twelve pictures of a 7, without a class, and their embeddings."""
    space = MetricSpace.load(trained / "space")
    return folders / "7", embed_files(space, sorted((folders / "7").iterdir()))


@pytest.mark.parametrize(
    ("options", "form", "top"), [((), "as", 200), (("--top", 5), "as", 5), (("--norm", "s"), "s", 200)]
)
def test_a_cohort_adds_normalised_verification(samekind, trained, strangers, options, form, top):
    source, cohort = strangers
    plain = told(samekind, trained, "--most", 30)
    found = told(samekind, trained, "--most", 30, "--cohort", source, *options)
    space = MetricSpace.load(trained / "space")
    rows = []
    for name, items in RunFolder(trained).sets().tests().items():
        drawn = draw(items, most=30)
        z = embed(space, drawn.inputs)
        rows += evaluation.normalised(space, drawn, z, cohort, name=name, form=form, top=top)
    before = [row for row in plain["systems"]["trained"] if row["question"] != "reference"]
    after = plain["systems"]["trained"][len(before) :]
    assert found["systems"]["trained"] == [*before, *(row._asdict() for row in rows), *after]
    assert found["promises"] == plain["promises"]


def test_a_cohort_for_other_items(samekind, trained, folders, strangers):
    found = told(samekind, trained, "--data", folders, "--cohort", strangers[0])
    assert {row["items"] for row in found["systems"]["trained"]} == {"folders", "folders, AS-norm"}


def test_a_cohort_for_listed_trials(samekind, trained, folders, strangers):
    source, cohort = strangers
    pairs = [(a, b) for a in ("0/00", "0/01", "1/00") for b in ("0/02", "1/01", "1/02")]
    lines = [f"{int(a[0] == b[0])} {a}.png {b}.png" for a, b in pairs]
    path = trained.parent / "pairs.txt"
    path.write_text("\n".join(lines))
    options = ("--trials", path, "--root", folders)
    space, listed = MetricSpace.load(trained / "space"), read_trial_list(path, root=folders)
    rows = evaluation.normalised_list(space, listed, embed_files(space, listed.files), cohort, name="pairs")
    plain, found = told(samekind, trained, *options), told(samekind, trained, *options, "--cohort", source)
    assert found["systems"]["trained"] == plain["systems"]["trained"] + [row._asdict() for row in rows]


def test_items_without_a_class_are_refused(samekind, trained, pictures):
    answer = samekind("evaluate", trained, "--data", pictures)
    assert answer.status == 2
    assert "expected items whose class is known; " in answer.err


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            ("--data", "digits", "--against", "other"),
            "--data and --against do not go together; leave out one",
        ),
        (("--cohort", "here", "--norm", "z"), '--norm: there is no "z"'),
        (("--cohort", "nowhere"), "nowhere"),
    ],
)
def test_one_thing_at_a_time(samekind, trained, more, says):
    answer = samekind("evaluate", trained, *more)
    assert answer.status == 2
    assert says in answer.err


@pytest.mark.parametrize("command", ["evaluate", "report"])
def test_who_says_nothing_asks_by_the_same_defaults_everywhere(samekind, trained, monkeypatch, command):
    """The page of report and the figures of evaluate would differ."""
    settings = []

    def noted(space, sets, asked, **_):
        settings.append(replace(asked, promises=True))
        raise DataError("enough")

    monkeypatch.setattr("samekind.questions.evaluate.evaluate_run", noted)
    assert samekind(command, trained).err == "samekind: enough\n"
    assert settings == [EvaluationSettings()]
