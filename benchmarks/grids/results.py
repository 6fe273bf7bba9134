"""What the runs have measured, from the JSONs that are there."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from samekind.measures.catalogue import AUC

#: Similarities that are a network over pairs, or have one.
LEARNED = ("PairsNetwork", "CorrectedCosine")
#: Measures of the tables that are 1 minus a stored one.
COMPLEMENTS = {f"1 - {AUC}": AUC}
WORDS = {"similarity": "learned", "cosine": "cosine", "fused": "fused", "auxiliary": "dense layer"}


class Results:
    """The values of all runs by what was measured, in per cent where they are shares.

    ``epoch`` is where in a JSON the rows are: "rows" are those of the epoch that validation chose (of an
    untrained network the only ones), "final" those of the last.
    """

    def __init__(self, contents: Sequence[dict[str, Any]]) -> None:
        self.contents = {(content["variant"], int(content["seed"])): content for content in contents}

    def of(self, variants: Sequence[str]) -> "Results":
        """Those of some variants alone."""
        return Results([content for (variant, _), content in self.contents.items() if variant in variants])

    def seeds(self, variant: str) -> list[int]:
        return sorted(seed for name, seed in self.contents if name == variant)

    def value(self, variant: str, seed: int, measure: str, kind: str, *, epoch: str = "rows") -> float | None:
        """One measure of one run; "1 - AUC" is made from the AUC. None where it was not measured."""
        stored = COMPLEMENTS.get(measure, measure)
        # The accuracy of classes and that at a threshold have different names, so no question is needed.
        for row in self.contents[variant, seed].get(epoch) or ():
            if row["measure"] == stored and row["kind"] == kind:
                return 100 * (row["value"] if stored == measure else 1 - row["value"])
        return None

    def values(self, variant: str, measure: str, kind: str, *, epoch: str = "rows") -> dict[int, float]:
        """By seed."""
        by_seed = {
            seed: self.value(variant, seed, measure, kind, epoch=epoch) for seed in self.seeds(variant)
        }
        return {seed: value for seed, value in by_seed.items() if value is not None}

    def variants(self) -> list[str]:
        return list(dict.fromkeys(name for name, _ in sorted(self.contents)))

    def is_untrained(self, variant: str) -> bool:
        """Whether a variant is a network that nothing was taught here; the seed has no say in it."""
        return any(self.contents[variant, seed].get("run", {}) is None for seed in self.seeds(variant))

    def called(self, variant: str, kind: str) -> str:
        """A score or a head in words; the similarity of a space is learned where it is the network."""
        seed = self.seeds(variant)[0]
        own = self.contents[variant, seed]["run"]["space"]["similarity"]["name"]
        return "own score" if kind == "similarity" and own not in LEARNED else WORDS.get(kind, kind)


def results_in(folder: Path) -> Results:
    """The results of the grid's JSONs in a folder; others are not read."""
    contents = [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*-[0-9].json"))]
    return Results(contents)
