"""What a model answers on the wire: one short text in the four formats that coding agents speak.

Anthropic messages, OpenAI responses, OpenAI chat completions, and Gemini's generateContent (also Vertex's).
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

Json = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class WireAnswer:
    """The body of a response and its media type."""

    media_type: str
    body: str


def answer(path: str, body: Json, text: str) -> WireAnswer:
    """Say a text in the format of the path that was asked; what is no model's path gets an empty object."""
    place = path.partition("?")[0]
    if place.endswith("/count_tokens"):
        return _object({"input_tokens": 1})
    if place.endswith(":countTokens"):
        return _object({"totalTokens": 1})
    if place.endswith("/messages"):
        return _message(body, text)
    if place.endswith("/responses"):
        return _response(text)
    if place.endswith("/chat/completions"):
        return _completion(body, text)
    if place.endswith(":streamGenerateContent"):
        return _events([("", _candidate(text))])
    if place.endswith(":generateContent"):
        return _object(_candidate(text))
    return _object({})


def _message(body: Json, text: str) -> WireAnswer:
    """Anthropic's message: whole, or as the events of a stream."""
    usage = {"input_tokens": 1, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": body.get("model", "fake")}
    end = {"stop_reason": "end_turn", "stop_sequence": None}
    block = {"type": "text", "text": text}
    if not body.get("stream"):
        return _object({**message, **end, "content": [block], "usage": usage})
    start = {**message, "content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
    events: list[Json] = [
        {"type": "message_start", "message": start},
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": text}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": end, "usage": {"output_tokens": 1}},
        {"type": "message_stop"},
    ]
    return _events([(str(event["type"]), event) for event in events])


def _response(text: str) -> WireAnswer:
    """OpenAI's response, as the events of a stream."""
    item = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": text, "annotations": []}],
    }
    usage = {
        "input_tokens": 1,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 1,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": 2,
    }
    whole = {"id": "r_1", "object": "response", "status": "completed", "output": [item], "usage": usage}
    events: list[Json] = [
        {"type": "response.created", "response": {"id": "r_1"}},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": whole},
    ]
    return _events([(str(event["type"]), event) for event in events])


def _completion(body: Json, text: str) -> WireAnswer:
    """OpenAI's chat completion: whole, or as the chunks of a stream."""
    said = {"role": "assistant", "content": text}
    usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
    head = {"id": "c_1", "created": 1, "model": "fake"}
    if not body.get("stream"):
        choice = {"index": 0, "message": said, "finish_reason": "stop"}
        return _object({**head, "object": "chat.completion", "choices": [choice], "usage": usage})
    head["object"] = "chat.completion.chunk"
    first = {**head, "choices": [{"index": 0, "delta": said, "finish_reason": None}]}
    last = {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}], "usage": usage}
    stream = _events([("", first), ("", last)])
    return WireAnswer(stream.media_type, stream.body + "data: [DONE]\n\n")


def _candidate(text: str) -> Json:
    """Gemini's answer, whole; a stream is a stream of these."""
    content = {"role": "model", "parts": [{"text": text}]}
    usage = {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2}
    candidate = {"content": content, "finishReason": "STOP", "index": 0}
    return {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}


def _object(value: Json) -> WireAnswer:
    return WireAnswer("application/json", json.dumps(value))


def _events(events: Sequence[tuple[str, Json]]) -> WireAnswer:
    """Server-sent events: a name, where the format names them, and one line of JSON each."""
    lines = [
        (f"event: {name}\n" if name else "") + f"data: {json.dumps(value)}\n\n" for name, value in events
    ]
    return WireAnswer("text/event-stream", "".join(lines))


def tool_names(body: Json) -> tuple[str, ...]:
    """Return the names of the tools that a request offers; in a namespace, its name stands before."""
    return tuple(name for tool in _objects(body.get("tools")) for name in _names(tool))


def _names(tool: Json) -> list[str]:
    """Return the names in one entry: a tool, a function, a namespace or a list of declarations."""
    inner = _objects(tool.get("tools"))
    if inner:
        return [f"{tool.get('name')}__{each.get('name')}" for each in inner]
    function = tool.get("function")
    declared = _objects(tool.get("functionDeclarations")) or _objects([function]) or [tool]
    return [str(each["name"]) for each in declared if "name" in each]


def _objects(value: object) -> list[Json]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []
