"""Tokens: made, known, revoked, and kept in a file."""

import json
import stat
import threading
from datetime import timedelta
from pathlib import Path

import pytest

from hydramem.cli.main import run
from hydramem.core.errors import InvalidInputError, NotFoundError, StorageError
from hydramem.core.time import clock
from hydramem.server.http.known_tokens import KnownTokens, bearer_of, token_hash
from hydramem.storage.changes import is_agent
from hydramem.storage.tokens.token_file import FILE, TokenFile
from hydramem.storage.tokens.token_rows import PREFIX, good_token, make_token, revoke_token
from hydramem.telemetry.observed_results import surface_of


@pytest.fixture
def store(tmp_path: Path) -> TokenFile:
    return TokenFile(tmp_path)


def test_a_token_has_256_bits_and_is_in_no_file(store, tmp_path):
    row, token = make_token(store, "ann", role="writer", projects=["billing"])
    assert token.startswith(PREFIX) and len(token) >= len(PREFIX) + 43
    assert token not in (tmp_path / FILE).read_text()
    assert stat.S_IMODE((tmp_path / FILE).stat().st_mode) == 0o600
    assert good_token(store.rows(), token) == row
    assert make_token(store, "bob", role="writer")[1] != token


@pytest.mark.parametrize("wrong", ["", "hm_", "x" * 100_000, "\ud800", "hm_\x00\x01", "Bearer x"])
def test_another_text_is_no_token(store, wrong):
    _, token = make_token(store, "ann", role="reader")
    assert good_token(store.rows(), wrong) is None
    for near in (token[:-1], token + " ", token.swapcase(), wrong + token):
        assert near == token or good_token(store.rows(), near) is None


def test_a_revoked_or_expired_token_is_not_good(store):
    _, token = make_token(store, "ann", role="reader")
    with pytest.raises(InvalidInputError, match="ann"):
        make_token(store, "ann", role="reader")
    revoke_token(store, "ann")
    assert good_token(store.rows(), token) is None
    with pytest.raises(NotFoundError):
        revoke_token(store, "ann")
    _, other = make_token(store, "ann", role="reader", expires_at=clock() + timedelta(hours=1))
    assert good_token(store.rows(), other) is not None
    row = store.rows()[-1]
    assert not row.is_good(row.expires_at)
    with pytest.raises(InvalidInputError, match="is over"):
        make_token(store, "bo", role="reader", expires_at=clock() - timedelta(days=1))
    assert [each.name for each in store.rows()] == ["ann", "ann"]


@pytest.mark.parametrize("name", ["", "a b", "-x", "../x", "a" * 65, "a\x00", "token:x", "é"])
def test_a_name_that_could_be_taken_for_another_is_refused(store, name):
    with pytest.raises(InvalidInputError, match="name"):
        make_token(store, name, role="reader")
    with pytest.raises(InvalidInputError, match="role"):
        make_token(store, "x", role="root")  # type: ignore[arg-type]
    with pytest.raises(InvalidInputError, match="project"):
        make_token(store, "x", role="reader", projects=["../x"])
    assert store.rows() == ()


@pytest.mark.parametrize("content", ["", "{", "[]x", '[{"name": "ann"}]', '[{"role": "root"}]', "\x00"])
def test_a_damaged_file_accepts_nobody(store, tmp_path, content):
    _, token = make_token(store, "ann", role="owner")
    (tmp_path / FILE).write_text(content)
    with pytest.raises(StorageError, match="damaged"):
        store.rows()
    known = KnownTokens(store=TokenFile(tmp_path), environment=None, tools="agent", project="default")
    with pytest.raises(StorageError):
        known.access(token)


def test_the_environments_token_may_do_everything_that_is_shown(tmp_path):
    known = KnownTokens(
        store=TokenFile(tmp_path), environment=token_hash("s3cret"), tools="reader", project="default"
    )
    access = known.access("s3cret")
    assert access is not None
    assert (access.actor, access.role, access.projects) == ("mcp", "owner", ())
    assert access.tools == {"recall", "prime", "get"}
    for wrong in ("", "s3cret ", "S3CRET", "\ud800", "é"):
        assert known.access(wrong) is None


def test_tokens_made_at_once_are_seen_by_all_at_once(store, tmp_path):
    other, made = TokenFile(tmp_path), list[str]()
    assert other.rows() == ()

    def make(number: int) -> None:
        made.append(make_token(TokenFile(tmp_path), f"agent-{number}", role="reader")[1])

    threads = [threading.Thread(target=make, args=(number,)) for number in range(8)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert {row.name for row in other.rows()} == {f"agent-{number}" for number in range(8)}
    assert all(good_token(other.rows(), token) for token in made)
    for number in range(8):
        revoke_token(store, f"agent-{number}")
    assert not any(good_token(other.rows(), token) for token in made)


def test_a_token_is_an_agents_and_is_refused_where_its_tools_are_gone(store):
    row, token = make_token(store, "ann", role="owner", tools="no_such_tool")
    known = KnownTokens(store=store, environment=None, tools="agent", project="default")
    assert known.access(token) is None
    assert row.actor == "token:ann" and is_agent(row.actor) and is_agent("mcp")
    assert surface_of(row.actor) == "mcp", "its name is in no telemetry"
    assert not is_agent("cli") and not is_agent("view")


def test_of_its_projects_the_servers_own_is_the_first(store):
    _, token = make_token(store, "ann", role="writer", projects=["a", "default", "b"])
    known = KnownTokens(store=store, environment=None, tools="all", project="default")
    access = known.access(token)
    assert access is not None and access.projects == ("default", "a", "b")
    assert {"ingest", "stats", "garden", "backup", "erase"}.isdisjoint(access.tools)
    assert {"remember", "forget", "recall"} <= access.tools


@pytest.mark.parametrize(
    ("headers", "token"),
    [
        ([(b"authorization", b"Bearer abc")], "abc"),
        ([(b"Authorization", b"bearer abc")], "abc"),
        ([(b"authorization", b"Basic abc")], ""),
        ([(b"authorization", b"abc")], ""),
        ([], ""),
        ([(b"authorization", b"Bearer abc"), (b"authorization", b"Bearer def")], ""),
        ([(b"authorization", b"Bearer \xff\x00")], "\xff\x00"),
    ],
)
def test_the_token_of_a_request_is_that_of_its_only_header(headers, token):
    assert bearer_of(headers) == token


def test_the_command_makes_lists_and_revokes(tmp_path, capsys):
    own = ["--json", "--store", str(tmp_path)]
    assert run([*own, "token", "make", "ann", "--role", "writer", "--projects", "a", "--projects", "b"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["projects"] == ["a", "b"]
    assert good_token(TokenFile(tmp_path).rows(), made["token"]) is not None
    assert run([*own, "--project", "c", "token", "make", "bo", "--role", "reader"]) == 0
    assert json.loads(capsys.readouterr().out)["projects"] == ["c"]
    assert (
        run([*own, "token", "make", "cy", "--role", "owner", "--all-projects", "--expires", "2999-01-01"])
        == 0
    )
    capsys.readouterr()
    assert run([*own, "token", "revoke", "ann"]) == 0
    assert json.loads(capsys.readouterr().out)["state"] == "revoked"
    assert run([*own, "token", "list"]) == 0
    shown = capsys.readouterr().out
    assert [(row["name"], row["state"]) for row in json.loads(shown)] == [
        ("ann", "revoked"),
        ("bo", "good"),
        ("cy", "good"),
    ]
    assert made["token"] not in shown and token_hash(made["token"]).hex() not in shown


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--role", "reader"], "--all-projects"),
        (["--role", "reader", "--projects", "a", "--all-projects"], "--all-projects"),
        (["--role", "reader", "--projects", "a", "--tools", "nonsense"], "nonsense"),
        (["--role", "reader", "--projects", "a", "--expires", "2001-01-01"], "is over"),
    ],
)
def test_the_command_says_what_is_wrong(tmp_path, capsys, given, said):
    assert run(["--store", str(tmp_path), "token", "make", "ann", *given]) == 1
    assert said in capsys.readouterr().err
    assert TokenFile(tmp_path).rows() == ()
