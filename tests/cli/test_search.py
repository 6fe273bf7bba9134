"""samekind search: the best of a gallery, as scoring every pair alone finds them."""

import json
import shutil

import pytest
import torch

from samekind.index import Exact
from samekind.inference import embed_files
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def space(trained):
    return MetricSpace.load(trained / "space")


@pytest.fixture
def search(samekind, trained):
    def ask(*arguments):
        answer = samekind("search", *arguments, "--space", trained, "--json")
        assert (answer.status, answer.err) == (0, "")
        return json.loads(answer.out)

    return ask


def by_hand(space, query, gallery, kind):
    """Every pair alone, the query first; Python's sort keeps the order of equals."""
    z = embed_files(space, gallery)
    one = embed_files(space, [query])
    with torch.no_grad():
        scores = [float(space.score(one, each[None], kind=kind)) for each in z]
    return sorted(zip(map(str, gallery), scores, strict=True), key=lambda pair: -pair[1])


@pytest.mark.parametrize("kind", ["similarity", "cosine", "fused"])
def test_finds_the_best_and_not_the_query_itself(search, space, folders, kind):
    query, gallery = folders / "1" / "03.png", sorted(folders.rglob("*.png"))
    told = search(query, "--gallery", folders, "-k", "4", "--kind", kind)
    assert (told["kind"], told["gallery"], told["skipped"]) == (kind, 36, [])
    [answer] = told["queries"]
    expected = [pair for pair in by_hand(space, query, gallery, kind) if pair[0] != str(query)][:4]
    assert [row["id"] for row in answer["found"]] == [id for id, _ in expected]
    assert [row["score"] for row in answer["found"]] == pytest.approx(
        [each for _, each in expected], abs=1e-4
    )
    assert [row["label"] for row in answer["found"]] == [id.split("/")[-2] for id, _ in expected]
    decision = space.decisions[kind]
    for row in answer["found"]:
        probability = float(decision.probability(torch.tensor(row["score"])))
        assert row["probability"] == pytest.approx(probability, abs=1e-5)


def test_the_same_file_by_another_path_is_still_the_query(search, folders, tmp_path, monkeypatch):
    monkeypatch.chdir(folders / "0")
    told = search("00.png", "--gallery", folders, "-k", "50")
    assert len(told["queries"][0]["found"]) == 35
    copy = shutil.copy(folders / "0" / "00.png", tmp_path / "copy.png")
    told = search(copy, "--gallery", folders, "-k", "50")
    assert len(told["queries"][0]["found"]) == 36  # a copy is another file


def test_several_queries_and_a_gallery_named_twice(search, folders):
    told = search(folders / "0", folders / "7" / "01.png", "--gallery", folders, "--gallery", folders / "7")
    assert told["gallery"] == 36
    assert [each["id"] for each in told["queries"]] == [
        *(str(path) for path in sorted((folders / "0").iterdir())),
        str(folders / "7" / "01.png"),
    ]
    assert all(len(each["found"]) == 5 for each in told["queries"])


def test_a_saved_index_gives_the_same_answer(search, folders, tmp_path):
    query = folders / "7" / "00.png"
    before = search(query, "--gallery", folders, "--save-index", tmp_path / "index")
    assert search(query, "--gallery", tmp_path / "index") == before
    index = Exact.open(tmp_path / "index")
    assert (len(index), index.metadata(str(query))) == (36, {"label": "7"})


def test_an_index_may_be_given_by_its_own_name(search, folders, tmp_path):
    query = folders / "7" / "00.png"
    before = search(query, "--gallery", folders, "--save-index", tmp_path / "index")
    assert search(query, "--index", tmp_path / "index") == before
    assert before["shortlist"] is None  # nobody measured one: everything was compared


def test_an_index_outlives_an_enrolment_but_not_another_space(samekind, search, folders, trained, tmp_path):
    query = folders / "7" / "00.png"
    search(query, "--gallery", folders, "--save-index", tmp_path / "index")
    other = MetricSpace.load(trained / "space")
    other.enroll("seven", embed_files(other, [query]))
    other.save(tmp_path / "enrolled")
    command = ("search", query, "--gallery", tmp_path / "index", "--space")
    assert samekind(*command, tmp_path / "enrolled").status == 0
    with torch.no_grad():
        next(other.encoder.parameters()).add_(1)
    other.save(tmp_path / "changed")
    answer = samekind(*command, tmp_path / "changed")
    assert (answer.status, answer.out) == (2, "")
    assert "was made with another space" in answer.err


def test_the_tables_tell_the_same(samekind, search, folders, trained):
    query = folders / "1" / "00.png"
    [told] = search(query, "--gallery", folders, "-k", "2")["queries"]
    page = samekind("search", query, "--gallery", folders, "-k", "2", "--space", trained).out
    assert f"Most like {query}" in page.replace("\n", "")
    for row in told["found"]:
        assert f"{row['score']:.4f}" in page
        assert f"{row['probability']:.3f}" in page


def test_a_space_without_thresholds_gives_no_probabilities(samekind, space, folders, tmp_path):
    MetricSpace(space.encoder, space.similarity, space.prototypes, reader=space.reader).save(
        tmp_path / "bare"
    )
    command = ("search", folders / "1" / "00.png", "--gallery", folders, "--space", tmp_path / "bare")
    rows = json.loads(samekind(*command, "--json").out)["queries"][0]["found"]
    assert all(row.keys() == {"id", "label", "score"} for row in rows)
    assert "probability" not in samekind(*command).out


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--kind", "cosin"], 'this space has no score "cosin"; did you mean "cosine"? Known: cosine, '),
        (["-k", "0"], "invalid value for '-k' / '--nearest': "),
    ],
)
def test_mistakes_are_told(samekind, folders, trained, more, says):
    answer = samekind("search", folders / "0" / "00.png", "--gallery", folders, "--space", trained, *more)
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"samekind: {says}")


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ([], "say where to look: --index FOLDER, or --gallery with files, folders or tables; one of the two"),
        (["--gallery", "DATA", "--index", "INDEX"], "say where to look: --index FOLDER, or --gallery …"),
        (["--gallery", "DATA", "--gallery", "INDEX"], "INDEX is an index, which is searched alone; …"),
        (["--index", "DATA"], "DATA is not an index: it has no index.json"),
        (["--index", "nowhere"], "there is no index at nowhere; expected a folder with index.json"),
    ],
)
def test_where_to_look_is_one_place(samekind, folders, trained, tmp_path, where, says):
    query, index = folders / "0" / "00.png", tmp_path / "index"
    command = ("search", query, "--space", trained)
    samekind(*command, "--gallery", folders / "0", "--save-index", index)
    names = {"DATA": str(folders), "INDEX": str(index)}
    answer = samekind(*command, *(names.get(each, each) for each in where))
    said = says.replace("INDEX is", f"{index} is").replace("DATA", str(folders))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"samekind: {said.partition('…')[0]}")


def test_a_folder_that_holds_something_else_is_not_overwritten(samekind, folders, trained, tmp_path):
    (tmp_path / "mine.txt").write_text("do not touch")
    command = ("search", folders / "0" / "00.png", "--gallery", folders, "--space", trained)
    answer = samekind(*command, "--save-index", tmp_path)
    assert answer.err == (
        f"samekind: {tmp_path} holds something else than an index; choose another folder to save to\n"
    )
