"""A model hub on the loopback address: the parts of the Hugging Face protocol that fetching a model uses.

It describes repositories, answers for a file at a revision with its hash and commit, redirects large files
to another host, and sends ranges of them. What can go wrong is told to it: other content than it describes,
connections that break off, statuses.
"""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

COMMIT = "0123456789abcdef0123456789abcdef01234567"
_LARGE = (".onnx", ".safetensors")


@dataclass
class Request:
    method: str
    path: str
    headers: dict[str, str]


@dataclass
class LocalHub:
    """What the hub holds and does.

    Attributes:
        repositories: Files of each repository, by path.
        sent: Content that is sent for a path instead of what is described.
        breaks: Bytes after which the connection for a path breaks off, one number for each time.
        ends: Whether it answers 503 to everything after a connection broke off.
        statuses: What is answered, by how the path of a request begins, instead of what is there; `error` is
            its text.
        described: Whether it says the sizes and hashes of files beside their names.
        is_hub: Whether it says the commit and hash of a file that it sends, as hubs do.
        requests: What was asked.
    """

    repositories: dict[str, dict[str, bytes]]
    sent: dict[str, bytes] = field(default_factory=dict)
    breaks: dict[str, list[int]] = field(default_factory=dict)
    ends: bool = False
    statuses: dict[str, int] = field(default_factory=dict)
    described: bool = True
    is_hub: bool = True
    requests: list[Request] = field(default_factory=list)
    error: bytes = b'{"error": "no"}'
    address: str = ""

    def about(self, name: str) -> dict[str, Any]:
        files = [describe(path, data, self.described) for path, data in self.repositories[name].items()]
        return {"id": name, "modelId": name, "sha": COMMIT, "private": False, "siblings": files}


def describe(path: str, data: bytes, described: bool) -> dict[str, Any]:
    if not described:
        return {"rfilename": path}
    about: dict[str, Any] = {"rfilename": path, "size": len(data), "blobId": git_hash(data)}
    if path.endswith(_LARGE):
        sha256 = hashlib.sha256(data).hexdigest()
        about |= {"blobId": "0" * 40, "lfs": {"sha256": sha256, "size": len(data), "pointerSize": 130}}
    return about


def git_hash(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@contextmanager
def serving(hub: LocalHub) -> Iterator[LocalHub]:
    """Serve a hub on a free port until the block ends; `hub.address` is where."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            hub.requests.append(Request(self.command, self.path, dict(self.headers)))
            path = self.path.partition("?")[0]
            status = next((code for start, code in hub.statuses.items() if path.startswith(start)), None)
            if status is not None:
                self.reply(status, hub.error)
            elif path == "/":
                self.reply(200, b"a hub")
            elif path.startswith("/api/models/"):
                name = path.removeprefix("/api/models/").partition("/revision/")[0]
                if name in hub.repositories:
                    self.reply(
                        200, json.dumps(hub.about(name)).encode(), {"Content-Type": "application/json"}
                    )
                else:
                    self.reply(404, b'{"error": "Repository not found"}', {"X-Error-Code": "RepoNotFound"})
            elif path.startswith("/cdn/"):
                self.file(*path.removeprefix("/cdn/").split("@", 1))
            else:
                name, _, rest = path.removeprefix("/").partition("/resolve/")
                self.resolve(name, rest.partition("/")[2])

        do_GET = do_HEAD = answer  # noqa: N815 - the names that http.server calls

        def resolve(self, name: str, path: str) -> None:
            data = hub.repositories.get(name, {}).get(path)
            if data is None:
                self.reply(404, b"", {"X-Error-Code": "EntryNotFound", "X-Repo-Commit": COMMIT})
            elif path.endswith(_LARGE):
                etag = f'"{hashlib.sha256(data).hexdigest()}"'
                headers = {"X-Linked-Etag": etag, "X-Linked-Size": str(len(data)), "X-Repo-Commit": COMMIT}
                self.reply(302, b"", headers | {"Location": f"{elsewhere}/cdn/{name}@{path}"})
            else:
                self.file(name, path, {"ETag": f'"{git_hash(data)}"', "X-Repo-Commit": COMMIT})

        def file(self, name: str, path: str, headers: dict[str, str] | None = None) -> None:
            data = hub.sent.get(path, hub.repositories[name][path])
            status, headers = 200, dict(headers or {})
            if wanted := self.headers.get("Range"):
                start = int(wanted.removeprefix("bytes=").partition("-")[0])
                status, whole = 206, len(data)
                headers["Content-Range"] = f"bytes {start}-{whole - 1}/{whole}"
                data = data[start:]
            breaks = hub.breaks.get(path)
            stop = breaks.pop(0) if breaks and self.command == "GET" else None
            self.reply(status, data, headers, stop=stop)

        def reply(
            self, status: int, body: bytes, headers: dict[str, str] | None = None, *, stop: int | None = None
        ) -> None:
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                if hub.is_hub or name not in ("ETag", "X-Repo-Commit"):
                    self.send_header(name, value)
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(body[:stop])
            if stop is not None:
                self.close_connection = True
                if hub.ends:
                    hub.statuses["/"] = 503

        def log_message(self, *_: Any) -> None:
            pass

    class Server(ThreadingHTTPServer):
        daemon_threads = True

        def handle_error(self, *_: Any) -> None:
            pass  # a client that hangs up is part of the tests

    server = Server(("127.0.0.1", 0), Handler)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    elsewhere = f"http://localhost:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield hub
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
