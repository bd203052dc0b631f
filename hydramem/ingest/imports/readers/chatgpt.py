"""Reads an export of ChatGPT: a zip archive, or its `conversations.json`.

A conversation is a tree of messages; the branch that ends at `current_node` is what was said, and the other
branches are drafts that were replaced.
"""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from hydramem.core.results.exchange_results import SkippedRecord
from hydramem.ingest.documents.formats.transcript import Turn
from hydramem.ingest.imports.json_values import plain_text
from hydramem.ingest.imports.readers.conversations import conversation_record, read_conversations
from hydramem.ingest.imports.records import Meter, OmittedRecord, Record
from hydramem.text.dates.transcript_times import parse_loose

_DRAFT = OmittedRecord(reason="message of a branch that was replaced")
_ROLES = ("user", "assistant")


def read_chatgpt(path: Path, *, scope: str, meter: Meter) -> Iterator[Record]:
    """Yield the conversations of an export, each with both sides' words; sessions have no scope.

    Raises:
        OSError: The path cannot be read.
    """
    del scope
    yield from read_conversations(path, _conversation, meter)


def _conversation(value: Mapping[str, Any], place: str) -> Iterator[Record]:
    mapping = value.get("mapping")
    if not isinstance(mapping, dict):
        yield SkippedRecord(place=place, reason="mapping: expected an object")
        return
    nodes = {id: node for id, node in mapping.items() if isinstance(node, dict)}
    branch = _branch(nodes, value.get("current_node"))
    drafts = sum(isinstance(node.get("message"), dict) for id, node in nodes.items() if id not in branch)
    if drafts:
        yield OmittedRecord(reason=_DRAFT.reason, count=drafts)
    turns = []
    for id in branch:
        turn = _turn(nodes[id].get("message"))
        if isinstance(turn, OmittedRecord):
            yield turn
        elif turn is not None:
            turns.append(turn)
    yield conversation_record(
        turns,
        format="chatgpt",
        id=value.get("conversation_id") or value.get("id"),
        title=value.get("title"),
        place=place,
    )


def _branch(nodes: Mapping[str, Mapping[str, Any]], current: object) -> dict[str, None]:
    """Return the ids from the root to the current node, else to the newest leaf."""
    node = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    branch: dict[str, None] = {}
    while isinstance(node, str) and node in nodes and node not in branch:
        branch[node] = None
        node = nodes[node].get("parent")
    return dict.fromkeys(reversed(branch))


def _newest_leaf(nodes: Mapping[str, Mapping[str, Any]]) -> str | None:
    parents = {node["parent"] for node in nodes.values() if isinstance(node.get("parent"), str)}
    return max((id for id in nodes if id not in parents), key=lambda id: _written(nodes[id]), default=None)


def _written(node: Mapping[str, Any]) -> float:
    message = node.get("message")
    at = message.get("create_time") if isinstance(message, dict) else None
    return float(at) if isinstance(at, int | float) else 0.0


def _turn(message: object) -> Turn | OmittedRecord | None:
    if not isinstance(message, dict):
        return None  # the root of the tree
    author, content, metadata = (message.get(key) for key in ("author", "content", "metadata"))
    role = author.get("role") if isinstance(author, dict) else None
    if role not in _ROLES:
        return OmittedRecord(reason="message of the system or of a tool")
    if isinstance(metadata, dict) and metadata.get("is_visually_hidden_from_conversation"):
        return OmittedRecord(reason="hidden message")
    parts = content.get("parts") if isinstance(content, dict) else None
    text = "\n".join(filter(None, map(plain_text, parts))) if isinstance(parts, list) else ""
    if not text:
        return OmittedRecord(reason="message without text")
    return Turn(author=str(role), text=text, happened_at=parse_loose(message.get("create_time")))
