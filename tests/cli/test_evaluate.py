"""samekind evaluate: the same numbers as from Python, as a table, as JSON and on a page."""

import json
import re
import shutil

import pytest
import torch

from samekind import evaluation
from samekind.data import write_image
from samekind.data.trial_lists import read_trial_list
from samekind.evaluation import Row
from samekind.inference import embed_files
from samekind.space import MetricSpace
from samekind.training import RunFolder

TASKS = ("--tasks", "5")


@pytest.fixture(scope="module")
def space(trained):
    return MetricSpace.load(trained / "space")


@pytest.fixture(scope="module")
def rows(trained, space):
    """What Python says."""
    sets = RunFolder(trained).sets()
    rows = evaluation.evaluate(space, sets.tests(), tasks=5, seed=0)
    return [*rows, *evaluation.references(sets.train, sets.tests(), seed=0)]


@pytest.fixture(scope="module")
def answer(samekind, trained, rows, tmp_path_factory):
    """What the command says on the screen, and in a file."""
    out = tmp_path_factory.mktemp("told") / "folder" / "told.json"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", "120")
        answer = samekind("evaluate", trained, *TASKS, "--out", out)
    assert answer.status == 0
    # Two epochs do not make a space that the raw digits could not do without.
    gains = evaluation.gains(rows)
    first, *lines = answer.out.splitlines()[: 1 + len(gains)]
    assert first == evaluation.verdict_in_words(gains)
    assert first.startswith("It does not beat its start, the raw input, in ")
    assert lines == [f"  {gain.sentence}" for gain in gains]
    assert answer.err == ""
    assert answer.out.endswith(f"The same as JSON is in {out}\n")
    return answer.out, json.loads(out.read_text())


@pytest.fixture(scope="module")
def reported(answer):
    return answer[1]


@pytest.fixture
def known_rows(rows, monkeypatch):
    """Whoever evaluates the same again is given what was measured."""
    references = [row for row in rows if row.question == "reference"]
    monkeypatch.setattr("samekind.evaluation.references", lambda *_, **__: references)
    others = [row for row in rows if row.question != "reference"]
    monkeypatch.setattr("samekind.evaluation.evaluate", lambda *_, **__: others)


def test_json_has_every_row(reported, trained, rows):
    assert reported.keys() == {"folder", "gains", "choices", "systems", "warnings", "promises"}
    assert reported["folder"] == str(trained)
    assert list(reported["systems"]) == ["trained"]
    assert [Row(**row) for row in reported["systems"]["trained"]] == rows
    assert {row.items for row in rows} == {"seen", "unseen", "seen, unseen"}


def test_json_has_every_gain(samekind, trained, reported, rows, known_rows):
    """Programs decide by these answers, and read no standard error."""
    assert reported["gains"] == {"trained": [gain.to_json() for gain in evaluation.gains(rows)]}
    assert {gain["verdict"] for gain in reported["gains"]["trained"]} >= {"not better"}
    answer = samekind("evaluate", trained, *TASKS, "--json")
    assert (json.loads(answer.out), answer.err) == (reported, "")


def test_json_has_every_promise(reported, trained, space):
    expected = evaluation.promises(space, RunFolder(trained).sets().tests())
    assert [promise["sentence"] for promise in reported["promises"]] == [
        promise.sentence for promise in expected
    ]
    assert {(promise["items"], promise["kind"]) for promise in reported["promises"]} == {
        (items, kind) for items in ("seen", "unseen") for kind in space.kinds
    }


def test_one_screen_has_the_main_answers(answer, rows):
    page, _ = answer
    lines = page.splitlines()
    assert len(lines) <= 32
    assert "Seen: new items of classes that were trained on. Unseen: of classes never shown. Both:" in page
    written = {tuple(line.split()) for line in lines}
    kinds = {"similarity", "embedding"}
    main = [row for row in rows if row.measure in ("accuracy", "EER", "Recall@1") and row.kind in kinds]
    main += [row for row in rows if row.measure.endswith("5-shot harmonic mean")]
    assert len(main) == 6
    for row in main:
        assert (*row.measure.split(), *row.items.split(), row.kind, *row.text.split()) in written, row
    assert not any("fused" in line for line in lines)
    assert len(re.findall(r"promised [\d.]+% false accepts.*?, measured [\d.]+%", page)) == 2
    assert "--all prints all measures" in page


def test_all_has_every_number(samekind, trained, rows, known_rows, monkeypatch):
    monkeypatch.setenv("COLUMNS", "160")  # no cell is wrapped
    page = samekind("evaluate", trained, *TASKS, "--all").out
    lines = [line.split() for line in page.splitlines()]
    for row in rows:
        written = f"{row.measure} {row.items}".split()
        matching = [line for line in lines if line[: len(written)] == written]
        assert matching, row
        assert any(row.text in " ".join(line) for line in matching), row
    for question in {row.question for row in rows}:
        assert any(line[: len(question.split())] == question.capitalize().split() for line in lines)
    assert len(re.findall(r"promised [\d.]+% false accepts.*?, measured [\d.]+%", page)) == 6


def test_names_a_run_after_its_folder(samekind, trained, reported, known_rows, monkeypatch):
    monkeypatch.chdir(trained)
    assert json.loads(samekind("evaluate", ".", *TASKS, "--json").out) == {**reported, "folder": "."}


def test_notes_a_selection_on_test_items_in_every_row(samekind, trained, known_rows, tmp_path):
    folder = shutil.copytree(trained, tmp_path / "chosen")
    settings = json.loads((folder / "run.json").read_text())
    assert settings["select_on"] == "validation"
    (folder / "run.json").write_text(json.dumps({**settings, "select_on": "test"}))
    page = samekind("evaluate", folder, *TASKS, "--out", tmp_path / "told.json").out
    reported = json.loads((tmp_path / "told.json").read_text())
    notes = {(row["question"] == "reference", row["note"]) for row in reported["systems"]["chosen"]}
    assert notes == {(False, "selected on test"), (True, "")}  # nobody chose anything for the references
    assert "seen, selected on test" in page


def test_the_report_is_about_this_run(samekind, trained, rows, known_rows, tmp_path, monkeypatch):
    """Only what it is given: drawing the page takes seconds, and the demo's tests draw it."""
    asked = []
    monkeypatch.setattr(
        "samekind.questions.report.write_report", lambda path, **content: asked.append((path, content))
    )
    answer = samekind("evaluate", trained, *TASKS, "--report", tmp_path / "report.html")
    assert answer.status == 0
    assert answer.out.endswith(f"The report is in {tmp_path / 'report.html'}\n")
    [(path, content)] = asked
    assert path == tmp_path / "report.html"
    assert content["title"] == "samekind: trained"
    assert list(content["systems"]) == ["trained"]
    system, sets = content["systems"]["trained"], RunFolder(trained).sets()
    assert list(system.rows) == rows
    assert [entry["epoch"] for entry in system.record] == [1, 2]
    assert content["seen"].fingerprint() == sets.test.fingerprint()
    assert content["unseen"].fingerprint() == sets.unseen.fingerprint()


# --- a list of trials -------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def listed(trained, tmp_path_factory):
    """Pictures of three digits, four of each, and lists about them."""
    folder, items = tmp_path_factory.mktemp("listed"), RunFolder(trained).sets().test
    names = []
    for label in range(3):
        for number, index in enumerate((items.labels == label).nonzero().flatten()[:4].tolist()):
            names.append((label, f"{label}/{number}.png"))
            write_image(folder / "pictures" / names[-1][1], items.inputs[index])
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    lines = [f"{int(a[0] == b[0])} {a[1]} {b[1]}" for a, b in pairs]
    (folder / "pairs.txt").write_text("\n".join(lines))
    (folder / "enrolled.txt").write_text("".join(f"d{i} {i}/0.png {i}/1.png\n" for i in range(3)))
    tests = [name for name in names if name[1][2] in "23"]
    lines = [f"{int(i == label)} d{i} {name}" for i in range(3) for label, name in tests]
    (folder / "sets.txt").write_text("\n".join(lines))
    return folder


def test_verifies_the_trials_of_a_list(samekind, trained, space, listed):
    options = ("--trials", listed / "pairs.txt", "--root", listed / "pictures")
    reported = json.loads(samekind("evaluate", trained, *options, "--json").out)
    assert reported["trials"] == str(listed / "pairs.txt")
    trials = read_trial_list(listed / "pairs.txt", root=listed / "pictures")
    expected = evaluation.listed_trials(space, trials, embed_files(space, trials.files), name="pairs")
    assert [Row(**row) for row in reported["systems"]["trained"]] == expected
    assert {row.unit for row in expected if row.low is not None} == {"classes"}
    assert len(reported["promises"]) == 3
    assert "Verification" in samekind("evaluate", trained / "space", *options, "--all").out


def test_enrolments_of_several_items(samekind, trained, listed):
    options = ("--trials", listed / "sets.txt", "--root", listed / "pictures")
    options += ("--enrolments", listed / "enrolled.txt")
    one, other = (
        json.loads(samekind("evaluate", trained, *options, "--combine", combination, "--json").out)
        for combination in ("embedding", "min")
    )
    assert one["systems"]["trained"][0]["items"] == "sets"
    assert one["systems"] != other["systems"]


# --- against another run ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def other(trained, tmp_path_factory):
    """The same items, another space."""
    folder = shutil.copytree(trained, tmp_path_factory.mktemp("runs") / "other")
    changed = MetricSpace.load(trained / "space")
    with torch.no_grad():
        for parameter in changed.similarity.parameters():
            parameter.mul_(0.5)
    changed.save(folder / "space")
    return folder


def test_compares_two_runs_on_the_same_items(samekind, trained, other, space, tmp_path):
    page = samekind("evaluate", trained, "--against", other, *TASKS, "--out", tmp_path / "told.json").out
    reported = json.loads((tmp_path / "told.json").read_text())
    assert reported.keys() == {"folder", "against", "differences", "warnings"}
    expected = evaluation.against(
        space, MetricSpace.load(other / "space"), RunFolder(trained).sets().tests(), tasks=5
    )
    assert reported["differences"] == [row._asdict() for row in expected]
    assert reported["warnings"] == []
    assert "difference" in page
    assert page.count("intervals over") >= 4


# --- mistakes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--against", "x", "--trials", "y"), "leave out one"),
        (("--enrol", "2", "--combine", "medan"), 'there is no "medan"; did you mean "median"?'),
        (("--gallery", "tran"), '--gallery: there is no "tran"; did you mean "train"?'),
        (("--gallery", "train", "--ignore", "domain"), "ignoring the same domain needs a domain"),
        (("--gallery", "train", "--ignore", "camera"), '--ignore: there is no "camera"'),
        (("--shots", "1,x"), 'expected whole numbers from 1 up, such as 1,5; got "1,x"'),
        (("--shots", "0"), "--shots: expected whole numbers from 1 up"),
        (("--ranks", "1;2"), '--ranks: expected whole numbers from 1 up, such as 1,5; got "1;2"'),
        (("--ranks", "0,1"), "--ranks: expected whole numbers from 1 up"),
        (("--ranks", "1", "--trials", "x"), "--ranks and --trials do not go together"),
        (("--trials", "nowhere.txt"), "there is no list nowhere.txt"),
    ],
)
def test_a_mistake_gets_one_line(samekind, trained, options, message):
    answer = samekind("evaluate", trained, *options)
    assert answer.status == 2
    assert message in answer.err
    assert answer.err.count("\n") == 1


def test_refuses_unreadable_files_of_a_list(samekind, trained, listed, tmp_path):
    folder = shutil.copytree(listed, tmp_path / "listed")
    (folder / "pictures" / "0" / "0.png").write_bytes(b"no picture")
    answer = samekind("evaluate", trained, "--trials", folder / "pairs.txt", "--root", folder / "pictures")
    assert answer.status == 2
    assert "files cannot be read; repair or remove them: cannot read" in answer.err
    assert "--skip-unreadable" not in answer.err
