"""samekind adapt: another domain, and nothing half-written."""

import json

import numpy as np
import pytest
import torch

from samekind.data import VectorReader
from samekind.decisions import Decision
from samekind.encoders import MLP
from samekind.inference.fitting import neighbourhood
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, TwoCovariance
from samekind.space import MetricSpace


def domain(*, noise, shift, seed):
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(12).repeat_interleave(5)
    errors = torch.tensor(noise) * torch.randn(60, 3, generator=generator)
    return torch.randn(12, 3, generator=generator)[labels] + errors + shift, labels


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A space with PLDA and normalised scores, saved."""
    encoder = MLP(inputs=3, dimension=3, hidden=[])
    with torch.no_grad():
        encoder.embedding.weight.copy_(torch.eye(3))
        encoder.embedding.bias.zero_()
    space = MetricSpace(encoder, Cosine(), SupportMeans(dimension=3), reader=VectorReader(dimension=3))
    z, labels = domain(noise=[0.3, 0.3, 0.3], shift=0, seed=0)
    space.fitted = TwoCovariance(dimension=3, shrinkage=0.1).fit(z, labels)
    space.normalised = neighbourhood(space.fitted, z)
    space.decisions["fitted"] = Decision("fitted", 0.0, "eer", "made up", 0.0, 0.0)
    folder = tmp_path_factory.mktemp("adapt") / "space"
    space.save(folder)
    return folder


@pytest.fixture(scope="module")
def data(saved):
    """Class folders of items of another domain."""
    z, labels = domain(noise=[2.0, 0.3, 0.1], shift=1.0, seed=1)
    folder = saved.parent / "data"
    for place, (item, label) in enumerate(zip(z.numpy(), labels.tolist(), strict=True)):
        (folder / f"class {label:02d}").mkdir(parents=True, exist_ok=True)
        np.save(folder / f"class {label:02d}" / f"{place}.npy", item)
    return folder


def test_adapts_with_labels_and_says_what_is_next(samekind, saved, data, tmp_path):
    answer = samekind("adapt", saved, data, "--out", tmp_path / "new")
    assert answer.status == 0, answer.err
    assert "Adapted to 60 items of 12 classes: fitted, normalised" in answer.out
    assert "of 6 classes, adapted to the others" in answer.out
    assert f"samekind calibrate {tmp_path / 'new'} DATA" in answer.err
    new, old = MetricSpace.load(tmp_path / "new"), MetricSpace.load(saved)
    assert (list(new.decisions), list(old.decisions)) == ([], ["fitted"])
    assert not torch.equal(new.fitted.map, old.fitted.map)
    assert torch.equal(new.normalised.similarity.map, new.fitted.map)
    assert len(new.normalised.cohort) == 60
    assert samekind("calibrate", tmp_path / "new", data).status == 0


def test_adapts_without_labels(samekind, saved, data, tmp_path):
    answer = samekind("adapt", saved, data, "--out", tmp_path / "new", "--no-labels", "--json")
    content = json.loads(answer.out)
    assert (content["space"], content["classes"], content["measured"]) == (str(tmp_path / "new"), None, None)
    assert content["dropped"] == ["fitted"]


def test_a_mistake_writes_nothing(samekind, saved, data, trained, folders, tmp_path):
    for given, says in (
        ((trained, folders), "only a fitted similarity of the form TwoCovariance (PLDA) can be adapted"),
        ((saved, tmp_path / "nowhere"), "nowhere"),
        ((saved, next(data.rglob("*.npy")), "--labels"), "expected items whose class is known"),
    ):
        answer = samekind("adapt", *given, "--out", tmp_path / "new")
        assert (answer.status, answer.err.count("\n")) == (2, 1)
        assert says in answer.err
        assert not (tmp_path / "new").exists()
