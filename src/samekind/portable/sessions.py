"""Graphs opened by onnxruntime."""

import os
from typing import Any

from samekind.errors import PackageError, SpaceError
from samekind.plain_files import Array

#: Bytes of working memory of one call of a graph that scores pairs.
MEMORY_BUDGET = 2**26


class Session:
    """A graph, ready to be run on the CPU by any thread."""

    def __init__(self, content: bytes, name: str) -> None:
        try:
            import onnxruntime
        except ImportError as error:
            raise PackageError(
                "an exported space needs the package onnxruntime; install it by pip install onnxruntime"
            ) from error
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3  # errors alone
        # As PyTorch does; without the variable, all cores.
        options.intra_op_num_threads = int(os.environ.get("OMP_NUM_THREADS", "0") or 0)
        try:
            self._session = onnxruntime.InferenceSession(
                content, sess_options=options, providers=["CPUExecutionProvider"]
            )
        except Exception as error:  # onnxruntime has no common base of its errors
            reason = " ".join(str(error).split())[:300]
            raise SpaceError(f"{name} cannot be opened by onnxruntime: {reason}") from error
        self._name = name
        self.inputs = [value.name for value in self._session.get_inputs()]
        #: The shape of the first input, without its first axis; a text where any length is taken.
        self.shape = tuple(self._session.get_inputs()[0].shape[1:]) if self.inputs else ()

    def run(self, *values: Array, output: str | None = None) -> Array:
        """The one output, or that of a name. Raises SpaceError for numbers that the graph does not take."""
        try:
            results: list[Any] = self._session.run(
                None if output is None else [output], dict(zip(self.inputs, values, strict=True))
            )
        except Exception as error:  # onnxruntime has no common base of its errors
            reason = " ".join(str(error).split())[:300]
            raise SpaceError(f"{self._name} does not take these numbers: {reason}") from error
        array: Array = results[0]
        return array
