"""A change goes to bytes and comes back."""

import json

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SpaceError
from samekind.index.changes import LENGTH, Change, from_content, to_parts

texts = st.text(st.characters(codec=None), max_size=8)


def there_and_back(change, dimension):
    return from_content(memoryview(b"".join(to_parts(change))), dimension=dimension)


@settings(max_examples=30)
@given(st.lists(texts, max_size=5, unique=True), st.integers(1, 4))
def test_bytes_give_the_same_change(ids, dimension):
    assert there_and_back(Change(ids), dimension) == Change(ids)
    vectors = torch.randn(dimension, len(ids)).T  # not contiguous
    ids_again, lines, again = there_and_back(Change(ids, ["{}"] * len(ids), vectors), dimension)
    assert (ids_again, lines) == (ids, ["{}"] * len(ids))
    assert torch.equal(again, vectors)
    again += 1  # a tensor of its own, that may be written to


@pytest.mark.parametrize(
    "content", [b"", LENGTH.pack(2) + b"{}", LENGTH.pack(2) + b"[]", LENGTH.pack(3) + b"ab"]
)
def test_refuses_bytes_that_are_not_a_change(content):
    with pytest.raises(SpaceError, match="its journal holds no change"):
        from_content(memoryview(content), dimension=2)


def test_vectors_of_another_dimension_are_damage():
    content = memoryview(b"".join(to_parts(Change(["a"], ["{}"], torch.ones(1, 3)))))
    with pytest.raises(SpaceError, match="holds no change"):
        from_content(content, dimension=2)


@pytest.mark.parametrize(
    "head",
    [
        {"add": [1], "metadata": ["{}"]},
        {"add": ["a", "a"], "metadata": ["{}", "{}"]},
        {"add": ["a"], "metadata": []},
        {"add": "a", "metadata": "b"},
        {"remove": [[]]},
        {"remove": "abc"},
        {"remove": None},
        [],
        3,
    ],
)
def test_an_entry_with_anything_but_texts_is_damage(head):
    text = json.dumps(head).encode()
    vectors = bytes(8 * len(head.get("add", []))) if isinstance(head, dict) else b""
    with pytest.raises(SpaceError, match="its journal holds no change"):
        from_content(memoryview(LENGTH.pack(len(text)) + text + vectors), dimension=2)
