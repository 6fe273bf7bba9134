"""The routes that ask about items give what the questions answer."""

import io

import numpy as np
import pytest
import torch

from samekind import questions
from samekind.data import ImageReader
from samekind.space import MetricSpace


@pytest.fixture
def client(serve, saved_space, saved_gallery):
    return serve(saved_space, index=saved_gallery)


def array(values):
    content = io.BytesIO()
    np.save(content, np.asarray(values, np.float32))
    return content.getvalue()


def test_compares_as_the_question_does(client, saved_space, png):
    space, reader = MetricSpace.load(saved_space), ImageReader(height=8, width=8, channels=1)
    files = {"first": ("a.png", png(5)), "second": ("b.png", png(5, 3))}
    answer = client.post("/compare", files=files, data={"prior": "0.2"}).json()
    items = [reader.read(png(5)), reader.read(png(5, 3))]
    expected = questions.compare(space, *items, prior=0.2).to_json()
    assert answer == {
        name: pytest.approx(value) if isinstance(value, float) else value
        for name, value in {
            **expected,
            "false_accept_interval": list(expected["false_accept_interval"]),
        }.items()
    }


def test_names_classes_with_the_most_probable_ones(client, png):
    answer = client.post("/classify", files=[("files", ("x.png", png(2))), ("files", ("y.png", png(0)))])
    rows = answer.json()["items"]
    assert [row["id"] for row in rows] == ["x.png", "y.png"]
    assert [row["class"] for row in rows] == ["2", "0"]
    assert [len(row["best"]) for row in rows] == [4, 4]
    assert sum(best["probability"] for best in rows[0]["best"]) == pytest.approx(1)


def test_finds_the_nearest_with_thumbnails(client, png):
    answer = client.post("/search?k=3", files={"files": ("x.png", png(7, 30))}).json()
    found = answer["queries"][0]["found"]
    assert (len(found), found[0]["label"], answer["gallery"]) == (3, "7", 60)
    assert found[0]["score"] == pytest.approx(1, abs=1e-5)
    assert all(row["thumbnail"] for row in found)


def test_an_upload_is_not_a_file_of_the_gallery_that_has_its_name(client, png):
    """A file does not find itself; an upload has a name by chance."""
    answer = client.post("/search?k=60", files={"files": ("42", png(7, 30))}).json()
    assert len(answer["queries"][0]["found"]) == 60


def test_embeds_files_and_arrays(client, saved_space, png):
    reader = ImageReader(height=8, width=8, channels=1)
    item = reader.read(png(4))
    files = [("files", ("a.png", png(4))), ("files", ("b.npy", array(item)))]
    answer = client.post("/embed", files=files).json()
    z = torch.tensor([row["embedding"] for row in answer["items"]])
    with torch.no_grad():
        expected = MetricSpace.load(saved_space).embed(item[None])
    torch.testing.assert_close(z, expected.expand(2, -1))
    assert answer["dimension"] == 16


def test_takes_vectors_as_json_where_items_are_vectors(serve, points_folder, saved_space):
    client = serve(points_folder)
    answer = client.post("/classify", json={"vectors": [[0.9, 0.1], [0.0, 2.0]]}).json()
    assert [row["class"] for row in answer["items"]] == ["right", "up"]
    table = b"a,b\n1,0\n0,1\n"
    rows = client.post("/embed", files={"files": ("t.csv", table)}).json()["items"]
    assert [row["embedding"] for row in rows] == [[1, 0], [0, 1]]
    pictures = serve(saved_space, state=points_folder.parent / "other")
    assert pictures.post("/classify", json={"vectors": [[1, 0]]}).status_code == 415


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ({"vectors": [[1.0]]}, "lists of 2 numbers"),
        ({"vectors": [["a", "b"]]}, "lists of 2 numbers"),
        ({"vectors": [[1e39, 0]]}, "32 bits"),
        ({"vectors": [None]}, "lists of 2 numbers"),
        ({"vectors": []}, "at least one"),
        ({"vectors": 5}, "list of lists"),
        ({"vectors": [[1, 0]], "kindd": "x"}, "kindd"),
    ],
)
def test_refuses_what_is_no_vector(serve, points_folder, body, words):
    answer = serve(points_folder).post("/classify", json=body)
    assert answer.status_code == 422
    assert words in answer.json()["error"]


def test_a_vector_that_overflows_is_the_clients_fault(plain_client):
    answer = plain_client().post("/compare", json={"vectors": [[3e38, 0], [1e39, 1]]})
    assert answer.status_code == 400
    assert "not finite" in answer.json()["error"]


def test_says_why_there_is_no_attention(client, png):
    answer = client.post("/attention", files={"files": ("x.png", png(1))})
    assert answer.status_code == 400
    assert "no maps to look at" in answer.json()["error"]


def test_without_a_gallery_there_is_nothing_to_search(serve, saved_space, png):
    answer = serve(saved_space).post("/search", files={"files": ("x.png", png(1))})
    assert answer.status_code == 404
    assert "--index" in answer.json()["error"]
