"""Requests to the page's server as a program makes them: any method, any header, any path as it stands."""

import http.client
import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True, kw_only=True)
class PageReply:
    """What the server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def code(self) -> str:
        """The code of the error."""
        return str(self.json["error"]["code"])


class PageClient:
    """A client of the page at an address, as `hydramem view` prints it."""

    def __init__(self, address: str) -> None:
        parts = urlsplit(address)
        self.host = parts.netloc
        self.token = parts.fragment.removeprefix("token=")

    def headers(self) -> dict[str, str]:
        """The headers that the page sends."""
        return {
            "Host": self.host,
            "Origin": f"http://{self.host}",
            "Sec-Fetch-Site": "same-origin",
            "Authorization": f"Bearer {self.token}",
            "Content-Type": "application/json",
        }

    def ask(
        self, method: str, path: str, body: object = None, *, without: str = "", **changed: str
    ) -> PageReply:
        """Send a request.

        Args:
            method, path: As they go over the wire.
            body: Bytes as they are, or a value that is sent as JSON.
            without: A header that is left out.
            changed: Headers by name, with `_` for `-`, in place of those that the page sends.
        """
        given = {name.replace("_", "-").title(): value for name, value in changed.items()}
        headers = {name: value for name, value in (self.headers() | given).items() if name != without}
        sent = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        connection = http.client.HTTPConnection(self.host, timeout=30)
        try:
            connection.putrequest(method, path, skip_host=True)
            for name, value in headers.items():
                connection.putheader(name, value)
            connection.putheader("Content-Length", str(len(sent or b"")))
            connection.endheaders(sent)
            reply = connection.getresponse()
            return PageReply(
                status=reply.status,
                headers={name.lower(): value for name, value in reply.getheaders()},
                body=reply.read(),
            )
        finally:
            connection.close()

    def call(self, operation: str, key: str | None = None, /, **arguments: object) -> PageReply:
        """Call an operation as the page does."""
        keys = {} if key is None else {"idempotency_key": key}
        return self.ask("POST", f"/api/call/{operation}", arguments, **keys)

    def result(self, operation: str, /, **arguments: object) -> Any:
        """Call an operation, and return its result."""
        reply = self.call(operation, **arguments)
        assert reply.status == 200, reply.body
        return reply.json["result"]

    def start(self, operation: str, /, **arguments: object) -> str:
        """Start an operation as a job; return its id."""
        reply = self.ask("POST", f"/api/jobs/{operation}", arguments)
        assert reply.status == 202, reply.body
        return str(reply.json["job"])

    def job(self, id: str) -> Any:
        """Return the state of a job."""
        return self.ask("GET", f"/api/jobs/{id}").json
