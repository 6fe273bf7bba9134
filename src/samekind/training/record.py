"""What happened, one JSON object a line, an epoch a line."""

import json
from pathlib import Path
from typing import Any

from samekind import storage


class Record:
    """The record of a run in ``record.jsonl``: appended to as it goes, cut back when a run resumes."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def lines(self) -> list[dict[str, Any]]:
        """All entries up to the first that is damaged, such as a last line cut short by a dying process."""
        if not self.path.exists():
            return []
        entries = []
        for line in self.path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                entries.append(json.loads(line))
            except json.JSONDecodeError:
                break
        return entries

    def cut(self, *, after: int) -> None:
        """Forget what came after a step, so that a resumed run does not say it twice."""
        kept = [entry for entry in self.lines() if entry["step"] <= after]
        storage.write_text(self.path, "".join(json.dumps(entry) + "\n" for entry in kept))

    def add(self, entry: dict[str, Any]) -> None:
        """Append an entry."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a") as file:
            file.write(json.dumps(entry) + "\n")
