"""The arguments a run gives to a function or class, checked against its type hints."""

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from samekind.errors import SettingError, nearest
from samekind.settings import typed


def check_arguments(
    arguments: Mapping[str, Any], known: Sequence[str], function: Callable[..., Any], where: str
) -> dict[str, Any]:
    """The arguments as the type hints of the function have them. Raises SettingError for one that is not
    among ``known``, or has another type.
    """
    hints = typing.get_type_hints(function)
    checked = {}
    for name, value in arguments.items():
        if name not in known:
            raise SettingError(f'{where}: there is no setting "{name}"; {nearest(name, known)}')
        checked[name] = typed(hints[name], value, f"{where}.{name}")
    return checked
