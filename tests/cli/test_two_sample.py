"""samekind two-sample: the test of the space, in words and in JSON."""

import json

import numpy
import pytest
import torch

from samekind.data import VectorReader
from samekind.encoders import MLP
from samekind.inference import embed, two_sample
from samekind.prototypes import SupportMeans
from samekind.similarities import PairsNetwork
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A space over points of the plane, and points: two samples of one cloud and one of another."""
    folder = tmp_path_factory.mktemp("two sample")
    torch.manual_seed(0)
    space = MetricSpace(
        MLP(inputs=2, dimension=3, hidden=[]),
        PairsNetwork(dimension=3, hidden=8),
        SupportMeans(dimension=3),
        reader=VectorReader(dimension=2),
    )
    space.save(folder / "space")
    generator = numpy.random.default_rng(0)
    for name, shift in (("one", 0), ("again", 0), ("other", 3)):
        numpy.save(folder / f"{name}.npy", generator.normal(shift, 1, (30, 2)).astype(numpy.float32))
    return folder


@pytest.fixture
def ask(samekind, place, monkeypatch):
    monkeypatch.chdir(place)
    return lambda *more: samekind("two-sample", "--space", "space", "--permutations", "99", *more)


def points(place, name):
    return torch.from_numpy(numpy.load(place / f"{name}.npy"))


@pytest.mark.parametrize(
    ("kind", "symmetrise", "spectrum"), [("similarity", "max", "clip"), ("fused", "mean", "shift")]
)
def test_json_is_what_the_library_says(ask, place, kind, symmetrise, spectrum):
    options = ("--kind", kind, "--symmetrise", symmetrise, "--spectrum", spectrum, "--seed", "4")
    answer = ask("one.npy", "other.npy", *options, "--json")
    assert (answer.status, answer.err) == (0, "")
    content = json.loads(answer.out)
    space = MetricSpace.load(place / "space")
    expected = two_sample(
        space,
        embed(space, points(place, "one")),
        embed(space, points(place, "other")),
        kind=kind,
        symmetrise=symmetrise,
        spectrum=spectrum,
        permutations=99,
        seed=4,
    )
    assert {name: content[name] for name in expected._fields} == pytest.approx(expected._asdict(), rel=1e-4)
    assert content["different"] == (expected.p_value < 0.05)
    assert content["A"] == {"source": "one.npy", "items": 30, "compared": 30, "skipped": []}
    assert (content["B"]["source"], content["kind"], content["seed"]) == ("other.npy", kind, 4)
    assert (content["symmetrise"], content["spectrum"]) == (symmetrise, spectrum)


def test_in_words(ask):
    """By the cosine: the learned score was not trained, and says nothing yet."""
    differ, alike = (ask("one.npy", name, "--kind", "cosine").out for name in ("other.npy", "again.npy"))
    assert differ.startswith("The two differ: p = 0.01 (100 shuffles).\nSquared mean discrepancy ")
    assert "of 30 and 30 items" in differ
    assert alike.startswith("No difference was found: p = 0.")


def test_draws_from_many_items(ask):
    content = json.loads(ask("one.npy", "other.npy", "--most", "20", "--json").out)
    assert (content["A"]["items"], content["A"]["compared"]) == (30, 20)
    assert "of 20 of 30 and 20 of 30 items" in ask("one.npy", "other.npy", "--most", "20").out
    other = json.loads(ask("one.npy", "other.npy", "--most", "20", "--seed", "1", "--json").out)
    assert other["discrepancy"] != content["discrepancy"]


def test_a_collection_against_itself_is_never_different(ask):
    content = json.loads(ask("one.npy", "one.npy", "--json").out)
    assert not content["different"]


@pytest.mark.slow
def test_folders_of_pictures_of_two_digits_differ(samekind, trained, folders):
    one, other, *_ = sorted(path for path in folders.iterdir() if path.is_dir())
    content = json.loads(samekind("two-sample", one, other, "--space", trained, "--json").out)
    assert content["different"]


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (
            ["one.npy", "other.npy", "--kind", "cosin"],
            'this space has no score "cosin"; did you mean "cosine"?',
        ),
        (
            ["one.npy", "other.npy", "--spectrum", "flip"],
            '--spectrum: there is no "flip"; did you mean "clip"?',
        ),
        (["one.npy", "other.npy", "--symmetrise", "min"], '--symmetrise: there is no "min"; '),
        (["one.npy", "other.npy", "--permutations", "0"], "invalid value for '--permutations': "),
        (["one.npy", "nowhere.npy"], ""),
    ],
)
def test_a_mistake_gets_one_line(ask, more, says):
    answer = ask(*more)
    [line] = answer.err.splitlines()
    assert line.startswith(f"samekind: {says}")
    assert (answer.status, answer.out) == (2, "")
