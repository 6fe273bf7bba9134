"""Logits side by side: those of the classes where a term has them, else those of the batch."""

import pytest
from tests.training.defences.conftest import cosine

from samekind.training.defences import paired_logits


def test_logits_of_classes_are_scaled_scores(make):
    both = make()
    [(clean, attacked)] = paired_logits(both)
    assert clean.shape == attacked.shape == (4, 3)
    proxy = both.space.prototypes.vectors[1, 0]
    assert attacked[2, 1].item() == pytest.approx(4 * cosine(both.attacked.z[2], proxy))


def test_without_classes_an_item_is_compared_with_the_clean_batch(make):
    both = make("batch")
    [(clean, attacked)] = paired_logits(both)
    assert clean.shape == attacked.shape == (4, 3)  # three others
    assert clean[2, 1].item() == pytest.approx(4 * cosine(both.clean.z[2], both.clean.z[1]))
    assert attacked[2, 2].item() == pytest.approx(4 * cosine(both.attacked.z[2], both.clean.z[3]))
