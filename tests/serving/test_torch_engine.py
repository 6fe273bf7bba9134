"""The engine of a space: files as its training data were read, answers that any number of others share."""

import threading

import numpy as np
import pytest
import torch

from samekind.data import VectorReader
from samekind.encoders import MLP
from samekind.errors import SpaceError
from samekind.prototypes import SupportMeans
from samekind.questions.opening import OpenSpace
from samekind.serving.engine import Upload
from samekind.serving.opening import open_engine
from samekind.serving.torch_engine import TorchEngine
from samekind.similarities import Cosine
from samekind.space import MetricSpace


@pytest.fixture
def engine(saved_space, saved_gallery, tmp_path):
    made = open_engine(saved_space, state=tmp_path / "state", index=saved_gallery, device="cpu")
    yield made
    made.close()


def test_items_of_several_requests_have_the_vectors_they_have_alone(engine, png):
    requests = [
        engine.read([Upload("a.png", png(digit)), Upload("b.png", png(digit, 1))]) for digit in range(4)
    ]
    together = engine.embed([item for request in requests for item in request.items])
    alone = np.concatenate([engine.embed(request.items) for request in requests])
    np.testing.assert_allclose(together, alone, rtol=1e-4, atol=1e-6)
    assert together.dtype == np.float32


def test_files_are_read_side_by_side(engine, png):
    answers = []
    threads = [
        threading.Thread(target=lambda: answers.append(engine.read([Upload("a.png", png(3))])))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == 8
    assert all(torch.equal(answer.items[0], answers[0].items[0]) for answer in answers)


def test_a_space_that_cannot_read_is_not_served():
    space = MetricSpace(MLP(inputs=2, dimension=2), Cosine(), SupportMeans(dimension=2))
    with pytest.raises(SpaceError, match="cannot be served"):
        TorchEngine(OpenSpace(space, None), gallery=None, enrolments=None)


def test_a_space_without_classes_says_so(points_folder, serve, tmp_path):
    space = MetricSpace.load(points_folder)
    for name in list(space.classes):
        space.remove(name)
    assert isinstance(space.reader, VectorReader)
    space.save(tmp_path / "empty")
    client = serve(tmp_path / "empty")
    answer = client.post("/classify", json={"vectors": [[1, 0]]})
    assert (answer.status_code, "enrol one" in answer.json()["error"]) == (404, True)
    assert client.get("/tree").status_code == 404
    assert client.post("/enroll", json={"vectors": [[1, 0]], "name": "first"}).status_code == 200
    assert client.post("/classify", json={"vectors": [[1, 0]]}).json()["items"][0]["class"] == "first"
