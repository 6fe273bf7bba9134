"""Tokens are kept as hashes, and each may do what its role says."""

import hmac

import pytest

from samekind.errors import SettingError, SpaceError
from samekind.serving import tokens as module
from samekind.serving.tokens import Caller, Tokens


@pytest.fixture
def tokens(tmp_path):
    return Tokens(tmp_path / "state" / "tokens.json")


def test_a_token_is_known_and_its_file_does_not_hold_it(tokens):
    token = tokens.new("anna", "enrol")
    text = tokens.path.read_text()
    assert token not in text
    assert token.removeprefix("samekind_") not in text
    assert tokens.path.stat().st_mode & 0o777 == 0o600
    assert Tokens(tokens.path).caller(token) == Caller("anna", "enrol")
    assert tokens.caller(token + "x") is None
    assert tokens.caller("") is None


def test_a_token_of_another_process_counts_at_once_and_a_revoked_one_no_more(tokens):
    other = Tokens(tokens.path)
    token = tokens.new("anna", "read")
    assert other.caller(token) == Caller("anna", "read")
    other.revoke("anna")
    assert tokens.caller(token) is None
    assert len(tokens) == 0


def test_every_hash_is_compared_in_constant_time(tokens, monkeypatch):
    made = [tokens.new(name, "read") for name in ("a", "b", "c")]
    compared, plain = [], hmac.compare_digest

    def compare(first, second):
        compared.append(second)
        return plain(first, second)

    monkeypatch.setattr(module.hmac, "compare_digest", compare)
    tokens.caller(made[0])
    assert len(compared) == 3  # also behind the right one


def test_roles_include_the_lesser_ones():
    assert [[Caller("x", role).may(other) for other in module.ROLES] for role in module.ROLES] == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


@pytest.mark.parametrize(
    ("name", "role"), [("anna", "boss"), ("", "read"), ("a b", "read"), ("x" * 61, "read")]
)
def test_refuses_a_wrong_name_or_role(tokens, name, role):
    with pytest.raises(SettingError):
        tokens.new(name, role)


def test_refuses_a_name_twice_and_an_unknown_one(tokens):
    tokens.new("anna", "read")
    with pytest.raises(SettingError, match="there is a token"):
        tokens.new("anna", "admin")
    with pytest.raises(SettingError, match='did you mean "anna"'):
        tokens.revoke("ana")


@pytest.mark.parametrize(
    "content", ["", "{}", '{"tokens": [{"name": "a", "role": "x", "sha256": "00"}]}', "[]"]
)
def test_a_damaged_file_lets_nobody_in(tokens, content):
    tokens.path.parent.mkdir()
    tokens.path.write_text(content)
    with pytest.raises(SpaceError, match="is damaged"):
        tokens.caller("x")
