"""The routes of the page: its files, and the operations as JSON."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import msgspec
from pydantic_core import to_json
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response, StreamingResponse
from starlette.routing import Route
from starlette.types import ASGIApp

from hydramem.core.errors import HydraMemError, InvalidInputError, NotFoundError
from hydramem.view.guard import PageGuard, refusal
from hydramem.view.page_calls import PageCalls, RefusedCallError, error_answer
from hydramem.view.page_jobs import INTERNAL, PageJob, PageJobs, TooManyJobsError

log = logging.getLogger(__name__)
STATIC = Path(__file__).parent / "static"
ASSETS = {
    "app.js": "text/javascript",
    "worker.js": "text/javascript",
    "app.css": "text/css",
    "licenses.txt": "text/plain",
}
"""The files of the page beside `index.html`, with their types."""

MOST_BODY_BYTES = 2_000_000
"""Size of the largest request."""

_KEY = "idempotency-key"
Answer = Callable[[Request], Awaitable[Response]]


class PageRoutes:
    """The answers of one server.

    Args:
        calls: Calls the operations.

    Attributes:
        closing: Set when the server is asked to end; streams end then.
    """

    def __init__(self, calls: PageCalls) -> None:
        self._calls = calls
        self.jobs = PageJobs(calls)
        self.closing = asyncio.Event()

    async def index(self, request: Request) -> Response:
        """Answer with the page."""
        return FileResponse(STATIC / "index.html", media_type="text/html")

    async def asset(self, request: Request) -> Response:
        """Answer with a file of the page."""
        name = request.path_params["name"]
        if name not in ASSETS or not (STATIC / name).is_file():
            return refusal(404, "NotFound", "there is no such file")
        return FileResponse(STATIC / name, media_type=ASSETS[name])

    async def page(self, request: Request) -> Response:
        """Answer with what the page has to know first."""
        return _json(await run_in_threadpool(self._calls.page))

    async def call(self, request: Request) -> Response:
        """Run an operation and answer with its result."""
        given = await _arguments(request)
        spec, arguments = self._calls.arguments(request.path_params["operation"], given)
        key = request.headers.get(_KEY)
        done = await run_in_threadpool(lambda: self._calls.run(spec, arguments, request=key))
        return _json({"result": done.result, "run": done.run})

    async def start(self, request: Request) -> Response:
        """Start an operation and answer with the id of its job."""
        given = await _arguments(request)
        spec, arguments = self._calls.arguments(request.path_params["operation"], given)
        return _json({"job": self.jobs.start(spec, arguments, request.headers.get(_KEY)).id}, 202)

    async def job(self, request: Request) -> Response:
        """Answer with the state of a job."""
        return _json(self._job(request).described())

    async def cancel(self, request: Request) -> Response:
        """Ask a job to end; it does at its next report."""
        job = self._job(request)
        job.is_cancelled.set()
        return _json(job.described(), 202)

    async def events(self, request: Request) -> Response:
        """Answer with the events of a job, as they happen."""
        job = self._job(request)
        return StreamingResponse(job.events(self.closing), media_type="text/event-stream")

    def _job(self, request: Request) -> PageJob:
        job = self.jobs.get(request.path_params["job"])
        if job is None:
            raise NotFoundError("there is no such job")
        return job


def page_app(routes: PageRoutes, *, port: int, token: str) -> ASGIApp:
    """Return the application: the routes behind the guard.

    Args:
        routes: The answers.
        port: The port that is listened on.
        token: What requests must carry.
    """
    table: list[tuple[str, str, Answer]] = [
        ("GET", "/", routes.index),
        ("GET", "/assets/{name}", routes.asset),
        ("GET", "/api/page", routes.page),
        ("POST", "/api/call/{operation}", routes.call),
        ("POST", "/api/jobs/{operation}", routes.start),
        ("GET", "/api/jobs/{job}", routes.job),
        ("DELETE", "/api/jobs/{job}", routes.cancel),
        ("GET", "/api/jobs/{job}/events", routes.events),
    ]
    paths = {path: {verb: answer for verb, at, answer in table if at == path} for _, path, _ in table}
    app = Starlette(
        routes=[Route(path, _by_method(answers), methods=list(answers)) for path, answers in paths.items()],
        exception_handlers={HTTPException: _http_error},
    )
    return PageGuard(app, port=port, token=token)


def _by_method(answers: dict[str, Answer]) -> Answer:
    """Return the one answer of a path, whose errors become answers as well."""

    async def answer(request: Request) -> Response:
        method = "GET" if request.method == "HEAD" else request.method
        try:
            return await answers[method](request)
        except TooManyJobsError as error:
            return refusal(429, "TooManyJobs", str(error))
        except (HydraMemError, RefusedCallError) as error:
            status, said = error_answer(error)
            return _json(said, status)
        except _TooLargeError as error:
            return refusal(413, "TooLarge", str(error))
        except Exception:
            log.exception("%s %s failed", request.method, request.url.path)
            return _json(INTERNAL, 500)

    return answer


async def _http_error(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    codes = {404: ("NotFound", "there is nothing here"), 405: ("WrongMethod", "the method does not fit")}
    return refusal(status, *codes.get(status, ("Refused", "the request cannot be answered")))


class _TooLargeError(Exception):
    """The body of a request is too large."""


async def _arguments(request: Request) -> dict[str, Any]:
    """Return the JSON object that a request carries.

    Raises:
        InvalidInputError: It carries something else.
        _TooLargeError: It is larger than a request may be.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise InvalidInputError("the body of a call is a JSON object, as application/json")
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > MOST_BODY_BYTES:
            raise _TooLargeError(f"a request has at most {MOST_BODY_BYTES:,} bytes")
    try:
        given = msgspec.json.decode(body or b"{}")
    except (msgspec.DecodeError, RecursionError, UnicodeError) as error:
        raise InvalidInputError(f"the body of the call is no JSON: {error}") from error
    if not isinstance(given, dict):
        raise InvalidInputError("the body of a call is a JSON object of its arguments")
    return given


def _json(said: object, status: int = 200) -> Response:
    return Response(to_json(said), status, media_type="application/json")
