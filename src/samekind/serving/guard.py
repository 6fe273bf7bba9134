"""The checks of every request: the name of the server in it, its origin, and its size.

A page of another site that a browser has open can send requests to this machine. A browser says so by
``Origin`` and ``Sec-Fetch-Site``, and such requests are refused; no token is kept where a browser would send
it by itself. A foreign name that was made to point at this machine (DNS rebinding) is refused by ``Host``.
"""

import asyncio
import logging
import time
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from samekind.serving.metrics import Metrics
from samekind.serving.refusal import Refusal
from samekind.serving.settings import ServerSettings

POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self' blob: data:",
        "media-src 'self' blob:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "font-src 'self'",
        "manifest-src 'self'",
        "base-uri 'none'",
        "form-action 'none'",
        "frame-ancestors 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(self), microphone=(self), geolocation=(), payment=(), usb=()",
}
FAULT = "something went wrong here; the server's log says what"
#: What the metrics call a request whose client hung up while it was sent.
HUNG_UP = 499
#: Where a link on another site may lead.
ENTRANCE = "/"

log = logging.getLogger("samekind.serving")


class Guard:
    """An application in front of another one."""

    def __init__(self, app: ASGIApp, settings: ServerSettings, metrics: Metrics) -> None:
        self._app, self._hosts, self._metrics, self.limits = app, settings.hosts, metrics, settings.limits
        self._taken = 0  # bytes of the requests that are being answered

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, count its bytes as they come, and add the headers to its answer."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, started = time.perf_counter(), 500, False
        body = _Counted(self, receive, scope)

        async def answer(message: Message) -> None:
            nonlocal status, started
            if message["type"] == "http.response.start":
                status, started = message["status"], True
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
                if "cache-control" not in headers:
                    headers["Cache-Control"] = "no-store"
            await send(message)

        try:
            check_place(scope, self._hosts)
            body.check_heading()
            await self._app(scope, body.receive, answer)
        except Refusal as refusal:
            await refused(refusal)(scope, receive, answer)
        except ClientDisconnect:
            status = HUNG_UP  # nobody waits for an answer
        except Exception:
            log.exception("%s %s failed", scope["method"], scope["path"])
            if started:
                raise  # the client sees that the answer ends too early
            await refused(Refusal(500, FAULT))(scope, receive, answer)
        finally:
            self._taken -= body.bytes
            route = getattr(scope.get("route"), "path", "other")
            self._metrics.answered(route, status, time.perf_counter() - start)

    def take(self, count: int) -> None:
        """Take in bytes. Raises Refusal if all requests together hold too many."""
        if self._taken + count > self.limits.bytes_at_once:
            raise Refusal(503, "the server is busy with other uploads; try again in a moment", retry_after=2)
        self._taken += count


class _Counted:
    """The body of a request, counted as it comes and given up if it is too large or too slow."""

    def __init__(self, guard: Guard, receive: Receive, scope: Scope) -> None:
        self._guard, self._receive = guard, receive
        self._announced = Headers(scope=scope).get("content-length", "")
        self._deadline = time.monotonic() + guard.limits.upload_seconds
        self._complete = False
        self.bytes = 0

    def check_heading(self) -> None:
        """Refuse a body by the size that is announced, before any of it is received."""
        if self._announced.isdecimal() and int(self._announced[:20]) > self._guard.limits.bytes:
            raise self._too_large()

    async def receive(self) -> Message:
        if self._complete:  # from now on it waits for the client to hang up
            return await self._receive()
        left = self._deadline - time.monotonic()
        try:
            message = await asyncio.wait_for(self._receive(), max(0.0, left))
        except TimeoutError:
            raise Refusal(
                408, f"the request took longer than {self._guard.limits.upload_seconds:g} s"
            ) from None
        count = len(message.get("body", b""))
        if self.bytes + count > self._guard.limits.bytes:
            raise self._too_large()
        self._guard.take(count)
        self.bytes += count
        self._complete = message["type"] == "http.request" and not message.get("more_body", False)
        return message

    def _too_large(self) -> Refusal:
        return Refusal(413, f"a request may have {self._guard.limits.bytes:,} bytes; send less at a time")


def check_place(scope: Scope, hosts: frozenset[str] | None) -> None:
    """Raise Refusal for a request to a name that is not the server's, or sent by a page of another site."""
    headers = Headers(scope=scope)
    host = headers.get("host", "")
    if hosts is not None and _name(host) not in hosts:
        raise Refusal(403, "this server does not answer to that name; open it by the address it printed")
    origin = headers.get("origin")
    # "null" is the origin of a sandboxed page, or of a file.
    if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
        raise Refusal(403, "requests of other sites are refused")
    site = headers.get("sec-fetch-site", "none")
    entered = scope["method"] == "GET" and scope["path"] == ENTRANCE
    if site not in ("none", "same-origin") and not entered:
        raise Refusal(403, "requests of other sites are refused")


def _name(host: str) -> str:
    """A host without its port.

    >>> _name("localhost:8000"), _name("[::1]:8000"), _name("Example.org")
    ('localhost', '[::1]', 'example.org')
    """
    bare, _, port = host.rpartition(":")
    return (bare if bare and port.isdecimal() else host).lower()


def refused(refusal: Refusal) -> JSONResponse:
    """A refusal as the client gets it."""
    sentence = refusal.sentence.encode("utf-8", "replace").decode()  # it may quote half a character
    return JSONResponse({"error": sentence}, refusal.status, refusal.headers)
