"""Advice about an index names the options that carry it out."""

import pytest

from samekind.cli.advice import advice_in_words
from samekind.questions.shortlists import Advice


@pytest.mark.parametrize(
    ("advice", "words"),
    [
        (Advice("add"), "once it has grown by a quarter, samekind index add measures again"),
        (Advice("lower recall", recall=0.996), "build it again with --recall 0.996 or less"),
        (Advice("rebuild"), "build it again with a lower --recall"),
        (Advice("rebuild", distil=True), "build it again with --distil or a lower --recall"),
        (
            Advice("rebuild", structures=("hnsw", "flat"), distil=True),
            "build it again with --type hnsw, --type flat, --distil or a lower --recall",
        ),
        (Advice("measure", kind="fused"), "samekind index build --kind fused measures one"),
        (
            Advice("measure recall", kind="cosine"),
            "samekind index build --kind cosine measures how much it finds",
        ),
        (Advice("exhaustive"), "--exhaustive finds all"),
    ],
)
def test_in_words(advice, words):
    assert advice_in_words(advice) == words
