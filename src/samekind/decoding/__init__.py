"""Files of pictures, sounds and arrays to numbers: Pillow, libsndfile and NumPy, without PyTorch.

The readers of `samekind.data` decode by these functions, and so does a server without PyTorch. They take open
files, and give NumPy arrays.
"""
