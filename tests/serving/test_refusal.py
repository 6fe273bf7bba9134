"""Errors and the statuses they stand for."""

from samekind.errors import DataError, IndexServerError
from samekind.serving.refusal import Refusal, refusal_of


def test_a_mistake_is_reported_in_one_line():
    refusal = refusal_of(DataError("cannot read it:\n  it is broken"))
    assert (refusal.status, refusal.sentence) == (400, "cannot read it: it is broken")


def test_the_address_of_a_database_is_not_told():
    refusal = refusal_of(IndexServerError("the PostgreSQL server at host=secret does not answer"))
    assert (refusal.status, refusal.headers) == (503, {"Retry-After": "5"})
    assert "secret" not in refusal.sentence


def test_headers_belong_to_the_status():
    assert Refusal(401, "x").headers == {"WWW-Authenticate": "Bearer"}
    assert Refusal(404, "x").headers == {}
