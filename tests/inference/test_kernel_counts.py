"""Counting by the kernel: the same measures as the stored scores have."""

import pytest
import torch
from torch import nn

from samekind.errors import SettingError
from samekind.inference import streamed_trials
from samekind.inference.kernel_counts import KernelCounter, kernel_for
from samekind.measures import equal_error_and_area
from samekind.measures.binning import count_bins, count_cells
from samekind.measures.streaming import counted_rates
from samekind.prototypes import SupportMeans
from samekind.similarities import Cosine, PairsNetwork
from samekind.space import MetricSpace


class InPlain:
    """What the kernel promises, by the network itself, on any device."""

    def __init__(self, network):
        self.network = network

    def trials(self, z, labels):
        with torch.no_grad():
            scores = self.network.score_all(z, z)
        above = torch.ones_like(scores, dtype=torch.bool).triu(1)
        return scores[above], (labels[:, None] == labels)[above]

    def count_bins(self, a, b, labels, *, upper, threshold):
        assert upper
        counts, errors = count_bins(
            [self.trials(a, labels[0])], None if threshold != threshold else threshold
        )
        return counts, torch.tensor(errors or (0, 0))

    def count_cells(self, a, b, labels, bins, *, dtype, upper):
        assert upper
        device = torch.device("cpu")
        return count_cells([self.trials(a, labels[0])], bins, [], None, dtype=dtype, device=device)


def space_of(similarity):
    return MetricSpace(nn.Identity(), similarity, SupportMeans(dimension=8)).eval()


def items(count=60):
    torch.manual_seed(1)
    labels = torch.arange(count) % 4
    return torch.randn(count, 8) + torch.randn(4, 8)[labels], labels


def test_gives_the_measures_of_the_stored_scores():
    torch.manual_seed(0)
    network = PairsNetwork(dimension=8, hidden=16, depth=2).eval()
    z, labels = items()
    plain = InPlain(network)
    counter = KernelCounter(plain, z, labels)
    counter.device = torch.device("meta")  # not a CPU: nothing is kept
    result = counted_rates(counter, threshold=0.0, memory_budget=2**26)
    scores, same = plain.trials(z, labels)
    (rate, threshold), area = equal_error_and_area(scores, same)
    assert (result.equal_error, result.threshold, result.area) == (rate, threshold, area)
    assert result.false_accepts == pytest.approx(float((scores[~same] >= 0).float().mean()))
    assert result.false_rejects == pytest.approx(float((scores[same] < 0).float().mean()))


def test_refuses_a_nan_threshold():
    z, labels = items()
    with pytest.raises(ValueError, match="got NaN"):
        KernelCounter(InPlain(None), z, labels).bins(float("nan"))


@pytest.mark.parametrize("similarity", [Cosine(), PairsNetwork(dimension=8)])
def test_refuses_without_a_gpu(similarity):
    z, labels = items()
    with pytest.raises(SettingError, match=r"on a GPU, with Triton 3.6 or newer; this is .*, on cpu"):
        streamed_trials(space_of(similarity), z, labels, precision="bfloat16")


def test_refuses_an_unknown_precision():
    with pytest.raises(SettingError, match='no precision "float8"; choose one of bfloat16, float16'):
        kernel_for(space_of(Cosine()), kind="similarity", precision="float8")


@pytest.mark.device
@pytest.mark.parametrize("hidden", [64, 300])
def test_on_a_gpu_it_counts_what_the_kernel_scores(hidden):
    torch.manual_seed(0)
    space = space_of(PairsNetwork(dimension=8, hidden=hidden, depth=3)).cuda()
    z, labels = items(700)
    result = streamed_trials(space, z, labels, precision="float16")
    z, labels = z.cuda(), labels.cuda()
    scores = kernel_for(space, kind="similarity", precision="float16").score_all(z, z)
    above = torch.ones_like(scores, dtype=torch.bool).triu(1)
    (rate, threshold), area = equal_error_and_area(
        scores[above].cpu(), (labels[:, None] == labels)[above].cpu()
    )
    assert (result.equal_error, result.threshold, result.area) == (rate, threshold, area)
    plain = streamed_trials(space, z, labels)
    assert abs(plain.equal_error - result.equal_error) < 1e-3
