"""A threshold for none of these that was fitted for other classes."""

from samekind.decisions.decision import Decision

STALE = "the threshold for none of these was fitted before {what} {done}, on {trials}{why}; fit it again"
ONCE_UNKNOWN = "; it was made to turn away the unknown items there, those of a class that is known now too"


def stale_threshold(open_set: Decision, name: str, done: str, *, classes: int = 1) -> str:
    """The warning after a class was added, replaced or removed, or so many ``classes`` at once.

    Which classes were unknown then is not stored, so there is a warning for every change of the classes.
    """
    what = f'the class "{name}" was' if classes == 1 else f"{classes:,} classes were"
    why = ONCE_UNKNOWN if done == "added" else ""
    return STALE.format(what=what, done=done, trials=open_set.trials, why=why)
