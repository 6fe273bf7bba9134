"""samekind search: the best of a gallery, as scoring every pair alone finds them."""

import json
import shutil

import pytest
import torch

from samekind.index import Exact, open_index, space_fingerprint
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
        scores = [float(space.score(one, vector[None], kind=kind)) for vector in z]
    return sorted(zip(map(str, gallery), scores, strict=True), key=lambda pair: -pair[1])


@pytest.mark.parametrize("kind", ["similarity", "cosine"])
def test_finds_the_best_and_not_the_query_itself(search, space, folders, kind):
    query, gallery = folders / "1" / "03.png", sorted(folders.rglob("*.png"))
    content = search(query, "--gallery", folders, "-k", "4", "--kind", kind)
    assert (content["kind"], content["gallery"], content["skipped"]) == (kind, 36, [])
    [answer] = content["queries"]
    expected = [pair for pair in by_hand(space, query, gallery, kind) if pair[0] != str(query)][:4]
    assert [row["id"] for row in answer["found"]] == [id for id, _ in expected]
    assert [row["score"] for row in answer["found"]] == pytest.approx(
        [score for _, score in expected], abs=1e-4
    )
    assert [row["label"] for row in answer["found"]] == [id.split("/")[-2] for id, _ in expected]
    decision = space.decisions[kind]
    for row in answer["found"]:
        probability = float(decision.probability(torch.tensor(row["score"])))
        assert row["probability"] == pytest.approx(probability, abs=1e-5)


def test_a_query_does_not_find_its_file_by_another_path(search, folders, tmp_path, monkeypatch):
    monkeypatch.chdir(folders / "0")
    content = search("00.png", "--gallery", folders, "-k", "50")
    assert len(content["queries"][0]["found"]) == 35
    copy = shutil.copy(folders / "0" / "00.png", tmp_path / "copy.png")
    content = search(copy, "--gallery", folders, "-k", "50")
    assert len(content["queries"][0]["found"]) == 36  # a copy is another file


@pytest.fixture
def two_folders(folders, tmp_path):
    """Two folders, with another picture 0/00.png each; all of the first, and that one of the second."""
    shutil.copytree(folders, tmp_path / "first")
    (tmp_path / "second" / "0").mkdir(parents=True)
    shutil.copy(folders / "0" / "01.png", tmp_path / "second" / "0" / "00.png")
    return tmp_path / "first", tmp_path / "second"


def test_a_query_does_not_find_its_file_from_another_folder(
    samekind, search, trained, two_folders, tmp_path, monkeypatch
):
    """Ids are paths as they were typed, and those of an index mean what they meant where it was built."""
    first, second = two_folders
    monkeypatch.chdir(first)
    samekind("index", "build", trained, "0", "1", "--out", tmp_path / "index")
    where = ("--index", tmp_path / "index", "-k", "50")

    def neighbours(query):
        return [row["id"] for row in search(query, *where)["queries"][0]["found"]]

    expected = sorted(f"{digit}/{place:02d}.png" for digit in (0, 1) for place in range(12))
    assert sorted(neighbours("0/00.png")) == expected[1:]
    monkeypatch.chdir(second)
    assert sorted(neighbours("0/00.png")) == expected  # another picture, which is called the same
    assert (
        sorted(neighbours(first / "0" / "00.png")) == sorted(neighbours("../first/0/00.png")) == expected[1:]
    )
    samekind("index", "add", tmp_path / "index", "./0", "--space", trained, "--replace")
    assert sorted(neighbours("0/00.png")) == expected[1:]  # that name is of the second folder's now


def test_an_index_without_paths_is_searched_by_its_ids(search, space, two_folders, tmp_path, monkeypatch):
    """As one that was made before they were kept."""
    first, _ = two_folders
    monkeypatch.chdir(first)
    ids = [f"0/{place:02d}.png" for place in range(12)]
    index = Exact(space.prototypes.dimension, fingerprint=space_fingerprint(space))
    index.add(ids, embed_files(space, ids), [{"label": "0"}] * 12)
    index.save(tmp_path / "old")
    [content] = search(first / "0" / "03.png", "--index", tmp_path / "old", "-k", "50")["queries"]
    assert sorted(row["id"] for row in content["found"]) == [id for id in ids if id != "0/03.png"]


@pytest.mark.parametrize("more", [["--kind", "cosine"], ["--kind", "cosine", "--exhaustive"]])
def test_finds_k_items_even_if_several_ids_are_the_query(search, two_folders, monkeypatch, more):
    first, _ = two_folders
    monkeypatch.chdir(first)
    (first / "link").symlink_to(first / "0")
    galleries = [word for name in ("0", first / "0", "link", "1") for word in ("--gallery", name)]
    content = search("0/00.png", "7/00.png", *galleries, "-k", "3", *more)
    assert content["gallery"] == 48
    assert [len(query["found"]) for query in content["queries"]] == [3, 3]
    assert not any("/00.png" in row["id"] for row in content["queries"][0]["found"])
    whole = search("0/00.png", *galleries, "-k", "100", *more)["queries"][0]["found"]
    assert len(whole) == 45
    scores = [[row["score"] for row in rows] for rows in (content["queries"][0]["found"], whole)]
    assert scores[0] == pytest.approx(scores[1][:3], abs=1e-5)


def test_named_data_do_not_find_themselves_from_another_folder(
    samekind, search, trained, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    samekind("index", "build", trained, "digits", "--out", tmp_path / "index", "--recall", "1")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    content = search("digits", "--index", tmp_path / "index", "-k", "1", "--kind", "cosine")
    assert all(query["found"][0]["id"] != query["id"] for query in content["queries"])


def test_several_queries_and_a_gallery_named_twice(search, folders):
    content = search(
        folders / "0", folders / "7" / "01.png", "--gallery", folders, "--gallery", folders / "7"
    )
    assert content["gallery"] == 36
    assert [query["id"] for query in content["queries"]] == [
        *(str(path) for path in sorted((folders / "0").iterdir())),
        str(folders / "7" / "01.png"),
    ]
    assert all(len(query["found"]) == 5 for query in content["queries"])


def test_a_saved_index_gives_the_same_answer(search, samekind, trained, folders, tmp_path):
    query = folders / "7" / "00.png"
    before = search(query, "--gallery", folders, "--save-index", tmp_path / "index")
    for option in ("--index", "--gallery"):
        assert search(query, option, tmp_path / "index") == before
    command = ("search", query, "--space", trained)
    how = "\nEverything was compared: no shortlist was measured for similarity with this space, "
    assert how in samekind(*command, "--index", tmp_path / "index").out
    assert "compared" not in samekind(*command, "--index", tmp_path / "index", "--exhaustive").out
    assert "compared" not in samekind(*command, "--gallery", folders).out
    assert before["shortlist"] is None  # nobody measured one: everything was compared


def test_reports_an_empty_index(samekind, search, trained, folders, tmp_path):
    samekind("index", "build", trained, folders, "--out", tmp_path / "index")
    index = open_index(tmp_path / "index")
    index.remove(list(index))
    index.close()
    where = ("search", folders / "7" / "00.png", "--index", tmp_path / "index", "--space", trained)
    says = "The index is empty: there is nothing to find; samekind index add puts something in.\n"
    for more in ([], ["--exhaustive"], ["--kind", "cosine"]):
        assert samekind(*where, *more) == (0, says, "")
    content = search(folders / "7" / "00.png", "--index", tmp_path / "index")
    assert (content["gallery"], content["shortlist"], content["queries"][0]["found"]) == (0, None, [])


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


def test_tables_have_the_same_values(samekind, search, folders, trained):
    query = folders / "1" / "00.png"
    [content] = search(query, "--gallery", folders, "-k", "2")["queries"]
    page = samekind("search", query, "--gallery", folders, "-k", "2", "--space", trained).out
    assert f"Most like {query}" in page.replace("\n", "")
    for row in content["found"]:
        assert f"{row['score']:.4f}" in page
        assert f"{row['probability']:.3f}" in page


@pytest.mark.parametrize(
    ("more", "says"),
    [
        (["--kind", "cosin"], 'this space has no score "cosin"; did you mean "cosine"? Known: cosine, '),
        (["-k", "0"], "invalid value for '-k' / '--nearest': "),
    ],
)
def test_a_mistake_gets_one_line(samekind, folders, trained, more, says):
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
def test_refuses_no_gallery_and_two(samekind, folders, trained, tmp_path, where, says):
    query, index = folders / "0" / "00.png", tmp_path / "index"
    command = ("search", query, "--space", trained)
    samekind(*command, "--gallery", folders / "0", "--save-index", index)
    names = {"DATA": str(folders), "INDEX": str(index)}
    answer = samekind(*command, *(names.get(word, word) for word in where))
    said = says.replace("INDEX is", f"{index} is").replace("DATA", str(folders))
    assert (answer.status, answer.out) == (2, "")
    assert answer.err.startswith(f"samekind: {said.partition('…')[0]}")


def test_refuses_to_overwrite_another_folder(samekind, folders, trained, tmp_path):
    (tmp_path / "mine.txt").write_text("do not touch")
    command = ("search", folders / "0" / "00.png", "--gallery", folders, "--space", trained)
    answer = samekind(*command, "--save-index", tmp_path)
    assert answer.err == (
        f"samekind: {tmp_path} holds something other than an index; choose another folder to save to\n"
    )
