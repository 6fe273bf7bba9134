"""Defences: what attacked items add to the loss of the clean ones, one file for each.

A defence is a function of `Both`, the clean and the attacked items of a step with their answers, and of the
settings of the run, to a number that is added to the loss of the clean items. It works with every loss of a
run: where no term compares items with classes, the answer to an item is its scores with the clean items of
the batch. `training.extras.defence` attacks the items and calls it.
"""

from collections.abc import Callable, Mapping
from types import MappingProxyType

from torch import Tensor

from samekind.training.defences.answers import Answers, Both, paired_logits
from samekind.training.defences.logit_pairing import logit_pairing
from samekind.training.defences.mixing import all_attacked, mixed
from samekind.training.defences.negative_margin import negative_margin
from samekind.training.defences.trades import trades
from samekind.training.defences.triplets import attacked_triplets
from samekind.training.tables import Defence

#: The defences by their names in a run.
DEFENCES: Mapping[str, Callable[[Both, Defence], Tensor]] = MappingProxyType(
    {
        "mix": mixed,
        "all": all_attacked,
        "trades": trades,
        "logit-pairing": logit_pairing,
        "triplet": attacked_triplets,
        "negative-margin": negative_margin,
    }
)

__all__ = ["DEFENCES", "Answers", "Both", "paired_logits"]
