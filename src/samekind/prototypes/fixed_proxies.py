"""Proxies that are placed beforehand, for instance by a tree of the classes, and never move.

Kim, "On the Significance of Distance in Machine Learning", 2023.
"""

from collections.abc import Sequence
from typing import Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from samekind.errors import SettingError
from samekind.prototypes.classes import assign_one_each, checked_counts, unmoved
from samekind.prototypes.layout import exact_directions, multidimensional_scaling, turned, wanted_chords
from samekind.taxonomy import Tree


class FixedProxies(nn.Module):
    """Given vectors, one for each class: `place` or `assign` fills them, and training moves the embeddings
    towards them.

    Until then they are random directions, which in high dimensions are nearly orthogonal. ``layout`` "mds"
    puts them on the sphere at distances that grow with those of the classes in their tree, √2 d / (``beta`` +
    d); "exact" puts any two at a cosine of 1 - their LCS distance, which takes a dimension as high as there
    are classes. `training` calls `place` before the first step.

    A layout says how far apart the classes stand, not where. With ``orientation`` "means" all proxies are
    turned as one, towards the mean embeddings of their classes before training (`turn`). With "free" they
    stay where the layout left them, often at a right angle to every item.

    Like `LearnedProxies` without the learning; unlike `SupportMeans`, they are not replaced by means of
    examples once training is over.
    """

    came_later = ("counts", "layout", "beta", "orientation")
    trained = True
    needs_term = True
    pooling = "mean"
    temperature = 0.1
    count = 1

    def __init__(
        self,
        classes: Sequence[str],
        *,
        dimension: int,
        layout: Literal["random", "mds", "exact"] = "random",
        beta: float = 1.0,
        orientation: Literal["free", "means"] = "free",
        counts: Sequence[int] | None = None,
    ) -> None:
        super().__init__()
        if layout not in ("random", "mds", "exact"):
            raise SettingError(f'the layout of fixed proxies is "random", "mds" or "exact"; got "{layout}"')
        if orientation not in ("free", "means"):
            raise SettingError(f'the orientation of fixed proxies is "free" or "means"; got "{orientation}"')
        wanted_chords(torch.zeros(0), beta=beta)  # refuses a beta that is not positive
        self.classes, self.counts = list(classes), checked_counts(counts, classes)
        self.dimension = dimension
        self.layout: Literal["random", "mds", "exact"] = layout
        self.beta = beta
        self.orientation: Literal["free", "means"] = orientation
        self.vectors: Tensor
        self.register_buffer("vectors", F.normalize(torch.randn(len(self.classes), 1, dimension), dim=-1))

    before_loss = after_step = unmoved

    def place(self, tree: Tree) -> None:
        """Put the proxies where the layout says. A class at an inner node has its own distances, in edges or
        by the height of that node. Raises DataError for a class that is not in the tree.
        """
        if self.layout == "mds":
            directions = multidimensional_scaling(
                tree.distances(self.classes), dimension=self.dimension, beta=self.beta
            )
        elif self.layout == "exact":
            directions = exact_directions(tree.lcs_distances(self.classes), dimension=self.dimension)
        else:
            return
        self.vectors = directions[:, None].to(self.vectors)

    def turn(self, means: Tensor) -> None:
        """Turn all proxies as one towards the means (classes, d) of their classes; free ones stay."""
        if self.orientation == "means":
            self.vectors.copy_(turned(self.vectors[:, 0], means.to(self.vectors))[:, None])

    assign = assign_one_each
