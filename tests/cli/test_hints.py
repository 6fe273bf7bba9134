"""The hint at a better kind of score: given where none is named, and to people alone."""

import shutil

import pytest

from samekind.decisions import Standing
from samekind.space import MetricSpace

OWN = Standing(0.25, 0.5, "voices, validation")
COSINE = Standing(0.0, 0.75, "voices, validation", (0.1, 0.4), (0.05, 0.45))
FUSED = Standing(0.1, 1.0, "voices, validation", (0.05, 0.25), (0.3, 0.7))

ERRS_LESS = (
    "by the cosine this space erred less on voices, validation: on 0.00% of pairs, against 25.00% by its own "
    "similarity (equal error); "
)
FINDS_MORE = (
    "by the fused score this space found more on voices, validation: the most alike item was of the same "
    "class for 100.0%, against 50.0% by its own similarity; "
)


@pytest.fixture
def space(trained):
    loaded = MetricSpace.load(trained / "space")
    loaded.standings = {"similarity": OWN, "cosine": COSINE, "fused": FUSED}
    return loaded


@pytest.fixture
def folder(space, trained, tmp_path):
    """The run with those figures."""
    copy = shutil.copytree(trained, tmp_path / "run", ignore=shutil.ignore_patterns("*.pt"))
    space.save(copy / "space")
    return copy


def test_compare_says_it_where_no_score_is_named(samekind, folder, pictures):
    command = ("compare", pictures / "0.png", pictures / "1.png", "--space", folder)
    assert samekind(*command).err == f"{ERRS_LESS}use --kind cosine\n"
    for more in (("--kind", "similarity"), ("--kind", "cosine"), ("--json",)):
        assert samekind(*command, *more).err == ""


def test_search_says_it_where_no_score_is_named(samekind, folder, folders):
    command = ("search", folders / "0" / "00.png", "--gallery", folders, "--space", folder)
    assert samekind(*command).err == f"{FINDS_MORE}use --kind fused\n"
    for more in (("--kind", "similarity"), ("--kind", "fused"), ("--json",)):
        assert samekind(*command, *more).err == ""


def test_index_build_says_what_to_measure_for(samekind, folder, folders, tmp_path):
    command = ("index", "build", folder, folders, "--out", tmp_path / "index")
    how = "use --score fused here and --kind fused in searches\n"
    assert samekind(*command).err == FINDS_MORE + how
    for more in (("--score", "similarity"), ("--json",)):
        assert samekind(*command, *more).err == ""
