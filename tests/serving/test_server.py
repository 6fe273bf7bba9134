"""How many items a request may have, whatever they come in."""

import io

import numpy as np


def array(rows):
    content = io.BytesIO()
    np.save(content, np.ones((rows, 2), np.float32))
    return content.getvalue()


def test_items_are_counted_in_files_and_within_them(serve, points_folder):
    client = serve(points_folder, items=3)
    assert len(client.post("/embed", files={"files": ("a.npy", array(3))}).json()["items"]) == 3
    assert client.post("/embed", files={"files": ("a.npy", array(4))}).status_code == 413
    assert client.post("/embed", files={"files": ("a.csv", b"a,b\n" + b"1,2\n" * 4)}).status_code == 413


def test_two_are_compared_and_no_other_number(serve, points_folder):
    client = serve(points_folder)
    assert client.post("/compare", json={"vectors": [[1, 0]] * 3}).status_code == 422
    assert client.post("/compare", files={"first": ("a.npy", array(1))}).status_code == 422
    assert client.post("/compare").status_code == 422
