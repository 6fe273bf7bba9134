"""Two-covariance PLDA brought to another domain: other rooms, microphones, cameras or people.

`averaged` needs labelled items of the new domain: Garcia-Romero et al., "Improving Speaker Recognition
Performance in the Domain Adaptation Challenge Using Deep Neural Networks", SLT 2014. `adapted` needs items
alone: what Kaldi does for NIST SRE 2016.
"""

import copy

import torch
from torch import Tensor

from samekind.errors import DataError, SettingError
from samekind.similarities.covariances import class_statistics
from samekind.similarities.two_covariance import TwoCovariance


def averaged(similarity: TwoCovariance, z: Tensor, labels: Tensor, *, share: float = 0.5) -> TwoCovariance:
    """A copy whose covariances are the averages of its own and of those fitted to embeddings (n, d) of the
    new domain with labels (n,), which count ``share``. Embeddings are centred as in the new domain.

    Raises DataError if there is nothing to fit to: see `TwoCovariance.fit`.
    """
    if not 0 <= share <= 1:
        raise SettingError(f"the share of the new domain must be from 0 to 1; got {share}")
    within, between = similarity.covariances()
    other = _centred(similarity, class_statistics(z, labels).mean)
    target = copy.deepcopy(other)
    target.estimate(class_statistics(target.inner(z.detach().double()), labels))
    offset = target.offset.double()
    new_within, new_between = target.covariances()
    return other.assume(
        offset, within + share * (new_within - within), between + share * (new_between - between)
    )


def adapted(
    similarity: TwoCovariance, z: Tensor, *, within: float = 0.75, between: float = 0.25
) -> TwoCovariance:
    """A copy that explains how embeddings (n, d) of the new domain vary, without their labels.

    In the directions in which they vary more than the model says, ``within`` of the excess is added to the
    covariance within classes, and ``between`` to that between them. Embeddings are centred as in the new
    domain. Raises DataError for fewer than two embeddings.
    """
    if within < 0 or between < 0:
        raise SettingError(f"the parts of the excess must be 0 or more; got {within} and {between}")
    if len(z) < 2:
        raise DataError(f"expected two embeddings of the new domain or more, got {len(z)}")
    z = z.detach().double()
    own_within, own_between = similarity.covariances()
    other = _centred(similarity, z.mean(0))
    z = other.inner(z)
    mean = z.mean(0)
    apart, shift = z - mean, mean - similarity.offset.double()
    measured = apart.T @ apart / len(z) + shift[:, None] * shift
    # In this basis the covariance of all items is the identity by the model, and diagonal as measured.
    root = torch.linalg.cholesky(own_within + own_between)
    whitened = torch.linalg.solve_triangular(
        root, torch.linalg.solve_triangular(root, measured, upper=False).T, upper=False
    )
    sizes, directions = torch.linalg.eigh((whitened + whitened.T) / 2)
    back = root @ directions
    excess = (back * (sizes - 1).clamp(min=0)) @ back.T
    return other.assume(mean, own_within + within * excess, own_between + between * excess)


def _centred(similarity: TwoCovariance, mean: Tensor) -> TwoCovariance:
    """A copy that centres embeddings by another mean (d,)."""
    other = copy.deepcopy(similarity)
    other.mean = mean.to(other.mean)
    return other
