"""An exported space in use, without PyTorch: NumPy, onnxruntime, and Pillow or libsndfile to read files.

`samekind.exporting` writes the folder. `PortableSpace` opens it and answers as the space itself does: embed,
score, classify, none of these, compare, search. Every score is a graph of the folder: nothing is computed
here in a second way but the features of sounds, softmax and pooling, each tested against PyTorch.

- A folder is not believed: its files are checked against their checksums, and its description is typed.
- What is enrolled is in a journal beside the files (`enrolments`), on the disk before the call returns.
"""

from samekind.portable.space import PortableSpace

__all__ = ["PortableSpace"]
