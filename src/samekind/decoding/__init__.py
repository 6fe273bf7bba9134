"""Files of pictures, sounds and arrays to numbers: Pillow, libsndfile and NumPy, without PyTorch.

The readers of `samekind.data` decode by these functions, and so does a server without PyTorch. They take open
files, and give NumPy arrays.
"""

from samekind.decoding.arrays import as_item
from samekind.decoding.pictures import PictureForm
from samekind.decoding.size_plane import size_plane

__all__ = ["PictureForm", "as_item", "size_plane"]
