"""The two-sample test: discrepancy by loops, p-values by enumeration, level and power by simulation."""

import itertools
import math

import pytest
import torch

from samekind.measures import mean_discrepancy, two_sample_test
from samekind.measures.kernels import two_sample_in_blocks

IN_FIRST = torch.tensor([True, False, True, False, True, False, False])


def drawn(count=7, seed=0):
    return torch.randn(count, count, generator=torch.Generator().manual_seed(seed), dtype=torch.double)


def by_hand(kernel, in_first):
    """Three means over ordered pairs."""
    ones = [i for i in range(len(kernel)) if in_first[i]]
    twos = [i for i in range(len(kernel)) if not in_first[i]]

    def mean(pairs):
        values = [float(kernel[a, b]) for a, b in pairs]
        return sum(values) / len(values)

    across = [*itertools.product(ones, twos), *itertools.product(twos, ones)]
    within = mean(itertools.permutations(ones, 2)) + mean(itertools.permutations(twos, 2))
    return within - 2 * mean(across)


def gaussian(points, width=1.0):
    return (-(points[:, None] - points).square().sum(2) / (2 * width**2)).exp()


def test_the_discrepancy_is_the_loop_even_of_a_kernel_that_is_not_symmetric():
    assert mean_discrepancy(drawn(), IN_FIRST) == pytest.approx(by_hand(drawn(), IN_FIRST))


def test_the_order_of_pairs_the_diagonal_and_a_constant_do_not_matter():
    kernel, expected = drawn(), mean_discrepancy(drawn(), IN_FIRST)
    for same in (kernel.T, (kernel + kernel.T) / 2, kernel + 5 * torch.eye(7), kernel + 3):
        assert mean_discrepancy(same, IN_FIRST) == pytest.approx(expected)
    assert mean_discrepancy(kernel, ~IN_FIRST) == pytest.approx(expected)


def test_few_items_are_divided_in_every_way():
    kernel = drawn()
    every = [
        by_hand(kernel, [index in chosen for index in range(7)])
        for chosen in itertools.combinations(range(7), 3)
    ]
    expected = sum(value >= by_hand(kernel, IN_FIRST) - 1e-12 for value in every) / 35
    result = two_sample_test(kernel, IN_FIRST)
    assert (result.p_value, result.shuffles) == (pytest.approx(expected), 35)
    assert result.discrepancy == pytest.approx(by_hand(kernel, IN_FIRST))
    assert result.usual == pytest.approx(float(torch.tensor(every).quantile(0.95)))


def test_drawn_shuffles_come_near_to_all_of_them_and_are_fixed_by_the_seed():
    points = torch.randn(14, 2, generator=torch.Generator().manual_seed(3), dtype=torch.double)
    in_first = torch.arange(14) < 7
    points[:7] += 0.7
    every = two_sample_test(gaussian(points), in_first, permutations=math.comb(14, 7))
    some, again = (two_sample_test(gaussian(points), in_first, permutations=999, seed=5) for _ in range(2))
    assert (every.shuffles, some.shuffles) == (3432, 1000)
    assert some == again
    assert some.p_value == pytest.approx(every.p_value, abs=0.04)
    assert two_sample_test(gaussian(points), in_first, permutations=999, seed=6).p_value != some.p_value


def test_a_p_value_is_never_zero():
    points = torch.cat([torch.zeros(20, 1), torch.full((20, 1), 9.0)]).double()
    assert two_sample_test(gaussian(points), torch.arange(40) < 20, permutations=99).p_value == 1 / 100


def test_items_that_are_all_alike_are_no_evidence():
    result = two_sample_test(torch.full((30, 30), 0.7), torch.arange(30) < 11, permutations=50)
    assert (result.discrepancy, result.p_value) == (pytest.approx(0, abs=1e-12), 1)


def test_blocks_of_a_kernel_add_up_to_it():
    kernel = drawn()
    cuts = [slice(0, 2), slice(2, 3), slice(3, 7)]
    walk = [(rows, columns, kernel[rows, columns]) for rows in cuts for columns in cuts]
    result = two_sample_in_blocks(iter(walk), IN_FIRST, permutations=20, seed=1)
    assert result == pytest.approx(two_sample_test(kernel, IN_FIRST, permutations=20, seed=1))


def p_values(shift, *, items=15, tests=200):
    generator = torch.Generator().manual_seed(0)
    in_first = torch.arange(2 * items) < items
    result = []
    for _ in range(tests):
        points = torch.randn(2 * items, 2, generator=generator, dtype=torch.double)
        points[:items] += shift
        # Neither symmetric nor semidefinite: the test is about shuffles, whatever the kernel.
        kernel = gaussian(points) + 0.1 * points[:, :1] - 0.2
        result.append(two_sample_test(kernel, in_first, permutations=49).p_value)
    return torch.tensor(result)


def test_the_level_holds_when_there_is_no_difference():
    """Of 200 tests at 10 % twenty are expected to be wrong, and more than 33 once in a thousand times."""
    values = p_values(0.0)
    assert (values <= 0.1).sum() <= 33
    assert 0.4 < values.mean() < 0.6


def test_the_power_grows_with_the_difference_and_with_the_items():
    powers = [(p_values(shift, tests=60) <= 0.1).double().mean() for shift in (0.0, 0.5, 1.5)]
    assert powers[0] < powers[1] < powers[2]
    assert powers[2] > 0.95
    assert (p_values(0.5, items=40, tests=60) <= 0.1).double().mean() > powers[1]


@pytest.mark.parametrize(
    ("kernel", "in_first", "says"),
    [
        (torch.ones(4, 3), torch.arange(4) < 2, r"a kernel \(n, n\)"),
        (torch.ones(4, 4), torch.arange(3) < 2, r"a kernel \(n, n\)"),
        (torch.ones(4, 4), torch.arange(4), "boolean"),
        (torch.ones(4, 4), torch.arange(4) < 1, "in each sample, got 1 and 3"),
        (torch.full((4, 4), torch.inf), torch.arange(4) < 2, "finite kernel"),
    ],
)
def test_refuses_an_invalid_kernel(kernel, in_first, says):
    with pytest.raises(ValueError, match=says):
        two_sample_test(kernel, in_first)
    with pytest.raises(ValueError, match=says):
        mean_discrepancy(kernel, in_first)


def test_refuses_infinite_blocks_and_no_permutations():
    block = [(slice(0, 7), slice(0, 7), torch.full((7, 7), torch.nan))]
    with pytest.raises(ValueError, match="finite kernel"):
        two_sample_in_blocks(block, IN_FIRST, permutations=20)
    with pytest.raises(ValueError, match="at least one permutation, got 0"):
        two_sample_test(drawn(), IN_FIRST, permutations=0)
