"""Checks of tensors that several measures share."""

from torch import Tensor


def check_labels(labels: Tensor, truth: Tensor, *, name: str) -> None:
    """ValueError unless both are (n,) whole numbers of one length above 0; ``name`` is that of the first."""
    if labels.ndim != 1 or labels.shape != truth.shape:
        shapes = f"{tuple(labels.shape)} and {tuple(truth.shape)}"
        advice = "; of scores, take .argmax(1)" if labels.ndim == 2 else ""
        raise ValueError(f"expected {name} and truth of one shape (n,), got {shapes}{advice}")
    if len(truth) == 0:
        raise ValueError(f"expected at least one item, got empty {name} and truth")
    for values, called in ((labels, name), (truth, "truth")):
        if values.is_floating_point() or values.is_complex():
            raise ValueError(f"expected whole numbers in {called}, got {values.dtype}")


def check_finite(values: Tensor, name: str) -> None:
    """ValueError if some values, of any shape, are NaN or infinite."""
    if not values.isfinite().all():
        broken = int((~values.isfinite()).sum())
        raise ValueError(f"expected finite {name}, got {broken} of {values.numel()} that are NaN or infinite")
