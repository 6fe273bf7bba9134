"""Lists of trials: read as they are written, and every mistake named by its line."""

import pytest
import torch

from samekind.data.trial_lists import read_trial_list
from samekind.errors import DataError

FILES = ("a/1.png", "a/2.png", "b/1.png", "c/1.png", "c/2 b.png")


@pytest.fixture
def write(tmp_path):
    """Write a list beside files; returns its path."""
    for name in FILES:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def written(text, name="trials.txt"):
        (tmp_path / name).write_text(text, encoding="utf-8")
        return tmp_path / name

    return written


def test_a_list_is_read_as_it_is_written(write, tmp_path):
    trials = read_trial_list(write("1 a/1.png a/2.png\n\n0 a/1.png b/1.png\n0 b/1.png a/2.png\n"))
    assert trials.same.tolist() == [True, False, False]
    pairs = [
        ([str(trials.files[i].relative_to(tmp_path)) for i in trials.sets[one]], trials.files[other].name)
        for one, other in zip(trials.first.tolist(), trials.second.tolist(), strict=True)
    ]
    assert pairs == [(["a/1.png"], "2.png"), (["a/1.png"], "1.png"), (["b/1.png"], "2.png")]
    assert len(trials.files) == len(set(trials.files)) == 3


@pytest.mark.parametrize(
    "text",
    [
        "1 a/1.png a/2.png\n0 a/1.png b/1.png",
        "target a/1.png a/2.png\r\nnontarget a/1.png b/1.png\r\n",
        "a/1.png a/2.png target\na/1.png b/1.png nontarget\n",
        "\ufeff1\ta/1.png\ta/2.png\n  0   a/1.png   b/1.png  \n",
    ],
)
def test_both_formats_mean_the_same(write, text):
    trials = read_trial_list(write(text))
    assert trials.same.tolist() == [True, False]
    assert [file.name for file in trials.files] == ["1.png", "2.png", "1.png"]


def test_a_name_with_blanks_is_read_between_tabs(write):
    trials = read_trial_list(write("1\tc/1.png\tc/2 b.png\n0 c/1.png a/1.png\n"))
    assert trials.files[1].name == "2 b.png"


def test_paths_can_start_elsewhere(write, tmp_path):
    path = write("1 1.png 2.png\n0 1.png ../b/1.png\n")
    assert len(read_trial_list(path, root=tmp_path / "a").files) == 3
    with pytest.raises(DataError, match=r"names files that are not in .*: 1\.png; 2\.png; \.\./b/1\.png$"):
        read_trial_list(path)


def test_classes_are_what_the_list_implies(write):
    """a is b and b is c: three of one class, though a and c are never compared."""
    lines = "1 a/1.png a/2.png\n1 a/2.png b/1.png\n0 a/1.png c/1.png\n"
    trials = read_trial_list(write(lines))
    places = {
        file.parent.name + file.name: number
        for file, number in zip(trials.files, trials.classes.tolist(), strict=True)
    }
    assert places["a1.png"] == places["a2.png"] == places["b1.png"] != places["c1.png"]


def test_enrolments_are_sets_of_files(write):
    enrolled = write("ann a/1.png a/2.png a/1.png\nbob b/1.png\nnobody c/1.png\n", "enrolled.txt")
    path = write("1 ann c/1.png\n0 bob c/1.png\n")
    trials = read_trial_list(path, enrolments=enrolled)
    assert trials.sets == ((0, 1), (2,))
    assert trials.second.tolist() == [3, 3]
    assert len(trials.files) == 4
    assert trials.classes[0] == trials.classes[1] == trials.classes[3] != trials.classes[2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no trials"),
        ("1 a/1.png\n0 a/1.png b/1.png\n", r'expected "1 first second".*: line 1: 1 a/1\.png$'),
        ("2 a/1.png a/2.png\n\n1 x y z\n", r"line 1: 2 a/1\.png a/2\.png; line 3: 1 x y z$"),
        ("1 a/1.png a/1.png\n0 a/1.png b/1.png\n", r"with itself: line 1: a/1\.png"),
        ("1 a/1.png ./a/1.png\n0 a/1.png b/1.png\n", r"with itself: line 1: a/1\.png"),
        ("1 a/1.png a//2.png\n0 ./a/1.png a/2.png\n", r"contradicts itself.*: line 2: a/1\.png a/2\.png$"),
        ("1 a/1.png a/2.png\n", "of different classes, got 1 same and 0 different"),
        ("0 a/1.png a/2.png\n", "of different classes, got 0 same and 1 different"),
        ("1 a/1.png a/2.png\n0 a/2.png a/1.png\n", r"contradicts itself.*: line 2: a/2\.png a/1\.png$"),
        (
            "1 a/1.png a/2.png\n1 a/2.png b/1.png\n\n0 a/1.png b/1.png\n",
            r"contradicts itself.*: line 4: a/1\.png b/1\.png$",
        ),
    ],
)
def test_names_the_line_of_a_mistake(write, text, message):
    with pytest.raises(DataError, match=message):
        read_trial_list(write(text))


def test_many_mistakes_are_counted(write):
    with pytest.raises(DataError, match=r"line 20: nonsense and 5 more$"):
        read_trial_list(write("nonsense\n" * 25))


@pytest.mark.parametrize(
    ("enrolled", "trials", "message"),
    [
        ("ann\n", "1 ann b/1.png\n", "line 1: ann has no file"),
        ("ann a/1.png\nann a/2.png\n", "1 ann b/1.png\n", "line 2: ann is repeated"),
        ("ann a/1.png\n", "1 ann a/2.png\n0 bob b/1.png\n", "does not have: line 2: bob"),
        ("./ann ./a/2.png\n", "1 ./ann a/2.png\n0 ./ann b/1.png\n", r"with itself: line 1: a/2\.png"),
        ("ann a/1.png a/2.png\n", "1 ann a/2.png\n0 ann b/1.png\n", r"with itself: line 1: a/2\.png"),
    ],
)
def test_names_the_line_of_a_mistake_in_enrolments(write, enrolled, trials, message):
    with pytest.raises(DataError, match=message):
        read_trial_list(write(trials), enrolments=write(enrolled, "enrolled.txt"))


def test_a_list_that_cannot_be_read(tmp_path):
    with pytest.raises(DataError, match="there is no list"):
        read_trial_list(tmp_path / "none.txt")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match="expected text in UTF-8"):
        read_trial_list(tmp_path / "binary")


def test_numbers_have_the_types_that_index_tensors(write):
    trials = read_trial_list(write("1 a/1.png a/2.png\n0 a/1.png b/1.png\n"))
    assert trials.same.dtype == torch.bool
    assert {trials.first.dtype, trials.second.dtype, trials.classes.dtype} == {torch.int64}
