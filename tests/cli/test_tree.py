"""samekind tree: the tree as text, as files, as pictures, and beside a known one."""

import json

import pytest

from samekind.space import MetricSpace
from samekind.taxonomy import read_tree


@pytest.fixture(scope="module")
def names(trained):
    return MetricSpace.load(trained / "space").classes


def test_a_tree_is_written_drawn_and_compared(samekind, trained, names, tmp_path):
    taxonomy = tmp_path / "known.csv"
    rows = [f"{name},all/{'even' if place % 2 else 'odd'}/{name}" for place, name in enumerate(names)]
    taxonomy.write_text("\n".join(["class,path", *rows]))
    files = [tmp_path / name for name in ("tree.nwk", "tree.svg", "round.png")]
    to = [argument for path in files for argument in ("--to", path)]
    content = json.loads(samekind("tree", trained, "--taxonomy", taxonomy, *to, "--json").out)
    assert content["files"] == list(map(str, files))
    assert 0 <= content["agreement"]["normalised_robinson_foulds"] <= 1
    assert sorted(read_tree(files[0]).leaves()) == sorted(names)
    assert b"<svg" in files[1].read_bytes()
    assert files[2].read_bytes().startswith(b"\x89PNG")


def test_people_get_a_sentence_and_the_tree(samekind, trained, names, tmp_path):
    answer = samekind("tree", trained, "--method", "average")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out.strip().endswith(";")
    known = tmp_path / "known.txt"
    groups = [names[:2], names[2:]]
    lines = [
        line
        for place, some in enumerate(groups)
        for line in (f"  {place} group", *(f"    {n}" for n in some))
    ]
    known.write_text("\n".join(["all", *lines]))
    content = " ".join(samekind("tree", trained, "--taxonomy", known).out.split())
    assert "of the 1 splits of the known one. Robinson-Foulds distance" in content
    known.write_text("all\n" + "\n".join(f"  {name}" for name in names))
    content = " ".join(samekind("tree", trained, "--taxonomy", known).out.split())
    assert "The known tree has no group of classes that a tree could miss" in content


def test_mistakes_are_one_line(samekind, trained, tmp_path):
    answer = samekind("tree", trained, "--method", "avarage")
    assert (answer.status, answer.err.partition(";")[0]) == (2, 'samekind: --method: there is no "avarage"')
    answer = samekind("tree", trained, "--to", tmp_path / "tree.doc")
    assert answer.status == 2
    assert "expected a file that ends in one of .nwk" in answer.err
    answer = samekind("tree", trained, "--by-confusions")
    assert (answer.status, "labelled items; give some (--data)" in answer.err) == (2, True)
