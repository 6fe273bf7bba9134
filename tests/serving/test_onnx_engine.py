"""The server of an export runs where PyTorch cannot be imported, and answers as that of the space does."""

import io
import os
import signal
import sys
from pathlib import Path

import numpy as np
import pytest

from samekind.index import open_index
from samekind.questions.export import export, kept_with
from samekind.questions.opening import open_space
from samekind.serving.engine import Upload
from samekind.serving.onnx_engine import onnx_state_folder, open_onnx_engine
from samekind.serving.opening import open_engine
from samekind.serving.refusal import Refusal

pytest.importorskip("onnxruntime")
pytest.importorskip("onnxscript")

# Put in front of all paths, so that every process of the test finds PyTorch and its friends missing.
WITHOUT = """
import sys

MISSING = {"torch", "sklearn", "scipy", "safetensors", "matplotlib", "lightning_fabric", "onnx", "onnxscript"}


class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in MISSING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Missing())
"""


@pytest.fixture(scope="module")
def folder(saved_space, saved_gallery, tmp_path_factory):
    """The space of drawn digits, exported with its gallery and trade-offs. Not to be changed."""
    opened, index = open_space(saved_space, "cpu"), open_index(saved_gallery)
    tradeoffs, measures = kept_with(opened, index)
    out = tmp_path_factory.mktemp("exports") / "drawn"
    export(opened.space, out, name="drawn", gallery=index, tradeoffs=tradeoffs, measures=measures)
    index.close()
    return out


@pytest.fixture
def engine(folder, tmp_path):
    opened = open_onnx_engine(folder, state=tmp_path / "onnx state")
    yield opened
    opened.close()


@pytest.fixture
def torch_engine(saved_space, saved_gallery, tmp_path):
    opened = open_engine(saved_space, state=tmp_path / "torch state", index=saved_gallery, device="cpu")
    yield opened
    opened.close()


@pytest.fixture
def without_torch(tmp_path, monkeypatch):
    """Processes that are started now cannot import PyTorch."""
    folder = tmp_path / "without"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(WITHOUT)
    source = Path(sys.modules["samekind"].__file__).parents[1]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(map(str, (folder, source))))


def alike(one, other, where=""):
    """Whether two answers are the same, numbers up to 1e-4."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), where
        for key in one:
            alike(one[key], other[key], f"{where}.{key}")
    elif isinstance(one, list | tuple):
        assert len(one) == len(other), where
        for place, pair in enumerate(zip(one, other, strict=True)):
            alike(*pair, f"{where}[{place}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=1e-4), where
    else:
        assert one == other, where


def without_thumbnails(answer):
    """An export keeps embeddings, and no pictures."""
    for query in answer["queries"]:
        for row in query["found"]:
            row.pop("thumbnail")
    return answer


def files(png, *digits):
    return [("files", (f"{digit}.png", png(digit))) for digit in digits]


def ask_everything(client, png):
    """The answers of a server to the same questions, before and after an enrolment."""
    pair = [("first", ("a.png", png(1))), ("second", ("b.png", png(1, 1)))]
    answers = {}
    for moment in ("before", "after"):
        answers[moment] = {
            "embed": client.post("/embed", files=files(png, 0, 5)).json(),
            "compare": client.post("/compare", files=pair, data={"prior": "0.2"}).json(),
            "classify": client.post("/classify", files=files(png, 0, 1, 2, 3, 7, 8)).json(),
            "search": without_thumbnails(
                client.post("/search", files=files(png, 4, 9), data={"k": "7"}).json()
            ),
            "classes": client.get("/classes").json(),
            "tradeoff": client.get("/tradeoff").json(),
        }
        if moment == "before":
            answers["enroll"] = client.post("/enroll", files=files(png, 7, 7), data={"name": "seven"}).json()
            answers["rename"] = client.patch("/classes", json={"name": "0", "to": "zero"}).json()
            answers["remove"] = client.request("DELETE", "/classes", json={"name": "3"}).json()
    return answers


def test_answers_as_the_server_of_the_space_without_pytorch(
    program, serve, folder, space_folder, gallery_folder, png, without_torch, tmp_path
):
    expected = ask_everything(serve(space_folder, index=gallery_folder), png)
    started = program(folder, "--onnx", "--state", tmp_path / "onnx")
    alike(expected, ask_everything(started.client, png))
    assert expected["after"]["classify"]["items"][4]["best"][0]["class"] == "seven"


def test_pytorch_is_really_missing_there(without_torch):
    import subprocess

    done = subprocess.run(
        [sys.executable, "-m", "samekind", "info", "anything"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert done.stderr.startswith("samekind: this command needs PyTorch, which is not installed here")


def test_enrolments_survive_the_death_of_the_server(program, folder, png, without_torch, tmp_path):
    first = program(folder, "--onnx", "--state", tmp_path / "state")
    for name in ("seven", "eight"):
        answer = first.client.post("/enroll", files=files(png, 7), data={"name": name})
        assert answer.status_code == 200
    first.end(signal.SIGKILL)
    again = program(folder, "--onnx", "--state", tmp_path / "state")
    names = [row["name"] for row in again.client.get("/classes").json()["classes"]]
    assert names == ["0", "1", "2", "3", "seven", "eight"]
    refused = again.client.post("/enroll", files=files(png, 7), data={"name": "seven"})
    assert refused.status_code == 409


def test_info_says_the_same(engine, torch_engine):
    mine, other = engine.info(), torch_engine.info()
    assert mine.keys() == other.keys()
    for name in mine.keys() - {"attention"}:
        alike(mine[name], other[name], name)
    assert mine["attention"] is False
    assert mine["gallery"] == 60


@pytest.mark.parametrize(
    "ask",
    [
        lambda engine: engine.tree(),
        lambda engine: engine.map(),
        lambda engine: engine.attention(None),
        lambda engine: engine.decide(kind=None, threshold=0.5),
        lambda engine: engine.classify(["a"], np.zeros((1, 16), np.float32), kind=None, level=0.9),
        lambda engine: engine.enroll("x", ["a"], np.zeros((1, 16), np.float32), replace=False, under="y"),
    ],
)
def test_what_needs_pytorch_is_refused(engine, ask):
    with pytest.raises(Refusal) as refusal:
        ask(engine)
    assert refusal.value.status == 501
    assert "serve the space itself" in refusal.value.sentence


def test_what_is_not_kept_is_refused(engine):
    assert engine.thumbnail("0/0") is None
    for ask, status in (
        (lambda: engine.measures(), 404),
        (lambda: engine.remove("nobody"), 404),
        (lambda: engine.rename("0", "1"), 409),
        (lambda: engine.read_vectors([[1.0, 2.0]]), 415),
    ):
        with pytest.raises(Refusal) as refusal:
            ask()
        assert refusal.value.status == status


def test_vectors_are_read_as_numbers_and_as_arrays(exported, known_space, tmp_path):
    engine = open_onnx_engine(exported, state=tmp_path)
    numbers = [[0.5, -1.0, 2.0, 0.25]]
    stream = io.BytesIO()
    np.save(stream, np.array(numbers[0]))
    as_numbers = engine.embed(engine.read_vectors(numbers).items)
    as_file = engine.embed(engine.read([Upload("a.npy", stream.getvalue())]).items)
    np.testing.assert_array_equal(as_numbers, as_file)
    assert engine.search(["a"], as_file, k=3, kind=None)["kind"] == "normalised"
    with pytest.raises(Refusal, match="no trade-off"):
        engine.tradeoff(kind="fitted")


def test_the_state_is_beside_the_export():
    assert onnx_state_folder(Path("/exports/birds")) == Path("/exports/birds-serving")
