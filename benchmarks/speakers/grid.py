"""The runs of the study: which system, which fold of speakers, which seed."""

from typing import NamedTuple

SEEDS, FOLDS = 3, 6
#: Nothing is trained: a network with fresh weights, and mean and deviation of the features.
UNTRAINED = ("random", "statistics")
#: "speaker-noisy" is "speaker", trained on the sounds and their copies with noise.
TRAINED = ("speaker", "speaker-alone", "triplet", "speaker-prototypical", "speaker-noisy")
#: The systems with a narrow network, trained on a quarter of the utterances: what a processor can do.
SMALL = "small-"
NARROW = tuple(
    f"{SMALL}{system}" for system in ("random", "speaker", "speaker-alone", "triplet", "speaker-noisy")
)
#: Published networks as they came; their embeddings were computed before.
FROZEN = ("ecapa", "cam++", "resnet34")
#: The ladder of the house recipe on their embeddings, which has something random.
LADDERS = tuple(f"ladder-{network}" for network in FROZEN)
#: The same in another room: PLDA of one room brought to another.
FROZEN_ROOMS = tuple(f"rooms-{network}" for network in FROZEN)
#: Two of them trained further on all utterances: on their own features, from the file of their weights.
TUNED = {"tuned-ecapa": "embedding_model.ckpt", "tuned-cam++": "campplus_cn_en_common.pt"}
#: The last layers of two of them trained further, on what the first layers give: what a processor can do.
FURTHER = ("further-cam++", "further-ecapa")
#: The whole of a network trained further on a quarter of the utterances, from its features.
WHOLE = ("whole-cam++", "whole-ecapa")
#: Trained on the speakers of one room, tested in another: half of its speakers are for adaptation.
ROOMS, SMALL_ROOMS, HALVES = "rooms", f"{SMALL}rooms", 2


class Experiment(NamedTuple):
    """One run; its JSON has its name. A ``system`` that begins with `SMALL` is a smaller one."""

    system: str
    fold: int
    seed: int

    @property
    def is_small(self) -> bool:
        return self.system.startswith(SMALL)

    @property
    def base(self) -> str:
        """The system, whatever its size."""
        return self.system.removeprefix(SMALL)

    @property
    def variant(self) -> str:
        return f"{self.system}-{self.fold}"

    @property
    def name(self) -> str:
        return f"{self.variant}-{self.seed}"


def grid(seeds: int = SEEDS, quick: bool = False) -> list[Experiment]:
    """Every run, what the page needs most first. A trial has one fold and one seed."""
    if quick:
        return [
            Experiment(system, 0, 0)
            for system in (*FROZEN, *LADDERS, *UNTRAINED, *TRAINED, *TUNED, *NARROW, ROOMS, SMALL_ROOMS)
        ]
    fixed = [Experiment(system, fold, 0) for system in FROZEN for fold in range(FOLDS)]
    runs = [
        Experiment(system, fold, seed)
        for seed in range(seeds)
        for system in (*LADDERS, *UNTRAINED, *TRAINED, *TUNED, *NARROW, *FURTHER, *WHOLE)
        for fold in range(FOLDS)
    ]
    rooms = [Experiment(system, half, 0) for system in FROZEN_ROOMS for half in range(HALVES)]
    return [*fixed, *rooms, *runs] + [
        Experiment(system, half, seed)
        for system in (SMALL_ROOMS, ROOMS)
        for seed in range(seeds)
        for half in range(HALVES)
    ]
