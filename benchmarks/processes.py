"""Memory of a process, for benchmarks that measure each side in a fresh one."""

import resource
from pathlib import Path
from typing import Literal

OF_THIS = Path("/proc/self")


def forget_peak() -> None:
    """Begin the peak of `resident` anew, without that of the imports. For Linux alone."""
    (OF_THIS / "clear_refs").write_text("5")


def resident(field: Literal["VmRSS", "VmHWM"]) -> int:
    """KiB of memory that this process holds (VmRSS), or held at its peak (VmHWM); the peak of the whole
    process where the system does not say.
    """
    for line in (OF_THIS / "status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field):
            return int(line.split()[1])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
