"""A trained space as files that run without PyTorch: ONNX graphs, arrays and one description.

`write_export` writes the folder that `samekind.portable` opens, whole or not at all, and only if both give
the same embeddings and scores. A part that cannot be a graph is named, with the reason, before anything is
written.
"""

from samekind.exporting.parity import Difference, differences
from samekind.exporting.writing import Contents, export_contents, write_export

__all__ = ["Contents", "Difference", "differences", "export_contents", "write_export"]
