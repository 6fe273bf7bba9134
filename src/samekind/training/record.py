"""The record of a run: JSON Lines, one entry an epoch."""

import json
from pathlib import Path
from typing import Any

from samekind import storage
from samekind.plain_files import read_json

COUNTED = ("epoch", "step")  # what every entry has, as whole numbers


class Record:
    """The file ``record.jsonl``: appended to during training, cut back when a run resumes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict[str, Any]]:
        """All entries before the first damaged one, such as a last line cut short by a killed process."""
        if not self.path.exists():
            return []
        entries = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entry = read_json(line)
            except ValueError:
                break
            if not isinstance(entry, dict) or not all(type(entry.get(name)) is int for name in COUNTED):
                break
            entries.append(entry)
        return entries

    def cut(self, *, after: int) -> None:
        """Remove the entries after a step: a resumed run writes them again."""
        entries = [json.dumps(entry) + "\n" for entry in self.lines() if entry["step"] <= after]
        storage.write_text(self.path, "".join(entries))

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
