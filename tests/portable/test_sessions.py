"""Graphs, and what is no graph."""

import numpy as np
import pytest

from samekind.errors import SpaceError
from samekind.portable.sessions import Session


def test_runs_by_the_order_of_inputs_and_the_name_of_an_output(exported):
    session = Session((exported / "cosine-map.onnx").read_bytes(), "cosine-map.onnx")
    assert session.inputs == ["embeddings"]
    z = np.array([[3.0, 4, 0, 0, 0]], np.float32)
    for side in ("first", "second"):
        np.testing.assert_allclose(session.run(z, output=side), [[0.6, 0.8, 0, 0, 0]], rtol=1e-6)


def test_what_is_no_graph_is_named(exported):
    with pytest.raises(SpaceError, match="x cannot be opened by onnxruntime"):
        Session(b"no graph", "x")


def test_uses_as_many_threads_as_pytorch(exported, monkeypatch):
    content = (exported / "encoder.onnx").read_bytes()
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert Session(content, "x")._session.get_session_options().intra_op_num_threads == 1
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert Session(content, "x")._session.get_session_options().intra_op_num_threads == 0
