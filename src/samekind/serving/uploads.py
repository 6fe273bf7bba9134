"""The body of a request: files, numbers and settings, streamed into memory within the limits.

Nothing is written to the disk, so a request that is cut short leaves nothing behind.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.datastructures import UploadFile
from starlette.formparsers import FormParser, MultiPartException, MultiPartParser

from samekind.serving.engine import Upload
from samekind.serving.refusal import Refusal
from samekind.serving.settings import Limits

Settings = TypeVar("Settings", bound=BaseModel)

#: Bytes of a setting, and settings of a request.
LONGEST_SETTING, MOST_SETTINGS = 10_000, 20
LONGEST_NAME = 200
EXPECTED = "send files as multipart/form-data, or vectors as application/json"


@dataclass(frozen=True)
class Body:
    """The content of a request: files by the field they came in, vectors, and its settings, unchecked."""

    files: dict[str, list[Upload]]
    vectors: list[Any] | None
    settings: dict[str, Any]

    def settings_as(self, model: type[Settings]) -> Settings:
        """The settings, checked. Raises Refusal for one that is missing, unknown or wrong."""
        try:
            return model.model_validate(self.settings)
        except ValidationError as error:
            raise Refusal(422, in_words(error.errors())) from None


def in_words(errors: Sequence[Any]) -> str:
    """The errors in the settings of a request, in one line."""
    lines = []
    for error in errors[:5]:
        where = ".".join(str(part) for part in error["loc"] if part not in ("body", "query"))
        lines.append(f"{where or 'the request'}: {str(error['msg']).removeprefix('Value error, ')}")
    return "; ".join(lines)


async def read_body(request: Request, limits: Limits) -> Body:
    """The body of a request, with the settings of its address. Raises Refusal for one that cannot be read."""
    settings: dict[str, Any] = dict(request.query_params)
    what = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if what == "application/json":
        content = await _json(request)
        vectors = content.pop("vectors", None)
        if vectors is not None and not isinstance(vectors, list):
            raise Refusal(422, "vectors: expected a list of lists of numbers")
        return Body({}, vectors, settings | content)
    if what not in ("multipart/form-data", "application/x-www-form-urlencoded", ""):
        raise Refusal(415, f'a body of the type "{what[:80]}" cannot be read; {EXPECTED}')
    files: dict[str, list[Upload]] = {}
    for name, value in await _form(request, limits) if what else []:
        if isinstance(value, UploadFile):
            files.setdefault(name, []).append(Upload(label_of(value.filename), await value.read()))
            await value.close()
        else:
            settings[name] = value
    return Body(files, None, settings)


async def _form(request: Request, limits: Limits) -> list[tuple[str, UploadFile | str]]:
    try:
        if request.headers["content-type"].lower().startswith("multipart"):
            parser = MultiPartParser(
                request.headers,
                request.stream(),
                max_files=limits.items,
                max_fields=MOST_SETTINGS,
                max_part_size=LONGEST_SETTING,
            )
            parser.spool_max_size = limits.bytes + 1  # never on the disk
            return list((await parser.parse()).multi_items())
        return list((await FormParser(request.headers, request.stream()).parse()).multi_items())
    except MultiPartException as error:
        status = 413 if error.message.startswith(("Too many", "Part exceeded")) else 400
        raise Refusal(status, f"{error.message.rstrip('.')}; {EXPECTED}") from None


async def _json(request: Request) -> dict[str, Any]:
    try:
        content = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Refusal(400, "the body is not JSON") from None
    if not isinstance(content, dict):
        raise Refusal(400, 'the body is JSON, but no object such as {"vectors": [[0.1, 0.2]]}')
    return content


def label_of(name: str | None) -> str:
    r"""The name of a file as a label: its last part, without characters that cannot be printed.

    >>> label_of("../../etc/passwd"), label_of("C:\\pictures\\a\x00b.png"), label_of("")
    ('passwd', 'ab.png', 'file')
    """
    last = re.split(r"[/\\]", name or "")[-1]
    plain = "".join(letter for letter in last if letter.isprintable())
    return plain[-LONGEST_NAME:].strip() or "file"
