"""What an owner and its clients say to each other, and how both prove that they may.

A client sends `Hello`, the owner `Welcome` with its proof, the client `Proof`: both know the key of the
owner's note, which only the store's user can read, and neither sends it. Then the client sends a `Call` and
reads `Report`s until a `CallResult` or a `Failure` ends it. Closing the connection cancels the call.
`Hello`, `Welcome`, `Proof` and a `Call` of `LEAVE` stay as they are in every version of the protocol.
"""

import hashlib
import hmac

import msgspec

from hydramem.core.inputs import Progress

PROTOCOL = 2
"""Raised when a message changes its meaning; owner and client must have the same."""

LEAVE, STATUS, CONFIG = "owner.leave", "owner.status", "owner.config"
EMBEDDER, END_SESSION = "owner.embedder", "owner.end_session"
"""Calls of the owner itself, beside the operations."""


NO_ARGUMENTS = msgspec.Raw(msgspec.msgpack.encode({}))


class Hello(msgspec.Struct, tag=True, frozen=True):
    """The first message of a client."""

    protocol: int
    version: str
    nonce: bytes


class Welcome(msgspec.Struct, tag=True, frozen=True):
    """The owner's answer to `Hello`."""

    protocol: int
    version: str
    nonce: bytes
    proof: bytes


class Proof(msgspec.Struct, tag=True, frozen=True):
    """The client's proof, after `Welcome`."""

    proof: bytes


class Call(msgspec.Struct, tag=True, frozen=True, kw_only=True):
    """One call of an operation.

    Attributes:
        arguments: By name, as `call_arguments` encodes them.
        project: The client's own project.
        recalls_for: The session that recalls are recorded for (None: for none) and whether it is private;
            without it, that of the day.
        request: Id of a call that writes; the same id again is done once.
        reports: Whether the client wants the progress.
        within: Projects that the call may touch; None for every project.
    """

    operation: str
    project: str
    arguments: msgspec.Raw = NO_ARGUMENTS
    actor: str = "python"
    recalls_for: tuple[str | None, bool] | None = None
    request: str | None = None
    reports: bool = False
    within: tuple[str, ...] | None = None


class Report(msgspec.Struct, tag=True, frozen=True):
    """Progress of the call: the arguments of its callback."""

    values: list[Progress | bool | int | float | str | None]


class CallResult(msgspec.Struct, tag="Answer", frozen=True):
    """The result of the call; its type is that of the operation."""

    value: msgspec.Raw


class Failure(msgspec.Struct, tag=True, frozen=True):
    """The error of the call.

    Attributes:
        error: Name of its class.
        text: Its message in UTF-8; lone surrogates, as names of files have, are kept.
        repeats: Whether the owner leaves before it began the call, so that the next one can do it.
    """

    error: str
    text: bytes
    repeats: bool = False


ToOwner = Hello | Proof | Call
ToClient = Welcome | Report | CallResult | Failure


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """What an owner says of itself.

    Attributes:
        folder: The store.
        version: Of HydraMem.
        background: Whether it is there to serve others.
        clients: Open connections, besides the one that asks.
        calls: Calls that run or wait for their turn.
        idle_seconds: Since the last call ended.
        memory_mb: Memory that the process occupies, in MB; None where the system does not tell.
    """

    folder: str
    pid: int
    version: str
    background: bool
    since: str
    program: str
    clients: int
    calls: int
    idle_seconds: float
    memory_mb: int | None = None


def proof(key: str, side: bytes, client_nonce: bytes, owner_nonce: bytes) -> bytes:
    """Prove to know a key: HMAC-SHA256 (RFC 2104) of who proves it and both nonces."""
    return hmac.digest(bytes.fromhex(key), side + client_nonce + owner_nonce, hashlib.sha256)


def is_proof(given: bytes, key: str, side: bytes, client_nonce: bytes, owner_nonce: bytes) -> bool:
    """Check a proof of the other side, in constant time."""
    return hmac.compare_digest(given, proof(key, side, client_nonce, owner_nonce))
