"""JSON-RPC 2.0 as MCP uses it over pipes: one message a line, read and written.

Specification: https://www.jsonrpc.org/specification.
"""

import json
import threading
from dataclasses import dataclass, field
from typing import Any, BinaryIO

import msgspec

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND = -32700, -32600, -32601
INVALID_PARAMS, INTERNAL_ERROR = -32602, -32603


class RpcError(Exception):
    """A request that is answered with an error.

    Attributes:
        code: What kind of error; negative, as JSON-RPC and MCP define them.
        data: Further JSON about it; None where there is none.
    """

    def __init__(self, code: int, message: str, data: object = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A request, or a notification, which has no id and gets no answer."""

    method: str
    id: str | int | None = None
    params: dict[str, Any] = field(default_factory=dict)


def read_message(line: bytes) -> Message | None:
    """Return the message of a line; None for an answer, as this server asks nothing.

    Raises:
        MalformedError: It is no message.
    """
    try:
        said = msgspec.json.decode(line)
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise MalformedError(PARSE_ERROR, f"Parse error: {error}") from error
    if not isinstance(said, dict) or said.get("jsonrpc") != "2.0":
        raise MalformedError(INVALID_REQUEST, "Invalid request: not a JSON-RPC 2.0 message")
    if "method" not in said and ("result" in said or "error" in said):
        return None
    identity = said.get("id")
    if "id" in said and (not isinstance(identity, str | int) or isinstance(identity, bool)):
        raise MalformedError(INVALID_REQUEST, "Invalid request: `id` is neither a text nor a whole number")
    method, params = said.get("method"), said.get("params", {})
    if not isinstance(method, str):
        raise MalformedError(INVALID_REQUEST, "Invalid request: `method` is no text", identity)
    if not isinstance(params, dict):
        raise MalformedError(INVALID_PARAMS, "Invalid params: not an object", identity)
    return Message(method=method, id=identity, params=params)


class MalformedError(RpcError):
    """A line that is no message.

    Attributes:
        id: The id that it names; None where it names none.
    """

    def __init__(self, code: int, message: str, identity: str | int | None = None) -> None:
        super().__init__(code, message)
        self.id = identity


class Writer:
    """Writes messages, a line each, from any thread; once the reader is gone, nothing."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._one = threading.Lock()
        self._gone = False

    def result(self, identity: str | int | None, result: dict[str, Any]) -> None:
        """Answer a request."""
        self._write({"jsonrpc": "2.0", "id": identity, "result": result})

    def error(self, identity: str | int | None, error: RpcError) -> None:
        """Answer a request with an error; the id is null where the request named none."""
        data = {} if error.data is None else {"data": error.data}
        said = {"code": error.code, "message": str(error), **data}
        self._write({"jsonrpc": "2.0", "id": identity, "error": said})

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Send a notification."""
        self._write({"jsonrpc": "2.0", "method": method, "params": params})

    def _write(self, message: dict[str, Any]) -> None:
        # What UTF-8 cannot hold, such as half of a surrogate pair, becomes a question mark.
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
        with self._one:
            if self._gone:
                return
            try:
                self._stream.write(line + b"\n")
                self._stream.flush()
            except OSError:
                self._gone = True
