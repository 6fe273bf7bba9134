"""Every format gives back the tree it was given, and says what is wrong with a file."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from samekind.errors import DataError, SettingError
from samekind.taxonomy import Tree, read_tree, write_tree
from samekind.taxonomy.building import tree_of_places
from samekind.taxonomy.files import FORMATS

KEEPING_LENGTHS = {"newick", "parents", "json"}
LETTERS = "ab'\"\\/ (),;:[]_é日{}-.0"


@st.composite
def trees(draw, lengths=True):
    """Any tree of up to 10 nodes with difficult names, level by level."""
    count = draw(st.integers(1, 10))
    name = st.text(LETTERS, min_size=1, max_size=5).map(str.strip).filter(bool)
    names = draw(st.lists(name, min_size=count, max_size=count, unique=True))
    parents = [-1] + [draw(st.integers(0, place - 1)) for place in range(1, count)]
    number = st.floats(0, 1e6) if lengths else st.just(1.0)
    return tree_of_places(names, parents, draw(st.lists(number, min_size=count, max_size=count)))


@pytest.mark.parametrize("form", FORMATS)
@given(data=st.data())
def test_a_tree_comes_back_as_it_was_written(form, data):
    tree = data.draw(trees(lengths=form in KEEPING_LENGTHS))
    assert FORMATS[form].parse(FORMATS[form].text(tree)) == tree


@pytest.mark.parametrize("ending", [".nwk", ".csv", ".tsv", ".json", ".txt", ".tree"])
def test_a_file_is_written_and_read_by_its_ending(tmp_path, ending):
    tree = Tree(("animals", "mammals", "fish", "dog", "white shark"), (-1, 0, 0, 1, 2))
    write_tree(tree, tmp_path / f"tree{ending}")
    assert read_tree(str(tmp_path / f"tree{ending}")) == tree


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ["tree.txt", "tree", "tree.data"])
def test_another_ending_is_recognised_by_its_content(tmp_path, form, name):
    tree = Tree(("animals", "dog", "cat"), (-1, 0, 0))
    write_tree(tree, tmp_path / name, form=form)
    assert read_tree(tmp_path / name) == tree


def test_a_chain_of_100_000_nodes_is_read_and_written(tmp_path):
    names = tuple(map(str, range(100_000)))
    chain = Tree(names, tuple(range(-1, 99_999)))
    write_tree(chain, tmp_path / "chain.nwk")
    assert read_tree(tmp_path / "chain.nwk") == chain


@pytest.mark.parametrize("ending", [".json", ".txt"])
def test_a_chain_is_refused_where_it_does_not_fit(tmp_path, ending):
    chain = Tree(tuple(map(str, range(5000))), tuple(range(-1, 4999)))
    with pytest.raises(DataError, match="at most 300 levels for this format; this has 4999: write Newick"):
        write_tree(chain, tmp_path / f"chain{ending}")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("tree.csv", "child,parent\nbat,mammals\nbat,birds\nmammals,animals\nbirds,animals\n"),
        ("paths.csv", "class,path\nbat,animals/mammals/bat\nbat,animals/birds/bat\n"),
        ("tree.json", '{"animals": {"mammals": ["bat"], "birds": ["bat"]}}'),
        ("tree.txt", "animals\n  mammals\n    bat\n  birds\n    bat\n"),
        ("tree.nwk", "((bat,dog)mammals,(bat,owl)birds)animals;"),
    ],
)
def test_a_node_with_two_parents_is_refused_and_named(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    with pytest.raises(DataError, match=rf'{name}: expected .*"bat"'):
        read_tree(tmp_path / name)


def test_a_file_that_is_no_tree_is_named(tmp_path):
    path = tmp_path / "tree.csv"
    with pytest.raises(DataError, match=r"cannot read the tree .*tree.csv: No such file"):
        read_tree(path)
    path.write_bytes(b"")
    with pytest.raises(
        DataError, match=r"tree.csv: expected a tree; the file is empty: give Newick, a table"
    ):
        read_tree(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(DataError, match=r"tree.csv: expected a tree as text"):
        read_tree(path)
    path.write_text("class,path\na,x/a\na,y/a\n")
    with pytest.raises(
        DataError, match=r'tree.csv: expected one place for each class; "a" has the paths "x/a"'
    ):
        read_tree(path)
    with pytest.raises(DataError, match="cannot read the tree"):
        read_tree(tmp_path)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    with (tmp_path / "large.nwk").open("wb") as file:
        file.truncate(2**28 + 1)
    with pytest.raises(DataError, match=r"at most 268,435,456 bytes"):
        read_tree(tmp_path / "large.nwk")


def test_an_unknown_ending_or_form_is_refused(tmp_path):
    tree = Tree(("a",), (-1,))
    with pytest.raises(SettingError, match=r"ends in one of \.nwk, .*; got \"tree.pdf\""):
        write_tree(tree, tmp_path / "tree.pdf")
    with pytest.raises(SettingError, match='unknown form of a tree "newik"; did you mean "newick"'):
        write_tree(tree, tmp_path / "tree.pdf", form="newik")


@pytest.mark.parametrize("form", FORMATS)
def test_damage_ends_in_a_sentence(form):
    tree = Tree(("animals", "mammals", "fish", "a 'dog'", "x/y"), (-1, 0, 0, 1, 2), (1, 2, 3, 4.5, 6))
    text = FORMATS[form].text(tree)
    draw = random.Random(0)
    for _ in range(300):
        place, end = sorted((draw.randrange(len(text)), draw.randrange(len(text))))
        sign = draw.choice(["", "(", ")", ",", ":", "'", ";", "\n", "{", '"', "1e999", "\0", "[" * 3])
        damaged = text[:place] + sign + text[draw.choice([place, place + 1, end]) :]
        try:
            FORMATS[form].parse(damaged)
        except DataError as error:
            assert len(str(error)) > 10  # noqa: PT017 - a sentence, whatever it says
