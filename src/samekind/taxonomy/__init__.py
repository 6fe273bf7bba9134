"""Trees of classes: one value, `Tree`; how it is built, read, written and inferred.

- A node has a unique name. A class is the node of its name: a leaf, or an inner node.
- Distances are tensors (float64); heights are longest paths, in edges.
- Whatever is no tree (a node with two parents, a circle, a name twice, two roots, nothing at all) is refused
  with a DataError that names the node.
"""

from samekind.taxonomy.building import tree_of_parents, tree_of_paths
from samekind.taxonomy.changing import grown, renamed
from samekind.taxonomy.comparing import Splits, robinson_foulds
from samekind.taxonomy.descent import Descent
from samekind.taxonomy.distances import confusion_distances
from samekind.taxonomy.files import read_tree, write_tree
from samekind.taxonomy.inferring import Method, infer_tree
from samekind.taxonomy.tree import Tree

__all__ = [
    "Descent",
    "Method",
    "Splits",
    "Tree",
    "confusion_distances",
    "grown",
    "infer_tree",
    "read_tree",
    "renamed",
    "robinson_foulds",
    "tree_of_parents",
    "tree_of_paths",
    "write_tree",
]
