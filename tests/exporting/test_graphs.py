"""Graphs in one file, without notes on the code."""

import logging

import onnx
import pytest
import torch
from torch import nn

from samekind.errors import PackageError
from samekind.exporting.graphs import onnx_bytes


def graph(module=None, **settings):
    return onnx_bytes(
        module or nn.Linear(3, 2),
        [torch.randn(2, 3)],
        inputs={"items": {0: "count"}},
        outputs=("numbers",),
        what="a layer",
        **settings,
    )


def test_inputs_and_outputs_have_their_names_and_any_length():
    model = onnx.load_from_string(graph())
    onnx.checker.check_model(model)
    assert [value.name for value in model.graph.input] == ["items"]
    assert [value.name for value in model.graph.output] == ["numbers"]
    assert model.graph.input[0].type.tensor_type.shape.dim[0].dim_param


def test_nothing_tells_where_it_was_made():
    content = graph()
    assert b".py" not in content
    assert b"site-packages" not in content


def test_the_mode_and_the_loggers_stay_as_they_were(caplog):
    level = logging.getLogger("torch.onnx").level
    graph()
    assert logging.getLogger("torch.onnx").level == level
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "onnxscript", None)
    with pytest.raises(PackageError, match=r"onnxscript; install it by pip install 'samekind\[onnx\]'"):
        graph()
