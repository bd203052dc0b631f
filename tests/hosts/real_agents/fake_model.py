"""A model on loopback that says one text to whoever asks, and keeps every request.

It is also the proxy of the agents that it serves: a request that would leave the machine is refused and
kept, so that a test can tell.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.hosts.real_agents.wire_formats import answer


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request for an answer: the path, and the body as the agent sent it."""

    path: str
    body: dict[str, object]

    @property
    def text(self) -> str:
        """The whole body as JSON, where a text is found however it is wrapped."""
        return json.dumps(self.body, ensure_ascii=False)


@dataclass(slots=True)
class FakeModel:
    """What was asked so far, in order, and what is answered from now on."""

    address: str
    reply: str = "Noted."
    requests: list[ModelRequest] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    """Hosts beyond this machine that were asked for."""

    def take_requests(self) -> list[ModelRequest]:
        """Return what was asked since the last time."""
        taken, self.requests = self.requests, []
        return taken


@contextmanager
def fake_model() -> Iterator[FakeModel]:
    """Serve a model on a free port of loopback."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _ModelHandler)
    server.daemon_threads = True
    model = FakeModel(f"http://127.0.0.1:{server.server_port}")
    server.model = model  # type: ignore[attr-defined]  # the handler finds it there
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class _ModelHandler(BaseHTTPRequestHandler):
    """One connection of an agent."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        if self._leaves():
            return
        body = json.loads(raw or b"{}")
        self._model.requests.append(ModelRequest(self.path, body))
        said = answer(self.path, body, self._model.reply)
        self._send(200, said.media_type, said.body)

    def do_GET(self) -> None:
        """Lists of models are empty."""
        if not self._leaves():
            self._send(200, "application/json", '{"data": [], "models": []}')

    def do_HEAD(self) -> None:
        if not self._leaves():
            self._send(200, "application/json", "")

    def do_CONNECT(self) -> None:
        self._model.refused.append(self.path)
        self._send(403, "text/plain", "")

    def log_message(self, *_: object) -> None:
        """Keep the output of the tests clean."""

    @property
    def _model(self) -> FakeModel:
        return self.server.model  # type: ignore[attr-defined,no-any-return]

    def _leaves(self) -> bool:
        """Refuse a request to another host, which has its name in the path."""
        if self.path.startswith("/"):
            return False
        self._model.refused.append(self.path)
        self._send(403, "text/plain", "")
        return True

    def _send(self, status: int, media_type: str, body: str) -> None:
        content = body.encode()
        self.send_response(status)
        self.send_header("Content-Type", media_type)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
