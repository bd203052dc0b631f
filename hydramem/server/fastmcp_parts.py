"""Tools, prompts and resources as FastMCP takes them; they are listed as over standard input and output."""

import asyncio
import inspect
from collections.abc import Callable
from concurrent.futures import CancelledError
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fastmcp.exceptions import AuthorizationError, McpError, PromptError, ResourceError, ToolError
from fastmcp.prompts import Prompt
from fastmcp.resources import Resource, ResourceTemplate
from fastmcp.server.auth import AccessToken, AuthContext
from fastmcp.server.dependencies import get_access_token, get_context
from fastmcp.tools import Tool, ToolResult
from mcp.types import INVALID_PARAMS, ErrorData, TextContent, ToolAnnotations
from mcp.types import Prompt as ListedPrompt
from mcp.types import Resource as ListedResource
from mcp.types import ResourceTemplate as ListedTemplate
from mcp.types import Tool as ListedTool
from pydantic import PrivateAttr

from hydramem.core.errors import CallCancelledError, HydraMemError, InvalidInputError, NotFoundError
from hydramem.server.access import Access
from hydramem.server.call_report import CallReport
from hydramem.server.call_threads import CallThreads
from hydramem.server.http.known_tokens import KnownTokens
from hydramem.server.prompts import ServerPrompt, listed_prompt
from hydramem.server.read_resource import read_resource
from hydramem.server.run_tool import ToolRunner

if TYPE_CHECKING:
    from hydramem import Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedMemory:
    """What the parts of a server share.

    Attributes:
        memory: The memory that is served.
        project: Its own project.
        runner: Runs the tools on it.
        tokens: The tokens that requests may carry.
        needs_token: Whether each must.
        threads: Run what the requests ask for.
    """

    memory: "Memory"
    project: str
    runner: ToolRunner
    tokens: KnownTokens
    needs_token: bool
    threads: CallThreads = field(default_factory=CallThreads)

    def access(self, token: AccessToken | None) -> Access:
        """Return what a request may do.

        Raises:
            AuthorizationError: Its token is not known, or no longer.
        """
        if not self.needs_token:
            return self.tokens.of_environment()
        access = None if token is None else self.tokens.access(token.token)
        if access is None:
            raise AuthorizationError("the token of this request is not known")
        return access

    def of_request(self) -> Access:
        """Return what the request of this context may do; raises as `access`."""
        return self.access(get_access_token())

    def shows(self, is_shown: Callable[[Access], bool]) -> Callable[[AuthContext], bool]:
        """Return the check by which FastMCP lists a part, and finds it, for those alone who may use it."""
        return lambda asked: is_shown(self.access(asked.token))


class OperationTool(Tool):
    """An operation as FastMCP runs it."""

    _served: ServedMemory = PrivateAttr()
    _listed: dict[str, Any] = PrivateAttr()

    @classmethod
    def of(cls, served: ServedMemory, listed: dict[str, Any]) -> "OperationTool":
        """Make the tool from its entry in the manifest."""
        made = cls(
            name=listed["name"],
            description=listed["description"],
            parameters=listed["inputSchema"],
            output_schema=listed.get("outputSchema"),
            annotations=ToolAnnotations.model_validate(listed["annotations"]),
            auth=served.shows(lambda access: listed["name"] in access.tools),
        )
        made._served, made._listed = served, listed
        return made

    def to_mcp_tool(self, **overrides: Any) -> ListedTool:
        """Return the entry of the manifest."""
        return ListedTool.model_validate({**self._listed, **overrides})

    async def run(self, arguments: dict[str, Any]) -> ToolResult:
        """Run the operation in a thread, with its progress; it stops there once the client has cancelled."""
        report, served, access = CallReport(_sender()), self._served, self._served.of_request()
        if self.name not in access.tools:  # the token has changed since FastMCP found the tool
            raise ToolError(f"{self.name}: no such tool")
        try:
            answer = await served.threads.run(
                access.actor, served.runner.run, served.memory, self.name, arguments, report, access=access
            )
        except HydraMemError as error:
            raise ToolError(str(error)) from error
        except asyncio.CancelledError:
            report.cancel()
            raise
        content = [TextContent(type="text", text=answer.text)]
        return ToolResult(content=content, structured_content=answer.structured)


def _sender() -> Callable[[Any], None]:
    """Return what sends the progress of the request in this context, from the thread of its call."""
    context, loop = get_context(), asyncio.get_running_loop()

    def send(done: Any) -> None:
        sending = asyncio.run_coroutine_threadsafe(context.report_progress(**done), loop)
        try:
            sending.result()
        except CancelledError as error:  # the server ends
            raise CallCancelledError from error

    return send


class PromptPart(Prompt):
    """A prompt as FastMCP gives it."""

    _prompt: ServerPrompt = PrivateAttr()

    @classmethod
    def of(cls, served: ServedMemory, prompt: ServerPrompt) -> "PromptPart":
        """Make it from what the server says elsewhere too."""
        made = cls(
            name=prompt.name,
            description=prompt.description,
            auth=served.shows(lambda access: access.tools.issuperset(prompt.tools)),
        )
        made._prompt = prompt
        return made

    def to_mcp_prompt(self, **overrides: Any) -> ListedPrompt:
        """Return it as it is listed over standard input and output."""
        return ListedPrompt.model_validate({**listed_prompt(self._prompt), **overrides})

    async def render(self, arguments: dict[str, Any] | None = None) -> str:
        """Return its text."""
        try:
            return self._prompt.message(arguments or {})
        except InvalidInputError as error:
            raise PromptError(str(error)) from error


class ResourcePart(Resource):
    """A resource that is listed, as FastMCP reads it."""

    _served: ServedMemory = PrivateAttr()
    _listed: dict[str, Any] = PrivateAttr()

    @classmethod
    def of(cls, served: ServedMemory, listed: dict[str, Any]) -> "ResourcePart":
        """Make it from its entry in the list."""
        # It is of the server's own project.
        shown = served.shows(
            lambda access: access.reads and (not access.projects or access.projects[0] == served.project)
        )
        made = cls(uri=listed["uri"], name=listed["name"], auth=shown)
        made._served, made._listed = served, listed
        return made

    def to_mcp_resource(self, **overrides: Any) -> ListedResource:
        """Return the entry of the list."""
        return ListedResource.model_validate({**self._listed, **overrides})

    async def read(self) -> str:
        """Return its text."""
        return await _text_of(self._served, self._listed["uri"])


class TemplatePart(ResourceTemplate):
    """The addresses of one kind, as FastMCP reads them."""

    _served: ServedMemory = PrivateAttr()
    _listed: dict[str, Any] = PrivateAttr()

    @classmethod
    def of(cls, served: ServedMemory, listed: dict[str, Any]) -> "TemplatePart":
        """Make it from its entry in the manifest."""
        # An id or name is looked up and never becomes a path, so FastMCP need not look for one in it.
        made = cls(
            name=listed["name"],
            uri_template=listed["uriTemplate"],
            parameters={},
            security=None,
            auth=served.shows(lambda access: access.reads),
        )
        made._served, made._listed = served, listed
        return made

    def to_mcp_template(self, **overrides: Any) -> ListedTemplate:
        """Return the entry of the manifest."""
        return ListedTemplate.model_validate({**self._listed, **overrides})

    def matches(self, uri: str) -> dict[str, Any] | None:
        """Return no arguments where an address is of this kind: it is parsed where it is read."""
        return {} if uri.startswith(self.uri_template.partition("{")[0]) else None

    async def _read(self, uri: str, params: dict[str, Any]) -> Any:
        return self.convert_result(await _text_of(self._served, uri))


async def _text_of(served: ServedMemory, uri: str) -> str:
    access = served.of_request()
    own = access.projects[0] if access.projects else served.project
    try:
        if not access.reads:
            raise NotFoundError(uri)
        return await served.threads.run(
            access.actor, read_resource, served.memory, uri, project=own, access=access
        )
    except NotFoundError as error:
        raise _not_found(uri) from error
    except HydraMemError as error:
        raise ResourceError(str(error)) from error


def _not_found(uri: str) -> McpError:
    """Return what FastMCP answers for an address that it does not know itself."""
    said = ErrorData(code=INVALID_PARAMS, message=f"Resource not found: {uri!r}", data={"uri": uri})
    if "code" in inspect.signature(McpError).parameters:
        return McpError(said.code, said.message, said.data)
    # Before version 4 of FastMCP, which installs beside CrewAI.
    return McpError(said)  # type: ignore[arg-type, call-arg]
