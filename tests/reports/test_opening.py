"""The opening of a report: lines of questions, and pictures of right and wrong answers."""

import pytest
import torch

from samekind.data import Items
from samekind.encoders import Unchanged
from samekind.evaluation import Answered, Row
from samekind.prototypes import SupportMeans
from samekind.reports import lines_section, pictures_section
from samekind.reports.opening import ROWS, queries_shown
from samekind.similarities import Cosine
from samekind.space import MetricSpace


def answered(value, low, high, *, question="Which <one>?"):
    row = Row("retrieval", "unseen", "Recall@1", "cosine", 0.5, 0.4, 0.6)
    return Answered(question, row, row._replace(value=value, low=low, high=high))


def test_a_line_has_question_measure_and_both_values():
    section = lines_section([answered(0.9, 0.8, 0.95)], names=("raw", "own"), caption="words")
    assert "Which &lt;one&gt;?" in section.html
    assert "<td>Recall@1</td><td>50.00%</td><td><b>90.00%</b>" in section.html
    assert "(80.0\u201395.0)" in section.html


def test_only_what_is_better_by_more_than_its_interval_is_bold():
    section = lines_section([answered(0.55, 0.45, 0.65)], names=("raw", "own"), caption="")
    assert "<b>" not in section.html


def test_queries_show_where_the_space_helps_where_both_are_right_and_where_it_is_wrong():
    reference, own = torch.zeros(40, dtype=torch.bool), torch.ones(40, dtype=torch.bool)
    reference[:10] = True
    own[30:] = False
    chosen = queries_shown(reference, own).tolist()
    helped, both, wrong = (
        chosen[: ROWS[0]],
        chosen[ROWS[0] : ROWS[0] + ROWS[1]],
        chosen[ROWS[0] + ROWS[1] :],
    )
    assert all(10 <= place < 30 for place in helped)
    assert all(place < 10 for place in both)
    assert all(place >= 30 for place in wrong)
    assert len(set(chosen)) == sum(ROWS)


def test_without_mistakes_there_are_fewer_rows():
    right = torch.ones(9, dtype=torch.bool)
    assert len(queries_shown(right, right)) == ROWS[1]


@pytest.mark.parametrize("shape", [(1, 4, 4), (16,)])
def test_pictures_are_shown_and_vectors_are_not(shape):
    inputs = torch.rand(12, *shape, generator=torch.Generator().manual_seed(0))
    items = Items(inputs, torch.arange(12) % 3, ("a", "b", "c"), "things")
    space = MetricSpace(Unchanged(inputs=16), Cosine(), SupportMeans(dimension=16)).eval()
    section = pictures_section({"raw": space, "own": space}, items)
    if len(shape) == 1:
        assert section is None
    else:
        assert list(section.figure) == ["own", "raw"]
