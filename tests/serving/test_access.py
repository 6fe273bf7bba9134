"""Who may ask what, and how often."""

import pytest

from samekind.serving.tokens import Tokens


@pytest.fixture
def tokens(tmp_path):
    """A token for each role."""
    known = Tokens(tmp_path / "tokens.json")
    return {role: {"Authorization": f"Bearer {known.new(role, role)}"} for role in ("read", "enrol", "admin")}


@pytest.fixture
def guarded(serve, space_folder, gallery_folder, tokens, tmp_path):
    return serve(space_folder, index=gallery_folder, tokens=tmp_path / "tokens.json", failed_rate="5/minute")


CALLS = [
    ("GET", "/info", "read"),
    ("GET", "/classes", "read"),
    ("GET", "/metrics", "read"),
    ("GET", "/tree", "read"),
    ("GET", "/tradeoff", "read"),
    ("GET", "/measures", "read"),
    ("GET", "/map", "read"),
    ("GET", "/items/thumbnail?id=x", "read"),
    ("POST", "/embed", "read"),
    ("POST", "/compare", "read"),
    ("POST", "/classify", "read"),
    ("POST", "/search", "read"),
    ("POST", "/attention", "read"),
    ("POST", "/enroll", "enrol"),
    ("PATCH", "/classes", "admin"),
    ("DELETE", "/classes", "admin"),
    ("PUT", "/decision", "admin"),
]


def test_every_route_asks_for_its_role(guarded, tokens, quick_maps):
    described = guarded.get("/openapi.json").json()["paths"]
    routes = {(method.upper(), path) for path, methods in described.items() for method in methods}
    assert routes - {(method, path.partition("?")[0]) for method, path, _ in CALLS} == {("GET", "/health")}
    roles = list(tokens)
    for method, path, needed in CALLS:
        assert guarded.request(method, path).status_code == 401, path
        for role in roles:
            status = guarded.request(method, path, headers=tokens[role]).status_code
            assert (status == 403) == (roles.index(role) < roles.index(needed)), (path, role, status)


def test_the_page_and_the_health_need_no_token(guarded):
    assert guarded.get("/health").status_code == 200
    assert guarded.get("/").status_code == 200


@pytest.mark.parametrize("value", ["Bearer", "Bearer wrong", "Basic abc", "Bearer \xff", "bearer"])
def test_a_wrong_token_is_refused(guarded, value):
    answer = guarded.get("/info", headers={"Authorization": value.encode("latin-1")})
    assert answer.status_code == 401
    assert answer.headers["WWW-Authenticate"] == "Bearer"


def test_guessing_is_stopped(guarded, tokens):
    statuses = [guarded.get("/info", headers={"Authorization": f"Bearer {n}"}).status_code for n in range(8)]
    assert statuses == [401] * 5 + [429] * 3


def test_one_who_asks_too_often_waits(serve, saved_space):
    client = serve(saved_space, rate="3/minute")
    answers = [client.get("/classes") for _ in range(5)]
    assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
    assert answers[-1].headers["Retry-After"]


def test_the_role_is_reported(guarded, tokens):
    assert guarded.get("/info", headers=tokens["enrol"]).json()["role"] == "enrol"
