"""The state that all routes of one server share."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from starlette.concurrency import run_in_threadpool

from samekind.serving import headings
from samekind.serving.access import Access
from samekind.serving.audit import Audit
from samekind.serving.device import Device
from samekind.serving.engine import Decoded, Engine, Upload
from samekind.serving.metrics import Metrics
from samekind.serving.refusal import Refusal
from samekind.serving.settings import Limits
from samekind.serving.tokens import Caller, Role
from samekind.serving.uploads import Body, Settings, read_body


@dataclass(frozen=True)
class Server:
    """An engine, the thread that owns its device, and what is stored about callers."""

    engine: Engine
    device: Device
    access: Access
    audit: Audit
    metrics: Metrics
    limits: Limits

    async def body(self, request: Request) -> Body:
        """The body of a request, within the limits."""
        return await read_body(request, self.limits)

    async def items(self, body: Body, *fields: str, exactly: int | None = None) -> Decoded:
        """The items of a request, decoded: the files of these fields, or its vectors.

        Raises Refusal if there is none, too many, or another number than ``exactly``.
        """
        uploads = [upload for field in fields for upload in body.files.get(field, [])]
        others = sorted(body.files.keys() - set(fields))
        if others:
            raise Refusal(422, f"{others[0][:80]}: unknown field; files come as {' and '.join(fields)}")
        given = len(body.vectors) if body.vectors is not None else len(uploads)
        if not given:
            raise Refusal(422, f"{fields[0]}: expected at least one file")
        self._check_count(given, exactly)
        decoded = await run_in_threadpool(self._decoded, body.vectors, uploads)
        self._check_count(len(decoded.items), exactly)  # a table or an array holds many
        return decoded

    async def asked(
        self, request: Request, model: type[Settings], *fields: str, exactly: int | None = None
    ) -> tuple[Settings, Decoded]:
        """The settings of a request, as the model has them, and its `items`."""
        body = await self.body(request)
        settings = body.settings_as(model)
        return settings, await self.items(body, *fields, exactly=exactly)

    def _check_count(self, count: int, exactly: int | None) -> None:
        if exactly is not None and count != exactly:
            raise Refusal(422, f"expected {exactly} items, got {count}")
        if count > self.limits.items:
            raise Refusal(
                413, f"a request may have {self.limits.items} items, got {count}; send them in parts"
            )

    def _decoded(self, vectors: list[object] | None, uploads: list[Upload]) -> Decoded:
        if vectors is not None:
            return self.engine.read_vectors(vectors)  # type: ignore[arg-type]
        headings.check(uploads, self.engine.medium, self.limits)
        return self.engine.read(uploads)


async def _server(request: Request) -> Server:
    server: Server = request.app.state.server
    return server


def _asks(role: Role) -> Callable[[Request], Awaitable[Caller]]:
    async def known(request: Request) -> Caller:
        return (await _server(request)).access.caller(request, role)

    return known


#: The parameters of a route: the server of the request, and a caller with a role there.
Serving = Annotated[Server, Depends(_server)]
Reader = Annotated[Caller, Depends(_asks("read"))]
Enroller = Annotated[Caller, Depends(_asks("enrol"))]
Admin = Annotated[Caller, Depends(_asks("admin"))]
