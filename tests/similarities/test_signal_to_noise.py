"""The signal-to-noise distance against variances."""

import torch

from samekind.similarities import SignalToNoise


def some(count, *, seed):
    return torch.randn(count, 4, dtype=torch.double, generator=torch.Generator().manual_seed(seed))


def test_agrees_with_the_variances():
    a, b = some(3, seed=1), some(5, seed=2)
    expected = torch.tensor([[-((x - y).var() / x.var()).item() for y in b] for x in a], dtype=torch.double)
    torch.testing.assert_close(SignalToNoise().score_all(a, b), expected)
    torch.testing.assert_close(SignalToNoise()(a, b[:3]), expected.diagonal())


def test_a_common_factor_and_a_number_added_to_all_do_not_matter():
    a, b = some(3, seed=1), some(5, seed=2)
    torch.testing.assert_close(
        SignalToNoise().score_all(7 * a + 2, 7 * b - 3), SignalToNoise().score_all(a, b)
    )


def test_a_first_one_without_signal_scores_by_the_noise_alone():
    """Numbers all alike, which rounding makes unlike."""
    constant = torch.full((1, 4), 0.1)
    scores = SignalToNoise().score_all(constant, torch.tensor([[1.0, -1.0, 1.0, -1.0], [3.0, 3.0, 3.0, 3.0]]))
    torch.testing.assert_close(scores, torch.tensor([[-4.0, 0.0]]))
