"""An experiment as options describe it: the typed values that become a plan."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from samekind.recipes.plans import Plan, read_plan


@dataclass(frozen=True, kw_only=True)
class PlanOptions:
    """What options say beside a recipe or run file. What is None or empty is left to the file, or has its
    default. ``unseen`` may be "half" or "random-half" instead of names; ``test_domains`` make a split by
    domain. ``changes`` are those of ``--set``, which come last.
    """

    source: str | None = None
    label: str | None = None
    path: str | None = None
    ignore: tuple[str, ...] = ()
    size: int | None = None
    taxonomy: Path | None = None
    skip_unreadable: bool = False
    split: str | None = None
    unseen: tuple[str, ...] | str = ()
    test_domains: tuple[str, ...] = ()
    seed: int | None = None
    epochs: int | None = None
    changes: tuple[str, ...] = ()

    def plan(self, name: str) -> Plan:
        """The plan of a recipe or of a run file (.toml), under these options."""
        data = {
            "label": self.label,
            "path": self.path,
            "size": self.size,
            "skip_unreadable": self.skip_unreadable,
            "ignore": list(self.ignore),
            "taxonomy": None if self.taxonomy is None else str(self.taxonomy),
        }
        names = self.unseen if isinstance(self.unseen, str) else list(self.unseen)
        split = {
            "by": "domain" if self.test_domains else self.split,
            "unseen": names,
            "test_domains": list(self.test_domains),
        }
        return read_plan(
            name,
            self.changes,
            source=self.source,
            data=_given(data),
            split=_given(split),
            training=_given({"seed": self.seed, "epochs": self.epochs}),
        )


def _given(options: dict[str, Any]) -> dict[str, Any]:
    """The options that say something; a seed of 0 does."""
    return {name: value for name, value in options.items() if value or type(value) is int}
