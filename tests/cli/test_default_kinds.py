"""Without --kind every command goes by the space's choice; with it, by what is named."""

import json
import shutil

import pytest

from samekind.decisions import Choices
from samekind.space import MetricSpace


@pytest.fixture
def folder(trained, tmp_path):
    """The run, its space with a choice of its own for each question."""
    copy = shutil.copytree(trained, tmp_path / "run", ignore=shutil.ignore_patterns("*.pt"))
    space = MetricSpace.load(trained / "space")
    space.choices = Choices("cosine", "fused", "cosine", "voices, validation")
    space.save(copy / "space")
    return copy


def test_compare_goes_by_the_choice_for_pairs(samekind, folder, pictures):
    command = ("compare", pictures / "0.png", pictures / "1.png", "--space", folder, "--json")
    assert json.loads(samekind(*command).out)["kind"] == "cosine"
    assert json.loads(samekind(*command, "--kind", "similarity").out)["kind"] == "similarity"


def test_search_and_cluster_go_by_the_choice_for_neighbours(samekind, folder, folders, tmp_path):
    search = ("search", folders / "0" / "00.png", "--gallery", folders, "--space", folder)
    assert json.loads(samekind(*search, "--json").out)["kind"] == "fused"
    assert json.loads(samekind(*search, "--json", "--kind", "cosine").out)["kind"] == "cosine"
    assert "score (fused)" in samekind(*search).out
    cluster = (
        "cluster",
        folders,
        "--space",
        folder,
        "--out",
        tmp_path / "groups.csv",
        "--groups",
        2,
        "--json",
    )
    assert json.loads(samekind(*cluster).out)["kind"] == "fused"


def test_an_index_is_measured_for_the_choice_for_neighbours(samekind, folder, folders, tmp_path):
    command = ("index", "build", folder, folders, "--out", tmp_path / "index", "--json")
    assert list(json.loads(samekind(*command).out)["shortlists"]) == ["fused"]
    assert list(json.loads(samekind(*command, "--score", "cosine").out)["shortlists"]) == ["cosine"]


def test_classes_are_named_and_related_by_the_choice_for_classes(samekind, folder, pictures, tmp_path):
    identify = ("identify", pictures / "0.png", "--space", folder, "--json")
    assert json.loads(samekind(*identify).out)["named by"] == "cosine"
    assert json.loads(samekind(*identify, "--kind", "fused").out)["named by"] == "fused"
    predict = ("predict", pictures / "0.png", "--space", folder, "--out", tmp_path / "out.csv", "--json")
    assert json.loads(samekind(*predict).out)["kind"] == "cosine"
    assert json.loads(samekind("classes", folder, "--json").out)["kind"] == "cosine"
    assert (
        json.loads(samekind("classes", folder, "--json", "--kind", "similarity").out)["kind"] == "similarity"
    )


def test_info_tells_the_choices(samekind, folder):
    assert "Pairs are compared and classes named by the cosine, chosen on" in samekind("info", folder).out
    assert json.loads(samekind("info", folder, "--json").out)["choices"]["neighbours"] == "fused"
