"""Splits that hold back what belongs together: groups, domains, or the part an item was published in."""

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor

from samekind.data.groups import cut_whole, deal_groups
from samekind.data.items import Items
from samekind.data.splits import Split, check_fractions
from samekind.data.words import counted
from samekind.errors import DataError, SettingError, nearest

#: The names of parts in published splits, and ours.
PART_NAMES = {
    **dict.fromkeys(("train", "training", "fit"), "train"),
    **dict.fromkeys(("validation", "val", "valid", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing", "t10k", "holdout"), "test"),
    "unseen": "unseen",
}


def by_group(items: Items, fractions: Mapping[str, float], *, seed: int) -> Split:
    """Deal whole groups to the parts, so that no group is in two of them.

    The fractions are met, class by class, as well as the sizes of the groups allow: see `deal_groups`.
    """
    check_fractions(fractions)
    parts = deal_groups(
        _numbers(items, "groups", "keep together"), items.labels, fractions, torch.arange(len(items)), seed
    )
    return Split(parts=parts, fingerprint=items.fingerprint())


def by_domain(
    items: Items, *, test_domains: Sequence[str], fractions: Mapping[str, float], seed: int
) -> Split:
    """Hold whole domains back: all items of the ``test_domains`` are the part "test".

    The other items are split by the remaining ``fractions``, in proportion: as by `by_group` if they have
    groups, else as by `stratified`.
    """
    held_back = torch.isin(_domains(items), domain_indices(items, test_domains)).cpu()
    if held_back.all() or not held_back.any():
        raise SettingError(
            "a split by domain needs items of domains to train with and of domains to test with; "
            f"{int(held_back.sum())} of {len(items)} items are of the test domains"
        )
    rest = remaining(fractions, without="test")
    parts = cut_whole(items, rest, (~held_back).nonzero().flatten(), seed)
    return Split(parts={**parts, "test": held_back.nonzero().flatten()}, fingerprint=items.fingerprint())


def by_part(items: Items, fractions: Mapping[str, float], *, seed: int) -> Split:
    """The parts the items were published in: train, validation (or val, dev) and test.

    A missing validation part is cut out of the training part, in the proportion that ``fractions`` has for
    the two, and in whole groups if items have groups. Raises DataError for a class with items of the part
    "unseen" and of another.
    """
    if items.parts is None:
        raise DataError(
            f"{items.name} does not say which part an item belongs to; "
            'give a column (its name is the setting "part"), or split another way'
        )
    places: dict[str, list[int]] = {"train": []}
    for place, published in enumerate(items.parts):
        name = PART_NAMES.get(published.strip().lower())
        if name is None:
            raise DataError(
                f'{items.name} has items of a part "{published}"; {nearest(published, PART_NAMES)}'
            )
        places.setdefault(name, []).append(place)
    parts = {name: torch.tensor(members, dtype=torch.int64) for name, members in places.items()}
    if not len(parts["train"]):
        raise DataError(
            f"{items.name} has no items of the part train; it has {', '.join(sorted(set(items.parts)))}"
        )
    _expect_unseen_whole(items, parts)
    if "validation" not in parts:
        parts |= cut_whole(items, remaining(fractions, without="test"), parts["train"], seed)
    return Split(parts=parts, fingerprint=items.fingerprint())


def domain_names(items: Items) -> tuple[str, ...]:
    """The names of the domains, or else their numbers."""
    return items.domain_names or tuple(str(domain) for domain in sorted(set(_domains(items).tolist())))


def domain_indices(items: Items, names: Sequence[str]) -> Tensor:
    """The numbers of the named domains. Raises DataError for an unknown name."""
    numbers = range(len(items.domain_names)) if items.domain_names else sorted(set(_domains(items).tolist()))
    known = dict(zip(domain_names(items), numbers, strict=True))
    for name in names:
        if name not in known:
            raise DataError(f'{items.name} has no domain "{name}"; {nearest(name, known)}')
    return torch.tensor([known[name] for name in names], dtype=torch.int64)


def remaining(fractions: Mapping[str, float], *, without: str) -> dict[str, float]:
    """The other fractions, in the same proportions, scaled to sum to 1."""
    rest = {name: share for name, share in fractions.items() if name != without}
    whole = sum(rest.values())
    if not rest or whole <= 0:
        raise SettingError(f'there must be a fraction beside "{without}"; got {dict(fractions)}')
    rest = {name: share / whole for name, share in rest.items()}
    check_fractions(rest)
    return rest


def _expect_unseen_whole(items: Items, parts: Mapping[str, Tensor]) -> None:
    """Raise DataError for a class with items in the part "unseen" and in others."""
    labels = items.labels.cpu()
    unseen = labels[parts.get("unseen", torch.empty(0, dtype=torch.int64))]
    shown = labels[torch.cat([part for name, part in parts.items() if name != "unseen"])]
    torn = sorted(set(unseen.tolist()) & set(shown.tolist()))
    if torn:
        label = torn[0]
        raise DataError(
            f"{counted(len(torn), f'class of {items.name} has', f'classes of {items.name} have')} items of "
            f'the part unseen and of others: "{items.classes[label]}" has {int((unseen == label).sum())} '
            f"unseen and {int((shown == label).sum())} others; all items of an unseen class must be unseen"
        )


def _numbers(items: Items, name: str, purpose: str) -> Tensor:
    """The groups or domains of items."""
    numbers: Tensor | None = getattr(items, name)
    if numbers is None:
        raise DataError(
            f"{items.name} has no {name} to {purpose}; "
            f'give a column (its name is the setting "{name.removesuffix("s")}"), or split another way'
        )
    return numbers.cpu()


def _domains(items: Items) -> Tensor:
    return _numbers(items, "domains", "hold back")
