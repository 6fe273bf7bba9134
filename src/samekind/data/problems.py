"""Errors and warnings about items, in sentences."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from decimal import Decimal

import torch

from samekind.data.held_out import PART_NAMES
from samekind.data.items import Items
from samekind.data.media import SOUNDS, Problem
from samekind.data.media.medium import named_problem
from samekind.data.stored import Stored
from samekind.data.words import composed, listed, named

#: Labels look like measurements if they are numbers, there are more than the first of these, and each has
#: fewer items than the second.
MANY_NUMBERS, FEW_OF_EACH = 20, 5

#: A number, which tables may write in several ways: 1, 1.0, 01.
NUMBER = re.compile(r"[+-]?\d+(\.\d*)?")

#: A class this many times larger than another is reported.
UNBALANCED = 100


def problems_of(items: Items) -> list[Problem]:
    """Everything that looks wrong in items as they are, the errors first."""
    problems = [problem for check in CHECKS for problem in check(items)]
    return sorted([*problems, *items.medium.problems(items)], key=lambda problem: problem.severity)


def class_sizes(items: Items) -> dict[str, int]:
    """How many items each class has."""
    counts = torch.bincount(items.labels.cpu(), minlength=len(items.classes)).tolist()
    return dict(zip(items.classes, counts, strict=True))


def _too_few(items: Items) -> Iterator[Problem]:
    sizes = {name: count for name, count in class_sizes(items).items() if count}
    if not sizes:
        yield Problem("error", "there are no items")
    elif len(sizes) == 1:
        yield Problem(
            "error", f'there is one class only, "{next(iter(sizes))}"; there are no classes to distinguish'
        )
    elif len(sizes) == len(items):
        yield Problem(
            "error", f"each of the {len(items)} items has a class of its own; is it the right label?"
        )
    else:
        single, few = ([name for name, count in sizes.items() if count == size] for size in (1, 2))
        alone = "a single item, which makes no pair and is in one part only"
        yield from named_problem(single, "class has", "classes have", alone)
        yield from named_problem(few, "class has", "classes have", "fewer items than a split has parts")
        largest, smallest = max(sizes, key=sizes.__getitem__), min(sizes, key=sizes.__getitem__)
        if sizes[largest] > UNBALANCED * sizes[smallest]:
            yield Problem(
                "warning",
                f'the classes are very unequal: "{largest}" has {sizes[largest]} items, '
                f'"{smallest}" {sizes[smallest]}',
            )


def _empty_classes(items: Items) -> Iterator[Problem]:
    empty = [name for name, count in class_sizes(items).items() if not count]
    if len(items):
        yield from named_problem(empty, "class has", "classes have", "no items")


def _similar_names(items: Items) -> Iterator[Problem]:
    alike: dict[str, list[str]] = defaultdict(list)
    for name in items.classes:
        alike[" ".join(composed(name).split()).casefold()].append(name)
    for names in alike.values():
        if len(names) > 1:
            same = len({composed(name) for name in names}) == 1
            how = "differ only in how their accents are stored" if same else "differ only by case or spaces"
            yield Problem("warning", f"the classes {_quoted(names)} {how}; are they one?")
    spaced = [f'"{name}"' for name in items.classes if name != name.strip()]
    if spaced:
        yield Problem("warning", f"{len(spaced)} class names begin or end with a space: {listed(spaced)}")


def _same_numbers(items: Items) -> Iterator[Problem]:
    alike: dict[Decimal, list[str]] = defaultdict(list)
    for name in items.classes:
        if NUMBER.fullmatch(name):
            alike[Decimal(name)].append(name)
    for names in alike.values():
        if len(names) > 1:
            yield Problem("warning", f"the classes {_quoted(names)} are the same number; are they one?")


def _measurements_as_labels(items: Items) -> Iterator[Problem]:
    fractional = [name for name in items.classes if _is_fraction(name)]
    if len(fractional) > max(2, len(items.classes) // 2):
        yield Problem(
            "error",
            f"the labels look like measurements, not classes ({listed(fractional[:3])}, …; "
            f"{len(items.classes)} different ones); name the column of the classes",
        )
        return
    # Numbers are good names of classes, unless nearly every item has its own. 151.0 counts too: tables write
    # whole numbers so if a value was once missing.
    numbers = all(NUMBER.fullmatch(name) for name in items.classes)
    if numbers and len(items.classes) > MANY_NUMBERS and len(items) < FEW_OF_EACH * len(items.classes):
        yield Problem(
            "warning",
            f"the {len(items.classes)} labels are numbers, with fewer than {FEW_OF_EACH} items of each on "
            "average; are they measurements, such as an age, and not classes?",
        )


def _not_finite(items: Items) -> Iterator[Problem]:
    inputs = items.inputs
    if isinstance(inputs, Stored) or not len(items) or not inputs.is_floating_point():
        return
    if items.medium is SOUNDS:  # padded with NaN
        return
    broken = (~inputs.flatten(1).isfinite()).any(1).nonzero().flatten().tolist()
    names = [named(items, place) for place in broken]
    yield from named_problem(names, "item holds", "items hold", "values that are not finite", "error")


def _given_parts(items: Items) -> Iterator[Problem]:
    if items.parts is None:
        return
    sizes = Counter(items.parts)
    unknown = [f'"{name}"' for name in sizes if name.strip().lower() not in PART_NAMES]
    if unknown:
        yield Problem(
            "error", f"items are of unknown parts: {listed(unknown)}; known: train, validation, test"
        )
        return
    parts = [PART_NAMES[name.strip().lower()] for name in items.parts]
    if "train" not in parts:
        yield Problem("error", "no item is of the part train")
        return
    labels: dict[bool, set[int]] = {True: set(), False: set()}
    for label, part in zip(items.labels.tolist(), parts, strict=True):
        labels[part == "train"].add(label)
    missing = [items.classes[label] for label in sorted(labels[False] - labels[True])]
    yield from named_problem(missing, "class is", "classes are", "tested but not in the part train")


def _lonely_domains(items: Items) -> Iterator[Problem]:
    """Classes that occur in one domain only: class and domain are confounded."""
    if items.domains is None or len(set(items.domains.tolist())) < 2:
        return
    homes: dict[int, set[int]] = defaultdict(set)
    for label, domain in zip(items.labels.tolist(), items.domains.tolist(), strict=True):
        homes[label].add(domain)
    lonely = [items.classes[label] for label, domains in sorted(homes.items()) if len(domains) == 1]
    yield from named_problem(lonely, "class occurs", "classes occur", "in one domain only")


def _quoted(names: Iterable[str]) -> str:
    return " and ".join(f'"{name}"' for name in names)


def _is_fraction(text: str) -> bool:
    try:
        return not float(text).is_integer()
    except ValueError:
        return False


CHECKS: tuple[Callable[[Items], Iterator[Problem]], ...] = (
    _too_few,
    _empty_classes,
    _similar_names,
    _same_numbers,
    _measurements_as_labels,
    _not_finite,
    _given_parts,
    _lonely_domains,
)
