"""The runs of the study: which system, which fold of speakers, which seed."""

from typing import NamedTuple

SEEDS, FOLDS = 3, 6
#: Nothing is trained: a network with fresh weights, and mean and deviation of the features.
UNTRAINED = ("random", "statistics")
#: "speaker-noisy" is "speaker", trained on the sounds and their copies with noise.
TRAINED = ("speaker", "speaker-alone", "triplet", "speaker-prototypical", "speaker-noisy")
#: Trained on the speakers of one room, tested in another: half of its speakers are for adaptation.
ROOMS, HALVES = "rooms", 2


class Experiment(NamedTuple):
    """One run; its JSON has its name."""

    system: str
    fold: int
    seed: int

    @property
    def variant(self) -> str:
        return f"{self.system}-{self.fold}"

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, what the page needs most first. A trial has one fold and one seed."""
    if quick:
        return [Experiment(system, 0, 0) for system in (*UNTRAINED, *TRAINED, ROOMS)]
    runs = [
        Experiment(system, fold, seed)
        for seed in range(seeds)
        for system in (*UNTRAINED, *TRAINED)
        for fold in range(FOLDS)
    ]
    return runs + [Experiment(ROOMS, half, seed) for seed in range(seeds) for half in range(HALVES)]
