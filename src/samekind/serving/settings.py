"""How a server is set up: what it accepts, whom it answers, and where it keeps what it must not forget."""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

MIB = 2**20
#: The most items that one query finds.
MOST_FOUND = 1_000
#: What this machine is called by itself.
LOCAL_NAMES = frozenset({"localhost", "127.0.0.1", "[::1]"})


@dataclass(frozen=True)
class Limits:
    """The limits of one request, and of all requests at a time.

    ``bytes`` is the size of a request, ``bytes_at_once`` that of all requests which are being received or
    answered; ``pixels`` those of a picture, ``seconds`` those of a sound, ``items`` the items of a request. A
    request must have arrived after ``upload_seconds``. ``waiting`` requests may wait for the device, which
    embeds up to ``together`` items at a time. ``rate`` is how often one caller may ask, ``failed_rate`` how
    often an address may send a token that is not valid.
    """

    bytes: int = 32 * MIB
    bytes_at_once: int = 512 * MIB
    pixels: int = 50_000_000
    seconds: float = 600.0
    items: int = 64
    upload_seconds: float = 60.0
    waiting: int = 256
    together: int = 64
    rate: str = "1200/minute"
    failed_rate: str = "20/minute"

    def to_json(self) -> dict[str, Any]:
        """The limits that a client should know."""
        known = ("bytes", "pixels", "seconds", "items", "rate")
        limits = {name: value for name, value in asdict(self).items() if name in known}
        return {**limits, "found": MOST_FOUND}


@dataclass(frozen=True)
class ServerSettings:
    """Where a server listens and what it asks for.

    With ``tokens``, the file of hashed tokens, every request but that for the page and the health needs one;
    without, everybody may do everything. ``hosts`` are the names that it answers to, None for any. ``audit``
    is the file in which enrolments and decisions are noted.
    """

    tokens: Path | None = None
    hosts: frozenset[str] | None = LOCAL_NAMES
    audit: Path | None = None
    limits: Limits = field(default_factory=Limits)
