"""Options that go together: one that would do nothing beside the others is refused, not passed over."""

from collections.abc import Mapping
from typing import NamedTuple

import typer

from samekind.errors import SettingError


class Goes(NamedTuple):
    """The options one of which an option needs, and those beside which it has no say, and why it has none,
    where that is not plain.
    """

    with_one_of: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    because: str = ""


def check_together(context: typer.Context, table: Mapping[str, Goes]) -> None:
    """Refuse what was given, be it the default, and would do nothing. ``table`` has options, and arguments
    such as DATA, by the names of their parameters.
    """
    written = {each.name: _written(each.opts[0]) for each in context.command.params}
    given = {name for name in written if name and _is_given(context, name)}
    for name, goes in table.items():
        if name not in given:
            continue
        for other in (each for each in goes.without if each in given):
            why = f" ({goes.because})" if goes.because else ""
            raise SettingError(f"{written[name]} and {written[other]} do not go together{why}; leave out one")
        if goes.with_one_of and not given.intersection(goes.with_one_of):
            missing = " or ".join(written[other] for other in goes.with_one_of)
            raise SettingError(
                f"{written[name]} does nothing without {missing}; give that as well, or leave it out"
            )


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name not in ("DEFAULT", "DEFAULT_MAP")


def _written(name: str) -> str:
    """As the help has it: options begin with a dash, arguments are in capitals."""
    return name if name.startswith("-") else name.upper()
