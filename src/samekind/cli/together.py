"""Options that need or exclude each other: one that would have no effect is refused, not ignored."""

from collections.abc import Mapping
from typing import NamedTuple

import typer

from samekind.errors import SettingError

#: Where values come from that nobody gave.
DEFAULTS = ("DEFAULT", "DEFAULT_MAP")


class Goes(NamedTuple):
    """The options of which an option needs one, those that exclude it, and why, if that is not obvious."""

    with_one_of: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    because: str = ""


def check_together(context: typer.Context, table: Mapping[str, Goes]) -> None:
    """Refuse options that were given, even with their default, and have no effect. ``table`` has options and
    arguments by the names of their parameters.
    """
    options = {parameter.name: parameter.opts[0] for parameter in context.command.params if parameter.name}
    # As the help has it: options begin with a dash, arguments are in capitals.
    written = {name: text if text.startswith("-") else text.upper() for name, text in options.items()}
    sources = {name: context.get_parameter_source(name) for name in options}
    given = {name for name, source in sources.items() if source and source.name not in DEFAULTS}
    for name, goes in table.items():
        if name not in given:
            continue
        for other in given.intersection(goes.without):
            why = f" ({goes.because})" if goes.because else ""
            raise SettingError(f"{written[name]} and {written[other]} do not go together{why}; leave out one")
        if goes.with_one_of and not given.intersection(goes.with_one_of):
            missing = " or ".join(written[other] for other in goes.with_one_of)
            raise SettingError(
                f"{written[name]} does nothing without {missing}; give that as well, or leave it out"
            )
