"""The tools `search` and `fetch`, by which ChatGPT and others research: a list to cite, and each text whole.

Their form: https://platform.openai.com/docs/mcp. Both answer with one object, as structured content and as
the same JSON in the text.
"""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from hydramem.core.errors import InvalidInputError
from hydramem.core.results.hits import Hit, LinkedChunk, Recall
from hydramem.core.results.write_results import DocumentView
from hydramem.server.resources import address
from hydramem.text.surrogates import well_formed

if TYPE_CHECKING:
    from hydramem import Memory
    from hydramem.server.access import Access

PAIR = ("search", "fetch")
"""The names of the tools."""

_ARGUMENTS = {"search": "query", "fetch": "id"}
_MOST_RESULTS = 10
_TITLE_LENGTH = 80
_TEXT = {"type": "string"}
_CITED = {"id": _TEXT, "title": _TEXT, "url": _TEXT}
_READS = {"readOnlyHint": True, "destructiveHint": False, "idempotentHint": True, "openWorldHint": False}


def pair_tools() -> list[dict[str, Any]]:
    """Return the entries of both tools in the manifest."""
    result = _object(_CITED)
    results = {"type": "array", "items": result}
    whole = {**_CITED, "text": _TEXT, "metadata": {"type": "object", "additionalProperties": _TEXT}}
    return [
        {
            "name": "search",
            "description": "Find what answers a question: memories and passages; nothing where none does.",
            "inputSchema": _object({"query": {**_TEXT, "description": "A question or words."}}),
            "outputSchema": _object({"results": results}),
            "annotations": _READS,
        },
        {
            "name": "fetch",
            "description": "Return the whole text of a result of `search`, or of a document.",
            "inputSchema": _object({"id": {**_TEXT, "description": "Id of the result, or of the document."}}),
            "outputSchema": _object(whole),
            "annotations": _READS,
        },
    ]


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {"type": "object", "properties": dict(properties), "required": list(properties)}


def run_pair(
    memory: "Memory", name: str, given: Mapping[str, Any], *, session: str, access: "Access"
) -> dict[str, Any]:
    """Run one of the two; return its object.

    Raises:
        InvalidInputError: The argument is missing or no text, or there is another one.
        NotFoundError: No memory, passage or document has the id.
    """
    argument = _ARGUMENTS[name]
    for key in given:
        if key != argument:
            raise InvalidInputError(f"{key[:80]}: no such argument of {name}; there are: {argument}")
    value = given.get(argument)
    if not isinstance(value, str):
        raise InvalidInputError(f"{argument}: is missing or no text; {name} needs it")
    if name == "search":
        return _searched(memory, value, session, access)
    if value.startswith("d_"):
        return _document(memory, value, access)
    return _chunk(memory, value, access)


def as_text(value: Mapping[str, Any]) -> str:
    """Return the object as the JSON that the text of an answer is."""
    return json.dumps(value, ensure_ascii=False)


def _searched(memory: "Memory", query: str, session: str, access: "Access") -> dict[str, Any]:
    asked = {"query": query, "limit": _MOST_RESULTS}
    found = cast(Recall, access.call(memory, "recall", asked, session=session))
    # The form has no place for a doubt, so what seems not to bear on the question is left out.
    hits = found.hits if found.answered else ()
    return {"results": [{"id": hit.id, "title": _title(hit), "url": _url(hit)} for hit in hits]}


def _chunk(memory: "Memory", id: str, access: "Access") -> dict[str, Any]:
    chunk = cast(LinkedChunk, access.call(memory, "get", {"id": id}))
    about = {
        "source": chunk.source,
        "author": chunk.author,
        "date": None if chunk.happened_at is None else chunk.happened_at.isoformat(),
        "kind": chunk.kind,
        "state": chunk.state,
        "project": chunk.project,
        "document": chunk.document,
    }
    return _whole(chunk.id, _title(chunk), chunk.text, _url(chunk), about)


def _document(memory: "Memory", id: str, access: "Access") -> dict[str, Any]:
    found = cast(DocumentView, access.call(memory, "document", {"source": id}))
    document, text = found.document, "\n\n".join(chunk.text for chunk in found.chunks)
    about = {"source": document.source, "state": document.state, "project": document.project}
    url = _web_address(document.source) or address("document", document.id)
    return _whole(document.id, _line(document.title or document.source), text, url, about)


def _whole(id: str, title: str, text: str, url: str, about: Mapping[str, str | None]) -> dict[str, Any]:
    metadata = {key: well_formed(value) for key, value in about.items() if value}
    return {"id": id, "title": title, "url": url, "text": well_formed(text), "metadata": metadata}


def _title(found: Hit | LinkedChunk) -> str:
    """Return the headings above a passage, or how a memory begins."""
    return _line(" > ".join(found.heading_path) or found.text)


def _line(text: str) -> str:
    line = well_formed(" ".join(text.split()))
    return line if len(line) <= _TITLE_LENGTH else f"{line[: _TITLE_LENGTH - 1].rstrip()}…"


def _url(found: Hit | LinkedChunk) -> str:
    return _web_address(found.source) or address("memory", found.id)


def _web_address(source: str) -> str | None:
    """Return the source where it can be opened on the web."""
    return well_formed(source) if source.startswith(("https://", "http://")) else None
