"""A module as the bytes of an ONNX file."""

import logging
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from samekind.errors import PackageError, SpaceError

#: What the axes of an input that may have any length are called, by their place.
Axes = Mapping[int, str]

LOGGERS = ("torch.onnx", "torch.export", "torch.fx.experimental.symbolic_shapes", "onnxscript", "onnx_ir")


def onnx_bytes(
    module: nn.Module,
    example: Sequence[Tensor],
    *,
    inputs: Mapping[str, Axes],
    outputs: Sequence[str],
    what: str,
) -> bytes:
    """The graph of a module in evaluation mode, in one file. ``inputs`` names the inputs and those of their
    axes that may have any length; the ``example`` has two or more there. ``what`` is the part in words.

    Raises SpaceError, with the reason, for a module that PyTorch cannot write as a graph.
    """
    _expect_packages()
    lengths = {name: torch.export.Dim(name) for axes in inputs.values() for name in axes.values()}
    shapes = tuple({axis: lengths[name] for axis, name in axes.items()} for axes in inputs.values())
    try:
        with torch.no_grad(), _quiet():
            program = torch.onnx.export(
                module.eval(),
                tuple(example),
                dynamo=True,
                external_data=False,
                # The optimiser takes numbers such as 1e-10 for 0, and drops what is added to a logarithm
                # or a root to keep it finite. onnxruntime optimises when it opens a file.
                optimize=False,
                dynamic_shapes=shapes,
                input_names=list(inputs),
                output_names=list(outputs),
                verbose=False,
            )
    except Exception as error:  # PyTorch's exporter has a dozen of its own
        raise SpaceError(f"{what} cannot be written as ONNX: {_reason(error)}") from error
    if program is None:
        raise SpaceError(f"{what} cannot be written as ONNX: PyTorch gave no graph")
    content: bytes = _bare(program.model_proto).SerializeToString()
    return content


def _bare(model: Any) -> Any:
    """The model without notes on the code that it came from."""
    for part in (model.graph, *model.functions):
        del part.metadata_props[:]
        for node in part.node:
            node.doc_string = ""
            del node.metadata_props[:]
        for value in (*part.value_info, *getattr(part, "initializer", ())):
            value.doc_string = ""
            del value.metadata_props[:]
    for value in (*model.graph.input, *model.graph.output):
        del value.metadata_props[:]
    return model


def _reason(error: BaseException) -> str:
    """The innermost reason of an error, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0][:300] if lines else type(error).__name__


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the exporter's notes to its developers."""
    loggers = [logging.getLogger(name) for name in LOGGERS]
    levels = [logger.level for logger in loggers]
    try:
        for logger in loggers:
            logger.setLevel(logging.CRITICAL)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)


def _expect_packages() -> None:
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise PackageError(
            f"an export needs the package {error.name}; install it by pip install 'samekind[onnx]'"
        ) from error
