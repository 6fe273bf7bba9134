"""Whether a module is being written down as a graph: `torch.export`, which ONNX files are made by.

A graph has no choices that depend on the numbers in a batch. Code that looks at them, to check or to save
time, takes its plain path while this is true, with the same values.
"""

import torch


def exporting() -> bool:
    """Whether `torch.export` is at work."""
    return bool(getattr(torch.compiler, "is_exporting", torch.compiler.is_compiling)())
