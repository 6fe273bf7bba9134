"""Access to a server: the caller, what that caller may do, and how often."""

from fastapi import Request
from limits import parse
from limits.storage import MemoryStorage
from limits.strategies import MovingWindowRateLimiter

from samekind.errors import SettingError
from samekind.serving.refusal import Refusal
from samekind.serving.settings import ServerSettings
from samekind.serving.tokens import Caller, Role, Tokens

NEEDED = "this server asks for a token: send it as Authorization: Bearer TOKEN"


class Access:
    """The callers of one server."""

    def __init__(self, settings: ServerSettings) -> None:
        self._tokens = None if settings.tokens is None else Tokens(settings.tokens)
        self._limiter = MovingWindowRateLimiter(MemoryStorage())
        try:
            self._rate, self._failed = parse(settings.limits.rate), parse(settings.limits.failed_rate)
        except ValueError as error:
            raise SettingError(f'a rate is written as "1200/minute": {error}') from error

    def caller(self, request: Request, role: Role) -> Caller:
        """The caller of a request. Raises Refusal without a valid token where one is needed, for a caller
        that asks too often, and for one without the role.
        """
        place = request.client.host if request.client else "unknown"
        caller = Caller(place, "admin") if self._tokens is None else self._known(self._tokens, request, place)
        if not self._limiter.hit(self._rate, "asks", caller.name):
            raise Refusal(429, f"more than {self._rate}; try again in a moment", retry_after=1)
        if not caller.may(role):
            raise Refusal(403, f'this needs the role "{role}"; the token has "{caller.role}"')
        return caller

    def _known(self, tokens: Tokens, request: Request, place: str) -> Caller:
        if not self._limiter.test(self._failed, "fails", place):
            raise Refusal(429, "too many tokens that are not valid; try again later", retry_after=60)
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not token.strip():
            raise Refusal(401, NEEDED)
        caller = tokens.caller(token.strip())
        if caller is None:
            self._limiter.hit(self._failed, "fails", place)
            raise Refusal(401, "this token is not valid here; ask for a new one")
        return caller
