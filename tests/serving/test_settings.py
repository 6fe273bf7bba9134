"""What a client is told about the limits."""

from samekind.serving.settings import Limits


def test_clients_know_what_concerns_them():
    assert Limits(items=5).to_json() == {
        "bytes": 32 * 2**20,
        "pixels": 50_000_000,
        "seconds": 600.0,
        "items": 5,
        "found": 1000,
        "rate": "1200/minute",
    }
