"""A space that is changed in its folder: nobody undoes what another did."""

import pytest

from samekind.errors import SpaceError
from samekind.questions.changing import changing
from samekind.space import MetricSpace


@pytest.fixture
def folder(plane, tmp_path):
    plane.save(tmp_path / "space")
    return tmp_path / "space"


def test_a_space_is_loaded_changed_and_saved(folder):
    with changing(folder) as save:
        space = MetricSpace.load(folder)
        space.remove("up")
        save(space)
        assert [path.name for path in folder.parent.iterdir() if path != folder] == [".space.lock"]
    assert "up" not in MetricSpace.load(folder).classes
    assert list(folder.parent.iterdir()) == [folder]


def test_refuses_a_second_change_until_the_first_is_done(folder):
    with changing(folder), pytest.raises(SpaceError, match="is being changed by this very process"):  # noqa: SIM117
        with changing(folder):
            pytest.fail("there were two")
    with changing(folder):
        pass


def test_refuses_to_undo_a_change_made_without_the_lock(folder):
    """Such as a training that ends in the folder of the run, or a program."""
    says = "was changed by another writer since it was loaded here, and stays as it is now; give the command"
    with changing(folder) as save:
        mine, other = MetricSpace.load(folder), MetricSpace.load(folder)
        other.remove("left")
        other.save(folder)
        mine.remove("up")
        with pytest.raises(SpaceError, match=says):
            save(mine)
    assert MetricSpace.load(folder).classes == ["right", "up"]
    assert list(folder.parent.iterdir()) == [folder]


def test_changes_a_space_that_a_killed_save_moved_aside(folder):
    """Before, that it was put back looked like a change by another process."""
    folder.rename(folder.with_name(".space.old"))
    with changing(folder) as save:
        space = MetricSpace.load(folder)
        space.remove("up")
        save(space)
    assert "up" not in MetricSpace.load(folder).classes


def test_refuses_before_the_work_what_cannot_be_replaced(folder):
    (folder / "README.txt").write_text("keep")
    with pytest.raises(SpaceError, match=r"holds README\.txt beside the space, which saving would lose"):  # noqa: SIM117
        with changing(folder):
            pytest.fail("it was begun")
    assert list(folder.parent.iterdir()) == [folder]


def test_saves_to_a_new_folder(folder, tmp_path):
    for place in (tmp_path / "new", tmp_path / "deep" / "new"):
        with changing(place) as save:
            save(MetricSpace.load(folder))
        assert len(MetricSpace.load(place).classes) == 3
