"""The questions of a space, beside its classes, as goals of an attack: see `samekind.attacks.goal.Goal`.

`Trials` (same or different?), `Retrieval` (what is most like this?), `Enrolments` (a new class from a few
examples, poisoned), `NoneOfThese` (an open set, evaded or provoked) and `Shift` (how far an embedding can be
moved). Every attack serves every one of them; only a shift has no wrong answer, so attacks for the least
change refuse it. Their default objective is the margin, which is the score itself but for a sign: it never
saturates, whatever the size of the scores.
"""

from samekind.attacks.goals.enrolment import Enrolments, known_bars
from samekind.attacks.goals.none_of_these import NONE, NoneOfThese
from samekind.attacks.goals.retrieval import Retrieval
from samekind.attacks.goals.shift import Shift
from samekind.attacks.goals.trial import Trials

__all__ = ["NONE", "Enrolments", "NoneOfThese", "Retrieval", "Shift", "Trials", "known_bars"]
