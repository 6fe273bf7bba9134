"""Pictures without data: what was drawn, and where the classifier is surest."""

import pytest

from samekind.errors import SettingError
from samekind.questions.draw import draw_confidence, draw_regions
from samekind.reports import Confidence


def test_a_form_without_a_plane_is_drawn_on_the_sphere(tmp_path):
    answer = draw_confidence(tmp_path / "a.png", form="normface", classes=2)
    [drawn] = answer.maps
    assert drawn.surface == "sphere"
    assert drawn.maximiser == pytest.approx(tuple(Confidence("normface", 2, 2.0, "sphere").surest().tolist()))
    assert drawn.probability > drawn.probability_at_prototype
    assert answer.to_json()["form"] == "normface"
    assert (tmp_path / "a.png").exists()


def test_all_forms_are_a_list(tmp_path):
    answer = draw_confidence(tmp_path / "a.png", form="all")
    assert [drawn["form"] for drawn in answer.to_json()["maps"]] == ["squared", "distance", "ratio"]


def test_cells_never_overlap_and_balls_do(tmp_path):
    answer = draw_regions(tmp_path / "a.png", [0.5, 3.5])
    assert answer.voronoi == (1.0, 1.0)
    assert answer.standard[1] < answer.standard[0] < 1
    with pytest.raises(SettingError, match="above 0, got -1"):
        draw_regions(tmp_path / "b.png", [1, -1])
    assert not (tmp_path / "b.png").exists()
