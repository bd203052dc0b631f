"""Who may talk to the page: every request passes here, and every answer gets the headers of the page.

A page of another site can send requests to this port. It cannot read the token, which is in the fragment of
the page's address and is sent in a header; Host and Origin are checked besides, against rebound names.
"""

import hashlib
import hmac

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "worker-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""The Content-Security-Policy of every answer."""

_HEADERS = {
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}
_READS = frozenset({"GET", "HEAD"})
_PUBLIC = "/assets/"


class PageGuard:
    """Refuses requests that are not of the page, before any route sees them.

    Another Host or port: 421. A foreign Origin, or a write that is not from the page: 403. No token, or a
    wrong one, for anything but the page and its assets: 401.

    Args:
        app: What answers the other requests.
        port: The port that is listened on.
        token: What requests must carry; only its hash is kept.
    """

    def __init__(self, app: ASGIApp, *, port: int, token: str) -> None:
        self._app = app
        self._hosts = frozenset({f"127.0.0.1:{port}", f"localhost:{port}"})
        self._token = _hash(token)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that is refused, and pass any other on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(_HEADERS)
            await send(message)

        answer = self._refusal(Request(scope)) or self._app
        await answer(scope, receive, send_with_headers)

    def _refusal(self, request: Request) -> Response | None:
        """Return the answer to a request that is refused; None where it may pass."""
        given = request.headers
        host, origin = given.get("host", ""), given.get("origin")
        if host not in self._hosts:
            return refusal(421, "UnknownHost", "this server answers to its own address only")
        if origin is not None and origin != f"http://{host}":
            return refusal(403, "ForeignOrigin", "the request comes from another site")
        if request.method not in _READS and not _is_of_page(given):
            return refusal(403, "ForeignOrigin", "a write comes from the page itself")
        if _is_public(request.url.path) or self._has_token(given):
            return None
        return refusal(401, "NoToken", "open the address that `hydramem view` printed")

    def _has_token(self, given: Headers) -> bool:
        scheme, _, token = given.get("authorization", "").partition(" ")
        return scheme.lower() == "bearer" and hmac.compare_digest(_hash(token.strip()), self._token)


def refusal(status: int, code: str, message: str) -> JSONResponse:
    """Return an error as the page reads it."""
    return JSONResponse({"error": {"code": code, "message": message}}, status)


def _is_of_page(given: Headers) -> bool:
    """Whether a write names its origin, and the browser does not say that another site made it."""
    return "origin" in given and given.get("sec-fetch-site", "same-origin") == "same-origin"


def _is_public(path: str) -> bool:
    """Whether a path is of the page or its assets, which hold nothing of the memory."""
    return path == "/" or path.startswith(_PUBLIC)


def _hash(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
