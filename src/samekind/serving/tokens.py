"""Bearer tokens with roles. The file holds their hashes alone: who reads it cannot use them."""

import hashlib
import hmac
import json
import os
import re
import secrets
import time
from pathlib import Path
from typing import Literal, NamedTuple, get_args

from samekind.errors import SettingError, SpaceError, nearest
from samekind.plain_files import read_json
from samekind.storage import write_text

Role = Literal["read", "enrol", "admin"]
#: From the least to the most.
ROLES: tuple[Role, ...] = get_args(Role)
NAME = re.compile(r"[\w.@-]{1,60}")
LONGEST = 200


class Caller(NamedTuple):
    """A caller: the name of the token, or of the place the request comes from, and its role."""

    name: str
    role: Role

    def may(self, role: Role) -> bool:
        """Whether the caller's role includes another one."""
        return ROLES.index(self.role) >= ROLES.index(role)


class Tokens:
    """The tokens of a file, which may change while it is in use."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._seen: tuple[int, int] | None = None
        self._entries: dict[str, tuple[Role, bytes]] = {}

    def __len__(self) -> int:
        self._read()
        return len(self._entries)

    def new(self, name: str, role: str) -> str:
        """A new token, which is stored nowhere: only its hash is. Raises SettingError for a name that is
        taken, or an unknown role.
        """
        self._read()
        if not NAME.fullmatch(name):
            raise SettingError(
                f'a token is named by up to 60 letters, digits and . _ - @, such as "anna"; got "{name}"'
            )
        if name in self._entries:
            raise SettingError(f'there is a token "{name}"; choose another name, or revoke that one first')
        known = next((one for one in ROLES if one == role), None)
        if known is None:
            raise SettingError(f'there is no role "{role}"; {nearest(role, ROLES)}')
        token = f"samekind_{secrets.token_urlsafe(32)}"
        self._write({**self._entries, name: (known, _digest(token))})
        return token

    def revoke(self, name: str) -> None:
        """Forget a token; an unknown name is a SettingError."""
        self._read()
        if name not in self._entries:
            raise SettingError(f'there is no token "{name}"; {nearest(name, self._entries)}')
        self._write({known: entry for known, entry in self._entries.items() if known != name})

    def caller(self, token: str) -> Caller | None:
        """The caller that a token belongs to; None for an unknown one. Every hash is compared, in constant
        time.
        """
        self._read()
        digest, answer = _digest(token[:LONGEST]), None
        for name, (role, known) in self._entries.items():
            if hmac.compare_digest(digest, known):
                answer = Caller(name, role)
        return answer

    def _write(self, entries: dict[str, tuple[Role, bytes]]) -> None:
        rows = [
            {"name": name, "role": role, "sha256": digest.hex()} for name, (role, digest) in entries.items()
        ]
        content = {"format": "samekind tokens", "version": 1, "written": time.time(), "tokens": rows}
        write_text(self.path, json.dumps(content, indent=2) + "\n")
        os.chmod(self.path, 0o600)  # noqa: PTH101 (as short as it gets)
        self._seen = None

    def _read(self) -> None:
        """Read the file again if it has changed."""
        try:
            stat = self.path.stat()
        except FileNotFoundError:
            self._seen, self._entries = None, {}
            return
        if (stat.st_mtime_ns, stat.st_ino) == self._seen:
            return
        try:
            rows = read_json(self.path.read_bytes())["tokens"]
            entries = {
                row["name"]: (ROLES[ROLES.index(row["role"])], bytes.fromhex(row["sha256"])) for row in rows
            }
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise SpaceError(
                f"{self.path} is damaged: it holds no tokens; remove it and make new ones"
            ) from error
        self._seen, self._entries = (stat.st_mtime_ns, stat.st_ino), entries


def _digest(token: str) -> bytes:
    # Tokens are 256 random bits, so that no slow hash is needed.
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
