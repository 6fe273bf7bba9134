"""Labelled items and their splits; how an item becomes a tensor; the digits of scikit-learn."""

from samekind.data.digits import digits
from samekind.data.items import Items
from samekind.data.readers import ImageReader, VectorReader, reader_for, write_image
from samekind.data.sets import Sets, divide, prepare
from samekind.data.splits import Split, by_class, stratified
from samekind.data.synthetic import clusters

__all__ = [
    "READERS",
    "ImageReader",
    "Items",
    "Sets",
    "Split",
    "VectorReader",
    "by_class",
    "clusters",
    "digits",
    "divide",
    "prepare",
    "reader_for",
    "stratified",
    "write_image",
]

# The readers a space can be saved with.
READERS = ("ImageReader", "VectorReader")
