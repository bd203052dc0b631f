"""The requests over standard input that need the memory: calls of tools, and resources to read."""

import logging
import threading
from typing import TYPE_CHECKING, Any

from hydramem.core.config import ServerConfig
from hydramem.core.errors import HydraMemError, NotFoundError
from hydramem.server.manifest import reads
from hydramem.server.resources import MIME_TYPE
from hydramem.server.stdio.background_opening import BackgroundOpening
from hydramem.server.stdio.json_rpc import INTERNAL_ERROR, INVALID_PARAMS, RpcError
from hydramem.server.stdio.running_calls import Work

if TYPE_CHECKING:
    from hydramem.server.call_report import CallReport
    from hydramem.server.run_tool import ToolRunner

_log = logging.getLogger(__name__)


class MemoryRequests:
    """Says what is to be done for a request; it is done in a thread, once the memory is open."""

    def __init__(
        self, opening: BackgroundOpening, settings: ServerConfig, *, names: tuple[str, ...], project: str
    ) -> None:
        """Serve the tools of these names; `project` is the memory's own."""
        self._opening = opening
        self._settings = settings
        self._names = names
        self._project = project
        self._one = threading.Lock()
        self._made: ToolRunner | None = None

    def tool(self, params: dict[str, Any]) -> Work:
        """Return what a call of a tool does; its errors are answers, for the model to read.

        Raises:
            RpcError: The request is wrong.
        """
        name, arguments = params.get("name"), params.get("arguments") or {}
        if not isinstance(name, str) or not isinstance(arguments, dict):
            raise RpcError(INVALID_PARAMS, "Invalid params: `name` is a text, `arguments` an object")
        if name not in self._names:
            return lambda report: _failed(f"Unknown tool: {name[:80]!r}")
        return lambda report: self._called(name, arguments, report)

    def resource(self, params: dict[str, Any]) -> Work:
        """Return what reads a resource.

        Raises:
            RpcError: The request is wrong.
        """
        uri = params.get("uri")
        if not isinstance(uri, str):
            raise RpcError(INVALID_PARAMS, "Invalid params: `uri` is a text")
        return lambda report: self._read(uri)

    def _called(self, name: str, arguments: dict[str, Any], report: "CallReport") -> dict[str, Any]:
        from hydramem.server.access import OWN_USER

        try:
            memory = self._opening.memory()
            answer = self._runner().run(memory, name, arguments, report, access=OWN_USER)
        except HydraMemError as error:
            return _failed(str(error))
        except Exception:  # noqa: BLE001 -- a client must not see what it holds, and must not wait for ever
            _log.exception("%s", name)
            return _failed(f"Error calling tool {name!r}; the log of the server has the error")
        whole = {} if answer.structured is None else {"structuredContent": answer.structured}
        return {"content": [{"type": "text", "text": answer.text}], **whole, "isError": False}

    def _read(self, uri: str) -> dict[str, Any]:
        from hydramem.server.access import OWN_USER
        from hydramem.server.read_resource import read_resource

        try:
            if not reads(self._names):
                raise NotFoundError(uri)
            text = read_resource(self._opening.memory(), uri, project=self._project, access=OWN_USER)
        except NotFoundError as error:
            # The words and the data that FastMCP has for it.
            raise RpcError(INVALID_PARAMS, f"Resource not found: {uri!r}", {"uri": uri}) from error
        except HydraMemError as error:
            raise RpcError(INTERNAL_ERROR, str(error)) from error
        return {"contents": [{"uri": uri, "mimeType": MIME_TYPE, "text": text}]}

    def _runner(self) -> "ToolRunner":
        with self._one:
            if self._made is None:
                from hydramem.server.run_tool import ToolRunner

                self._made = ToolRunner(self._settings)
            return self._made


def _failed(message: str) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": message}], "isError": True}
