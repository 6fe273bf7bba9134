"""Labelled items, where they come from and their splits; how an item becomes a tensor."""

from samekind.data.checking import Examination, examine
from samekind.data.collecting import Collection, collect
from samekind.data.digits import digits
from samekind.data.drawing import draw
from samekind.data.held_out import by_domain, by_group, by_part, leave_one_domain_out
from samekind.data.items import Items
from samekind.data.opening import memory_needed, open_data
from samekind.data.pictures import write_image
from samekind.data.problems import Problem
from samekind.data.reader_choice import reader_for
from samekind.data.readers import ImageReader, Reader, TableReader, VectorReader
from samekind.data.scaling import scaled
from samekind.data.sets import Sets, divide, prepare
from samekind.data.settings import DataSettings
from samekind.data.split_settings import SplitSettings
from samekind.data.splits import Split, by_class, stratified
from samekind.data.stored import Stored
from samekind.data.synthetic import clusters
from samekind.data.trial_lists import TrialList, read_trial_list

__all__ = [
    "READERS",
    "Collection",
    "DataSettings",
    "Examination",
    "ImageReader",
    "Items",
    "Problem",
    "Reader",
    "Sets",
    "Split",
    "SplitSettings",
    "Stored",
    "TableReader",
    "TrialList",
    "VectorReader",
    "by_class",
    "by_domain",
    "by_group",
    "by_part",
    "clusters",
    "collect",
    "digits",
    "divide",
    "draw",
    "examine",
    "leave_one_domain_out",
    "memory_needed",
    "open_data",
    "prepare",
    "read_trial_list",
    "reader_for",
    "scaled",
    "stratified",
    "write_image",
]

# The readers a space can be saved with.
READERS = ("ImageReader", "VectorReader", "TableReader")
