"""One item of every domain: the definition checked group by group."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from samekind.errors import SettingError
from samekind.samplers import OnePerDomain


def domains_of(*counts):
    """Items of the domains 0, 1, … in an order that mixes them."""
    domains = torch.tensor([domain for domain, count in enumerate(counts) for _ in range(count)])
    return domains[torch.randperm(len(domains), generator=torch.Generator().manual_seed(0))]


def sampler(domains, **arguments):
    return OnePerDomain(torch.zeros_like(domains), domains=domains, **{"seed": 1, **arguments})


@settings(max_examples=40)
@given(
    counts=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    size=st.integers(1, 6),
    epoch=st.integers(0, 5),
)
def test_a_batch_is_made_of_groups_with_one_item_of_each_domain(counts, size, epoch):
    domains = domains_of(*counts)
    batches = sampler(domains, size=size).batches(epoch)
    assert len(batches) == len(sampler(domains, size=size))
    assert all(len(batch) == size * len(counts) for batch in batches[:-1])
    groups = torch.cat(batches).reshape(-1, len(counts))
    assert len(groups) == max(counts)
    for place, count in enumerate(counts):
        column = groups[:, place].tolist()
        assert all(domains[index] == place for index in column)
        assert len(set(column)) == count
        # A shorter domain is gone through again from its beginning.
        assert column == [column[turn % count] for turn in range(max(counts))]


def test_which_items_form_a_group_changes_from_epoch_to_epoch():
    domains = domains_of(5, 5, 5)
    met = {
        tuple(group)
        for epoch in range(60)
        for group in sampler(domains).batches(epoch)[0].reshape(-1, 3).tolist()
    }
    assert len(met) > 100  # of 125


def test_domains_may_have_any_numbers():
    groups = sampler(torch.tensor([7, -2, 7, 40, -2])).batches(0)[0].reshape(-1, 3)
    assert all(
        first in (1, 4) and second in (0, 2) and third == 3 for first, second, third in groups.tolist()
    )


@pytest.mark.parametrize(
    ("labels", "domains", "size", "says"),
    [
        (4, [0, 0, 1, 1], 0, "at least 1 item of each domain; got size 0"),
        (3, [0, 0, 1, 1], 2, r"a domain for each of 3 items, got \(4,\)"),
        (4, [3, 3, 3, 3], 2, "at least 2 domains, got 1; use Shuffled"),
        (0, [], 2, "at least 2 domains, got 0"),
    ],
)
def test_refuses_impossible_settings(labels, domains, size, says):
    with pytest.raises(SettingError, match=says):
        OnePerDomain(
            torch.zeros(labels, dtype=torch.long), domains=torch.tensor(domains).long(), size=size, seed=0
        )
