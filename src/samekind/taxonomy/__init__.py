"""Trees of classes: one value, `Tree`; how it is built, read, written and inferred.

- A node has a unique name. A class is the node of its name: a leaf, or an inner node.
- Distances are tensors (float64); heights are longest paths, in edges.
- Whatever is no tree (a node with two parents, a circle, a name twice, two roots, nothing at all) is refused
  with a DataError that names the node.
"""

from samekind.taxonomy.building import tree_of_parents, tree_of_paths
from samekind.taxonomy.changing import grown, renamed
from samekind.taxonomy.descent import Descent
from samekind.taxonomy.files import read_tree, write_tree
from samekind.taxonomy.tree import Tree

__all__ = [
    "Descent",
    "Tree",
    "grown",
    "read_tree",
    "renamed",
    "tree_of_parents",
    "tree_of_paths",
    "write_tree",
]
