"""Temperatures as people read them: what the probabilities of a head are made modest or surer by."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from samekind.cli.output import messages, print_table, print_text, table

if TYPE_CHECKING:
    from samekind.space import Temperature

PLAIN = "The probabilities of classes are not calibrated: they are the softmax of the scores as they are."
AT_BOUND = (
    "careful ({head} head): the items ask for more than a temperature may be; where it is high its scores "
    "say nothing about the class, or point the wrong way"
)


def print_temperatures(temperatures: Mapping[str, "Temperature"]) -> None:
    """A line for each head, with a warning where a temperature is at its bound; or that there is none."""
    if not temperatures:
        print_text(f"\n{PLAIN}")
        return
    lines = [[head, f"{each.value:.4g}", f"{each.items:,}"] for head, each in temperatures.items()]
    print_table(table("Probabilities of classes", ["head", "temperature", "items"], lines))
    for head, each in temperatures.items():
        if each.at_bound:
            messages().print(AT_BOUND.format(head=head), soft_wrap=True)
