"""Embeddings in two dimensions.

van der Maaten and Hinton, "Visualizing Data using t-SNE", JMLR 2008.
"""

import torch
from torch import Tensor

FEW = 10
PERPLEXITY = 30.0


def plane(z: Tensor, seed: int) -> Tensor:
    """Embeddings (n, d) as points (n, 2) by t-SNE from a PCA start: neighbours stay neighbours.

    The same seed gives the same points. Fewer than ten items, at most two dimensions, or identical items are
    shown by PCA instead.
    """
    z = z.detach().cpu().double()
    if len(z) < FEW or z.shape[1] <= 2 or bool((z == z[:1]).all()):
        return _principal(z)
    from sklearn.manifold import TSNE

    # t-SNE needs more items than its perplexity, and speaks of about three times as many neighbours.
    perplexity = min(PERPLEXITY, (len(z) - 1) / 3)
    points = TSNE(n_components=2, init="pca", perplexity=perplexity, random_state=seed).fit_transform(
        z.numpy()
    )
    return torch.from_numpy(points).double()


def _principal(z: Tensor) -> Tensor:
    """The two principal components, (n, d) -> (n, 2); 0 for a missing one."""
    points = torch.zeros(len(z), 2, dtype=z.dtype)
    if len(z):
        left, lengths, _ = torch.linalg.svd(z - z.mean(0), full_matrices=False)
        dimensions = min(2, len(lengths))
        points[:, :dimensions] = left[:, :dimensions] * lengths[:dimensions]
    return points
