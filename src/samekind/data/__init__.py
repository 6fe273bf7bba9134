"""Labelled items: where they come from (`sources`), what they are (`media`), their splits and faults.

- A source is a name, folder, archive, table or array: ``open_data(source, settings=DataSettings(…))``.
`Items` are a value. They remember their source and settings, so that a run's folder can open them again. - A
format of `sources` recognises a path and opens it, with labels or without; one list names all formats. - A
`Medium` (pictures, sounds, vectors, arrays) says how items are read, batched, checked and shown, and which
encoder and augmentations suit them. Readers take files and bytes and know their ``medium``; so do items.
Nothing outside `media` asks for the class of a reader or the number of dimensions of an item. - Sounds are
16-bit samples of unequal length, padded batch by batch, and sessions are groups. - Pictures are bytes,
in memory or `Stored` (decoded when asked for), and become numbers on the device (`scaled`). - `DataSettings`
and `SplitSettings` are plain values, which a run's folder keeps. - Groups of items stay together. A split
that nobody chose goes by published parts, then by groups, then at random. `groups.deal_groups` deals whole
groups to the parts; `groups.groups_apart` says which items of a set are compared with one another, for
trials, retrieval, references, few-shot tasks and reports alike.
"""

from samekind.data.branches import branch_of, branches_of, whole_branches
from samekind.data.checking import Examination, examine
from samekind.data.collecting import Collection, collect, collect_bytes, files_of
from samekind.data.drawing import draw
from samekind.data.held_out import by_domain, by_group, by_part
from samekind.data.items import Items
from samekind.data.media import (
    ARRAYS,
    PICTURES,
    SOUNDS,
    VECTORS,
    ArrayReader,
    ImageReader,
    Medium,
    Problem,
    Reader,
    SoundReader,
    TableReader,
    VectorReader,
    medium_of,
    reader_for,
    scaled,
)
from samekind.data.media.image_files import write_image
from samekind.data.opening import memory_needed, open_data
from samekind.data.sets import Sets, divide, prepare
from samekind.data.settings import DataSettings
from samekind.data.sources.characters import characters
from samekind.data.sources.named import clusters, digits
from samekind.data.split_settings import SplitSettings
from samekind.data.splits import Split, stratified
from samekind.data.stored import Stored
from samekind.data.trial_lists import TrialList, read_trial_list

__all__ = [
    "ARRAYS",
    "PICTURES",
    "READERS",
    "SOUNDS",
    "VECTORS",
    "ArrayReader",
    "Collection",
    "DataSettings",
    "Examination",
    "ImageReader",
    "Items",
    "Medium",
    "Problem",
    "Reader",
    "Sets",
    "SoundReader",
    "Split",
    "SplitSettings",
    "Stored",
    "TableReader",
    "TrialList",
    "VectorReader",
    "branch_of",
    "branches_of",
    "by_domain",
    "by_group",
    "by_part",
    "characters",
    "clusters",
    "collect",
    "collect_bytes",
    "digits",
    "divide",
    "draw",
    "examine",
    "files_of",
    "medium_of",
    "memory_needed",
    "open_data",
    "prepare",
    "read_trial_list",
    "reader_for",
    "scaled",
    "stratified",
    "whole_branches",
    "write_image",
]

# The readers a space can be saved with.
READERS = ("ImageReader", "SoundReader", "VectorReader", "TableReader", "ArrayReader")
