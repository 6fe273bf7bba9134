"""Random cases for a check on a GPU: how many and from which seed is said on the command line."""

import argparse
import random
from collections.abc import Callable, Iterator
from typing import TypeVar

import torch

Case = TypeVar("Case", bound=tuple[object, ...])


def checked(
    purpose: str, drawn: Callable[[random.Random], Case], check: Callable[..., float]
) -> Iterator[tuple[Case, float]]:
    """Each case that is drawn, and what its check says; the first that fails is named, and ends it all."""
    parser = argparse.ArgumentParser(description=purpose)
    parser.add_argument("--cases", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chance = random.Random(arguments.seed)
    torch.manual_seed(arguments.seed)
    for _ in range(arguments.cases):
        case = drawn(chance)
        try:
            yield case, check(*case)
        except AssertionError as wrong:
            raise SystemExit(f"FAILED for {case}: {wrong}") from wrong
    print(f"{arguments.cases} cases on {torch.cuda.get_device_name()}: all agree")
