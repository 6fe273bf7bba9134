"""A folder that is written whole or not at all."""

import copy

import pytest
import torch

from samekind.auxiliary_head import AuxiliaryHead
from samekind.errors import SpaceError
from samekind.exporting import export_contents, write_export
from samekind.exporting.writing import expect_replaceable
from samekind.portable import PortableSpace
from samekind.portable.description import read_description
from samekind.prototypes import LearnedProxies
from samekind.similarities import Cosine
from samekind.taxonomy import tree_of_parents


@pytest.fixture(scope="module")
def contents(known_space):
    space = copy.deepcopy(known_space)
    space.fitted = space.normalised = space.choices = None
    return export_contents(space, name="small")


def test_the_same_space_gives_the_same_description(contents, tmp_path):
    write_export(contents, tmp_path / "out", lambda _: None)
    description, _ = read_description(tmp_path / "out")
    assert set(description.files) | {"export.json"} == {path.name for path in (tmp_path / "out").iterdir()}
    assert description.name == "small"


def test_what_the_check_says_is_returned_and_its_error_leaves_nothing(contents, tmp_path):
    assert write_export(contents, tmp_path / "out", lambda portable: len(portable.kinds)) == 3
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}

    def refuse(_):
        raise SpaceError("it differs")

    for folder in ("out", "new"):
        with pytest.raises(SpaceError, match="it differs"):
            write_export(contents, tmp_path / folder, refuse)
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_what_would_be_lost_is_named(contents, tmp_path):
    expect_replaceable(tmp_path / "missing")
    write_export(contents, tmp_path / "out", lambda _: None)
    expect_replaceable(tmp_path / "out")
    portable = PortableSpace.open(tmp_path / "out")
    portable.enrolments.enroll("new", torch.ones(1, 5).numpy(), replace=False)
    portable.close()
    with pytest.raises(SpaceError, match="classes were enrolled"):
        expect_replaceable(tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").touch()
    with pytest.raises(SpaceError, match="is no export"):
        expect_replaceable(tmp_path / "other")
    with pytest.raises(SpaceError, match="is a file"):
        expect_replaceable(tmp_path / "other" / "thesis.tex")
    write_export(contents, tmp_path / "mixed", lambda _: None)
    (tmp_path / "mixed" / "thesis.tex").touch()
    with pytest.raises(SpaceError, match=r"holds thesis\.tex"):
        expect_replaceable(tmp_path / "mixed")


def test_parts_without_an_export_are_reported_and_no_reader_is_refused(known_space):
    space = copy.deepcopy(known_space)
    space.fitted = space.normalised = space.choices = None
    space.similarity = Cosine()
    assert export_contents(space, name="x").without == ()
    space.tree = grown_from(space.classes)
    space.auxiliary = AuxiliaryHead(Cosine(), LearnedProxies(classes=space.classes, dimension=5))
    assert [sentence.split(" is not")[0] for sentence in export_contents(space, name="x").without] == [
        "the auxiliary head",
        "the tree of the classes",
    ]
    space.reader = None
    with pytest.raises(SpaceError, match="does not say how to read a file"):
        export_contents(space, name="x")


def test_a_cosine_that_is_asked_for_by_name_comes_along(known_space, tmp_path):
    space = copy.deepcopy(known_space)
    space.fitted = space.normalised = space.choices = None
    space.similarity = Cosine()
    assert space.kinds == ["similarity"]
    assert space.open_set.kind == "cosine"
    kinds = write_export(export_contents(space, name="x"), tmp_path / "out", lambda portable: portable.kinds)
    assert kinds == ["similarity", "cosine"]


def grown_from(classes):
    return tree_of_parents(dict.fromkeys(classes, "root"))
