"""The nearest of a gallery, by comparing with all."""

import numpy as np

from samekind.portable.gallery import Gallery
from samekind.portable.scores import Score


def inner_product():
    return Score(None, None, counted=False, pair_bytes=4, scale=1.0)


def test_finds_the_best_first_and_of_equals_the_first():
    z = np.array([[1, 0], [0, 1], [1, 0], [2, 0]], np.float32)
    gallery = Gallery(z, ["a", "b", "c", "d"], ["x", None, "x", "y"])
    [matches] = gallery.search(np.array([[1, 0]], np.float32), 3, kind="similarity", score=inner_product())
    assert [(match.id, match.label, match.score) for match in matches] == [
        ("d", "y", 2.0),
        ("a", "x", 1.0),
        ("c", "x", 1.0),
    ]


def test_more_than_there_are_and_none_at_all():
    z = np.eye(2, dtype=np.float32)
    gallery = Gallery(z, ["a", "b"], [None, None])
    assert [len(row) for row in gallery.search(z, 10, kind="similarity", score=inner_product())] == [2, 2]
    empty = Gallery(z[:0], [], [])
    assert empty.search(z, 3, kind="similarity", score=inner_product()) == [[], []]


def test_a_gallery_is_mapped_once():
    calls = []

    class Counting:
        def run(self, z, output):
            calls.append((output, len(z)))
            return z

    score = Score(Counting(), None, counted=False, pair_bytes=4, scale=1.0)
    gallery = Gallery(np.eye(2, dtype=np.float32), ["a", "b"], [None, None])
    for _ in range(3):
        gallery.search(np.eye(2, dtype=np.float32)[:1], 1, kind="cosine", score=score)
    assert calls.count(("second", 2)) == 1
    assert calls.count(("first", 1)) == 3
