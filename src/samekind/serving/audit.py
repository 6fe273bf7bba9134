"""The audit log: one line of JSON for each enrolment and decision, on the disk before the answer is sent."""

import json
import os
import threading
import time
from pathlib import Path
from typing import Any


class Audit:
    """Lines that are noted one by one, and written together by `flush`; without a path nothing is kept."""

    def __init__(self, path: Path | None) -> None:
        self._file = None
        self._lines: list[str] = []
        self._lock = threading.Lock()
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            # Opened to append, and each line is one call: the unfinished line of a process that died stays a
            # separate line.
            self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
            if _ends_within_a_line(path):
                os.write(self._file, b"\n")

    def note(self, what: str, *, caller: str, about: dict[str, Any]) -> None:
        """Add an entry; it is on the disk after the next `flush`."""
        entry = {"time": round(time.time(), 3), "what": what, "caller": caller, **about}
        with self._lock:
            self._lines.append(json.dumps(entry))

    def flush(self) -> None:
        """Write what was noted, and wait until it is on the disk."""
        with self._lock:
            lines, self._lines = self._lines, []
        if self._file is not None and lines:
            os.write(self._file, "".join(f"{line}\n" for line in lines).encode())
            os.fsync(self._file)

    def close(self) -> None:
        """Write the rest, and close the file."""
        self.flush()
        if self._file is not None:
            os.close(self._file)
        self._file = None


def _ends_within_a_line(path: Path) -> bool:
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return False
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"
