"""Items that are vectors already are asked about without embedding them again."""

import pytest
import torch

from samekind.index import Exact
from samekind.questions import embed, enroll, identify, search
from samekind.questions.compare import compare_embedded
from samekind.questions.embedded import Embedded, vectors_of
from samekind.questions.galleries import fill


def test_answers_are_those_of_the_items(plane, at, threshold, monkeypatch):
    plane.decisions = {"similarity": threshold(0.5)}
    items, gallery = at([10, 100]), Exact(2)
    fill(plane, gallery, at([0, 45, 90], ["right", None, "up"]))
    vectors = embed(plane, items)
    expected = identify(plane, items, best=2), search(plane, items, gallery, k=2)
    monkeypatch.setattr(
        "samekind.questions.embedded.embedded", lambda *_, **__: pytest.fail("embedded again")
    )
    assert (identify(plane, vectors, best=2), search(plane, vectors, gallery, k=2)) == expected
    assert vectors_of(plane, vectors, title="any") is vectors.z
    assert not compare_embedded(plane, vectors.z).same


def test_enrols_and_lists_the_most_probable_classes(plane, at):
    down = Embedded(torch.tensor([[0.0, -1.0], [0.0, -3.0]]), ("a", "b"), (None, None))
    assert enroll(plane, "down", down).examples == 2
    [item] = identify(plane, at([271]), best=2).items
    assert [name for name, _ in item.best] == ["down", "right"]
    assert identify(plane, at([271]), best=2).to_json()["items"][0]["best"][0]["class"] == "down"
    assert "best" not in identify(plane, at([271])).to_json()["items"][0]


def test_what_has_the_name_of_a_file_by_chance_finds_it(plane, at):
    """A file does not find itself; a vector is no file."""
    gallery, items = Exact(2), at([0, 45])
    fill(plane, gallery, items)
    assert [match.id for match in search(plane, items, gallery, k=2).queries[0].matches] == ["45 degrees"]
    assert len(search(plane, embed(plane, items), gallery, k=2).queries[0].matches) == 2
