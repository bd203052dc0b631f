"""What a client is given reaches the operation as it is, and is refused or stored as in process."""

import datetime as dt
import decimal
import enum
import os
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hydramem.core.errors import HydraMemError, InvalidInputError
from hydramem.core.inputs import (
    MemoryInput,
    Progress,
    SaidTurn,
)
from hydramem.sharing.client import Client
from hydramem.sharing.wire.exact_values import from_wire, given_once, packed, to_wire, unpacked
from tests.engines import ENGINE
from tests.examples import FEW
from tests.sharing.served import Served, served


class Colour(enum.Enum):
    """No operation takes it."""

    RED = "red"


class Named(str):
    """A kind of text."""


def nested(depth: int) -> list[Any]:
    """Return a list in a list, and so on."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


STRANGE = [
    b"bytes",
    5,
    None,
    True,
    1.5,
    float("nan"),
    10**30,
    [],
    {},
    {1: 2, (1, 2): 3},
    {"a", "b"},
    uuid.UUID(int=7),
    decimal.Decimal("1.5"),
    Colour.RED,
    object(),
    Path("x"),
    dt.datetime(2024, 1, 1, 12, 30),
    dt.timedelta(1),
    "\ud800",
    "a\x00b",
    "x" * 10_000,
    nested(5_000),
    np.int64(3),
    np.float64(0.5),
    np.array([1, 2]),
    MemoryInput(text="A memory."),
    SaidTurn(author="user", text="Words."),
    [{"text": "no MemoryInput"}],
    [MemoryInput(text=b"bytes")],  # type: ignore[arg-type]
    Named("A kind of text."),
]


def uses(value: Any) -> list[tuple[str, tuple[Any, ...], dict[str, Any]]]:
    """Return calls that are given the value in each place."""
    return [
        ("remember", (value,), {}),
        ("remember", ("Base text.",), {"metadata": value}),
        ("remember", ("Base text.",), {"metadata": {"k": value}}),
        ("remember", ("Base text.",), {"categories": value}),
        ("remember", ("Base text.",), {"importance": value}),
        ("remember", ("An event.",), {"kind": "event", "happened_at": value}),
        ("remember", ("Base text.",), {"project": value}),
        ("remember_many", (value,), {}),
        ("capture", ("talk", value), {}),
        ("forget", (value,), {}),
        ("get", (value,), {}),
        ("recall", (value,), {}),
        ("recall", ("text",), {"limit": value}),
        ("recall", ("text",), {"arms": value}),
        ("memories", (), {"kinds": value}),
        ("relate", ("Ada", value, "Bo"), {}),
        ("timeline", (value,), {}),
        ("dump", (value,), {}),
        ("garden", (), {"phases": value}),
    ]


@pytest.fixture(scope="module")
def owner(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    folder = tmp_path_factory.mktemp("given")
    before = Path.cwd()
    os.chdir(folder)
    with served(folder / "store", engine=ENGINE) as owner:
        yield owner
    os.chdir(before)


@pytest.fixture(scope="module")
def client(owner: Served) -> Iterator[Client]:
    with owner.client() as client:
        yield client


def outcome(memory: Any, name: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
    """Return the type of a result, or the error."""
    try:
        return type(getattr(memory, name)(*args, **options))
    except Exception as error:  # noqa: BLE001 -- whatever it is, it is compared
        return error


@pytest.mark.parametrize("value", STRANGE, ids=lambda value: type(value).__name__)
def test_what_is_refused_in_process_is_refused_by_a_client(owner: Served, client: Client, value: Any) -> None:
    for name, args, options in uses(value):
        if name == "dump" and isinstance(value, str) and len(value) < 100:
            continue  # the second dump into one folder is refused
        mine = outcome(client, name, args, options)
        expected = outcome(owner.memory, name, args, options)
        where = (name, args if len(repr(type(value))) < 100 else (), mine, expected)
        if isinstance(mine, InvalidInputError) and "cannot be given" in str(mine):
            assert _is_no_plain_data(value), where  # and in process it is refused, or never looked at
            continue
        assert isinstance(mine, Exception) == isinstance(expected, Exception), where
        if isinstance(expected, HydraMemError):
            assert type(mine) is type(expected), where
            # A path is made absolute, a kind of text or number becomes that, and a set has no order.
            if name != "dump" and not isinstance(value, np.float64 | Named | set):
                assert str(mine) == str(expected)
        elif not isinstance(expected, Exception):
            assert mine is expected, where


def _is_no_plain_data(value: Any) -> bool:
    kinds = (uuid.UUID, decimal.Decimal, enum.Enum, dt.timedelta, np.generic, np.ndarray)
    if isinstance(value, dict):
        return any(isinstance(key, tuple) for key in value)
    return isinstance(value, kinds) or type(value) is object or value == [] or _depth(value) > 500


def _depth(value: Any) -> int:
    depth = 0
    while isinstance(value, list) and value:
        value, depth = value[0], depth + 1
    return depth


def test_a_generator_is_read_once(client: Client) -> None:
    made = client.remember("Ada meets Bo.", entities=(name for name in ["Ada", "Bo"]))
    assert made.entities == ("Ada", "Bo")
    plain = {"b": (1,), "c": {"k": 1}, "d": "text"}
    assert given_once({"a": iter("xy"), **plain}) == {"a": ["x", "y"], **plain}


def test_times_arrive_with_their_zone(owner: Served, client: Client) -> None:
    at = dt.datetime(2024, 5, 1, 9, tzinfo=dt.timezone(dt.timedelta(hours=-7)))
    id = client.remember("Release 7 is out.", kind="event", happened_at=at).id
    assert owner.memory.get(id).happened_at == client.get(id).happened_at == at
    with pytest.raises(InvalidInputError, match="no time zone"):
        client.remember("Release 8 is out.", kind="event", happened_at=at.replace(tzinfo=None))


def test_unknown_and_missing_arguments_are_type_errors(client: Client) -> None:
    for call in (
        lambda: client.remember("x", nonsense=1),
        lambda: client.recall(),
        lambda: client.get("a", "b"),
        lambda: client.memories(3),
        lambda: client.recall("x", progress=print),
        lambda: client.remember("x", self=1),
    ):
        with pytest.raises(TypeError):
            call()


@FEW
@given(
    st.recursive(
        st.none()
        | st.booleans()
        | st.integers()
        | st.floats(allow_nan=False)
        | st.text(st.characters(exclude_categories=()))
        | st.binary()
        | st.datetimes(timezones=st.none() | st.just(dt.UTC))
        | st.dates()
        | st.builds(Path, st.text("ab/", max_size=5))
        | st.builds(MemoryInput, text=st.text(), metadata=st.dictionaries(st.text(), st.integers()))
        | st.builds(Progress, done=st.integers(), total=st.integers(), what=st.text()),
        lambda parts: (
            st.lists(parts, max_size=4)
            | st.lists(parts, max_size=4).map(tuple)
            | st.dictionaries(st.text() | st.integers(), parts, max_size=4)
        ),
        max_leaves=20,
    )
)
def test_any_plain_value_arrives_as_it_was(value: Any) -> None:
    assert from_wire(to_wire({"it": value})) == {"it": value}
    assert unpacked(packed(value)) == value
    assert type(unpacked(packed(value))) is type(value)


@FEW
@given(st.binary(max_size=200))
def test_arguments_of_any_bytes_are_a_clear_error(content: bytes) -> None:
    try:
        read = from_wire(content)  # type: ignore[arg-type]
    except InvalidInputError:
        return
    assert isinstance(read, dict)


def test_no_other_type_can_be_named() -> None:
    pack = msgspec.msgpack.encode
    for kind in ("builtins:exec", "os:system", "hydramem.core.errors:HydraMemError", "", ":"):
        content = pack({"a": msgspec.msgpack.Ext(1, pack([kind, {}]))})
        with pytest.raises(InvalidInputError, match="no value is called"):
            from_wire(msgspec.Raw(content))
