"""A threshold for none of these that was fitted for other classes."""

from samekind.decisions.decision import Decision

STALE = (
    'the threshold for none of these was fitted before the class "{name}" was {done}, on {trials}{why}; '
    "fit it again"
)
ONCE_UNKNOWN = (
    "; it was made to turn away the unknown items there, those of this class too if it was among them"
)


def stale_threshold(open_set: Decision, name: str, done: str) -> str:
    """The warning after a class was added, replaced or removed.

    Which classes were unknown then is not stored, so there is a warning for every change of the classes.
    """
    why = ONCE_UNKNOWN if done == "added" else ""
    return STALE.format(name=name, done=done, trials=open_set.trials, why=why)
