"""samekind: learn what "the same kind" means, then ask every question a notion of likeness can answer.

The names below are loaded when first used, so that importing the package, or asking the command line for
help, does not wait for PyTorch.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from samekind.auxiliary_head import AuxiliaryHead as AuxiliaryHead
    from samekind.data import DataSettings as DataSettings
    from samekind.data import Items as Items
    from samekind.data import Sets as Sets
    from samekind.data import SplitSettings as SplitSettings
    from samekind.data import characters as characters
    from samekind.data import digits as digits
    from samekind.data import examine as examine
    from samekind.data import open_data as open_data
    from samekind.data import prepare as prepare
    from samekind.decisions import Decision as Decision
    from samekind.errors import SamekindError as SamekindError
    from samekind.evaluation import evaluate as evaluate
    from samekind.recipes import fit as fit
    from samekind.space import MetricSpace as MetricSpace
    from samekind.training import Run as Run
    from samekind.training import Term as Term
    from samekind.training import train as train

__version__ = "0.1.0"

_ROOM_OF = {
    "AuxiliaryHead": "auxiliary_head",
    "DataSettings": "data",
    "Decision": "decisions",
    "Items": "data",
    "MetricSpace": "space",
    "Run": "training",
    "SamekindError": "errors",
    "Sets": "data",
    "SplitSettings": "data",
    "Term": "training",
    "characters": "data",
    "digits": "data",
    "evaluate": "evaluation",
    "examine": "data",
    "fit": "recipes",
    "open_data": "data",
    "prepare": "data",
    "train": "training",
}

__all__ = [
    "AuxiliaryHead",
    "DataSettings",
    "Decision",
    "Items",
    "MetricSpace",
    "Run",
    "SamekindError",
    "Sets",
    "SplitSettings",
    "Term",
    "characters",
    "digits",
    "evaluate",
    "examine",
    "fit",
    "open_data",
    "prepare",
    "train",
]


def __getattr__(name: str) -> Any:
    if name not in _ROOM_OF:
        raise AttributeError(f"module 'samekind' has no attribute {name!r}")
    return getattr(importlib.import_module(f"samekind.{_ROOM_OF[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
