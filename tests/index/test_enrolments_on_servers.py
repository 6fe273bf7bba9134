"""Enrolled classes beside an index on a server: two clients that know nothing of each other."""

from pathlib import Path

import pytest
import torch

from samekind.data import VectorReader
from samekind.encoders import Unchanged
from samekind.index import open_index, space_fingerprint
from samekind.prototypes import SupportMeans
from samekind.serving.enrolments import open_enrolments
from samekind.serving.refusal import Refusal
from samekind.similarities import Cosine
from samekind.space import MetricSpace

pytestmark = pytest.mark.servers


@pytest.fixture(params=["postgres", "milvus"])
def clients(request, tmp_path):
    """Two of them, of one space and one index."""
    make = request.getfixturevalue(f"make_{request.param}")
    encoder, means = Unchanged(inputs=2), SupportMeans(dimension=2)
    space = MetricSpace(encoder, Cosine(), means, reader=VectorReader(dimension=2)).eval()
    make(2, fingerprint=space_fingerprint(space)).save(tmp_path / "index")
    pair = [open_enrolments(space, tmp_path / "unused", open_index(tmp_path / "index")) for _ in range(2)]
    yield pair
    for one in pair:
        one.close()
    assert not Path(tmp_path / "unused").exists()


def known(enrolments):
    return {name: one.z.tolist() for name, one in enrolments.changes.enrolled.items()}


def test_the_server_decides_who_was_first_and_both_see_every_change(clients):
    first, second = clients
    first.enroll("a", torch.eye(2), replace=False, under=None)
    with pytest.raises(Refusal, match="already there"):
        second.enroll("a", torch.zeros(1, 2), replace=False, under=None)
    assert second.refresh()
    assert not second.refresh()
    assert known(second) == {"a": [[1, 0], [0, 1]]}
    second.enroll("a", torch.ones(1, 2), replace=True, under=None)
    assert first.refresh()
    assert known(first) == {"a": [[1, 1]]}
    first.rename("a", "b", trained=None)
    second.rename("cat", "felis", trained="cat")
    first.refresh()
    assert known(second) == known(first) == {"b": [[1, 1]]}
    assert first.changes.trained == {"cat": "felis"}
    second.remove("b", trained=None)
    assert first.refresh()
    assert known(first) == {}
