"""What the measures on labels ask of their input, said in one place."""

from torch import Tensor


def check_labels(given: Tensor, truth: Tensor, *, name: str) -> None:
    """ValueError unless both are (n,) whole numbers of one length above 0; ``name`` is what is given."""
    if given.ndim != 1 or given.shape != truth.shape:
        shapes = f"{tuple(given.shape)} and {tuple(truth.shape)}"
        advice = "; of scores, take .argmax(1)" if given.ndim == 2 else ""
        raise ValueError(f"expected {name} and truth of one shape (n,), got {shapes}{advice}")
    if len(truth) == 0:
        raise ValueError(f"expected at least one item, got empty {name} and truth")
    for each, called in ((given, name), (truth, "truth")):
        if each.is_floating_point() or each.is_complex():
            raise ValueError(f"expected whole numbers in {called}, got {each.dtype}")
