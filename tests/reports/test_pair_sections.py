"""The sections about pairs."""

import pytest

from samekind.reports import System
from samekind.reports.measured import measure
from samekind.reports.pair_sections import scores_section, tradeoff_section


@pytest.fixture
def systems(vectors, space_for):
    return {"mine": System(space_for(vectors), []), "other": System(space_for(vectors), [])}


@pytest.fixture
def sets(systems, vectors):
    """All classes as seen, one alone as unseen: that has no different pair."""
    return {"seen": measure(systems, vectors), "unseen": measure(systems, vectors.only(["2"]))}


def test_scores_are_shown_for_every_set_with_the_threshold_of_the_space(systems, sets):
    section = scores_section(systems, sets)
    threshold = systems["mine"].space.decisions["similarity"].threshold
    assert list(section.figure) == ["Seen items", "Unseen items"]
    for figure in section.figure.values():
        assert f"threshold {threshold:.3g}" in [text.get_text() for text in figure.axes[0].texts]
    assert "(fitted on clusters: 84 same, 192 different)" in section.caption
    assert section.caption.startswith('How alike the space "mine" finds')


def test_a_space_without_a_threshold_is_shown_without(systems, sets):
    systems["mine"].space.decisions.clear()
    section = scores_section(systems, sets)
    assert "no threshold" in section.caption
    assert not section.figure["Seen items"].axes[0].lines


def test_a_single_item_makes_no_pair(systems, vectors):
    one = {"seen": measure(systems, vectors.take(vectors.labels.new_tensor([0])))}
    assert scores_section(systems, one) is None
    assert tradeoff_section(systems, one) is None


def test_the_tradeoff_has_each_kind_of_each_system_where_there_are_both_kinds_of_pair(systems, sets):
    section = tradeoff_section(systems, sets)
    assert list(section.figure) == ["Seen items"]
    words = [text.get_text() for text in section.figure["Seen items"].axes[0].get_legend().get_texts()]
    assert [word.partition(",")[0] for word in words] == [
        "mine · similarity",
        "mine · cosine",
        "other · similarity",
        "other · cosine",
        "equal errors",
    ]


def test_a_system_alone_is_not_named_in_every_curve(systems, vectors):
    del systems["other"]
    figure = tradeoff_section(systems, {"seen": measure(systems, vectors)}).figure["Seen items"]
    assert figure.axes[0].get_legend().get_texts()[0].get_text().startswith("similarity, EER")
