"""samekind serve: tokens, what it refuses before it starts, and the space of a run."""

import shutil
import sys

import pytest

from samekind.index import open_index
from samekind.questions.thumbnails import KEPT
from samekind.serving.opening import open_engine
from samekind.serving.tokens import Caller, Tokens
from samekind.space import MetricSpace


def test_makes_and_revokes_tokens(samekind, tmp_path):
    state = ("--state", tmp_path / "state")
    made = samekind("serve", "any", "--new-token", "read", "--token-name", "anna", *state)
    token = made.out.split()[0]
    tokens = Tokens(tmp_path / "state" / "tokens.json")
    assert tokens.caller(token) == Caller("anna", "read")
    assert "shown only now" in made.out
    gone = samekind("serve", "any", "--revoke-token", "anna", *state)
    assert (gone.status, tokens.caller(token)) == (0, None)
    wrong = samekind("serve", "any", "--new-token", "boss", *state)
    assert (wrong.status, 'no role "boss"' in wrong.err) == (2, True)


@pytest.mark.parametrize("options", [("--host", "0.0.0.0"), ("--tokens",), ("--host", "192.0.2.1")])
def test_asks_for_tokens_beyond_this_machine(samekind, tmp_path, options):
    answer = samekind("serve", tmp_path / "space", *options)
    assert answer.status == 2
    assert "--new-token admin" in answer.err
    assert not (tmp_path / "space").exists()


def test_says_what_is_wrong_with_the_space(samekind, tmp_path):
    answer = samekind("serve", tmp_path / "nothing", "--port", 0)
    assert (answer.status, "no space at" in answer.err) == (2, True)


def test_a_run_measures_thresholds_on_its_validation_items(trained, samekind, tmp_path):
    run = shutil.copytree(trained, tmp_path / "run")
    engine = open_engine(run, state=tmp_path / "state", device="cpu")
    curve = engine.tradeoff(kind="cosine")
    assert "validation" in curve["trials"]["sentence"]
    nearest = min(
        range(len(curve["thresholds"])),
        key=lambda place: abs(curve["thresholds"][place] - curve["decision"]["threshold"]),
    )
    assert curve["false_accepts"][nearest] == pytest.approx(curve["decision"]["false_accepts"], abs=0.03)
    decision = engine.decide(kind="cosine", threshold=0.5)
    assert MetricSpace.load(run / "space").decisions["cosine"].threshold == decision["threshold"] == 0.5
    # Every command goes on with it.
    assert samekind("info", run).status == 0
    assert samekind("evaluate", run, "--tasks", 5, "--no-references").status == 0
    assert {row["question"] for row in engine.measures()["rows"]} >= {"verification", "retrieval"}
    engine.close()


def test_says_which_packages_are_missing(samekind, tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "samekind.serving.app", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    answer = samekind("serve", tmp_path)
    assert answer.status == 2
    assert "pip install 'samekind[serve]'" in answer.err


def test_small_pictures_are_kept_with_the_items_of_an_index(samekind, trained, folders, tmp_path):
    build = ("index", "build", trained, folders / "0", "--out", tmp_path / "index")
    assert samekind(*build, "--thumbnails").status == 0
    index = open_index(tmp_path / "index")
    assert all(KEPT in entry for entry in index.metadata(list(index)))
    assert samekind("index", "add", tmp_path / "index", folders / "1", "--space", trained).status == 0
    index = open_index(tmp_path / "index")
    assert sum(KEPT in entry for entry in index.metadata(list(index))) == 12
