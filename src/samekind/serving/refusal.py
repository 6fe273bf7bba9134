"""Refused requests: the message for the client, and the HTTP status of each error."""

from samekind.errors import IndexServerError, SamekindError


class Refusal(Exception):  # noqa: N818 (an answer to the client, not a fault of the program)
    """A request that is not answered: the status, a sentence for the client, and after how many seconds it
    may be tried again, if that helps.
    """

    def __init__(self, status: int, sentence: str, *, retry_after: int | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.retry_after = status, sentence, retry_after

    @property
    def headers(self) -> dict[str, str]:
        """The headers that belong to the status."""
        headers = {} if self.retry_after is None else {"Retry-After": str(self.retry_after)}
        return {**headers, "WWW-Authenticate": "Bearer"} if self.status == 401 else headers


def class_taken(name: str) -> Refusal:
    """The refusal of a name that another class has."""
    return Refusal(409, f'the class "{name}" is already there; ask to replace it, or choose another name')


def refusal_of(error: SamekindError) -> Refusal:
    """The refusal for a mistake of the client, or for a server of an index that does not answer."""
    if isinstance(error, IndexServerError):
        return Refusal(503, "the server of the index does not answer; try again later", retry_after=5)
    return Refusal(400, " ".join(str(error).split()))
