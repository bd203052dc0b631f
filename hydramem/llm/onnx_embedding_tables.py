"""Rewrites ONNX models so that 8-bit embedding tables stay 8-bit: only the rows of a text become floats.

An exporter writes `Gather(Mul(Cast(table), scale), ids)`: all rows of the table become floats first. Of a
model with 22 MB of weights that takes 47 MB as long as it is open, twice as much while it is opened, and half
the time of a query where the graph is not optimized. `Mul(Cast(Gather(table, ids)), Gather(scale, ids))` is
the same numbers. The file is read as Protocol Buffers, field by field, so no library of the format is needed
(https://github.com/onnx/onnx/blob/main/onnx/onnx.proto).
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

# Field numbers of ModelProto, GraphProto, NodeProto and TensorProto.
_GRAPH = 7
_NODE, _INITIALIZER = 1, 5
_INPUT, _OUTPUT, _NAME, _OPERATION, _ATTRIBUTE = 1, 2, 3, 4, 5
_TENSOR_NAME = 8

_VARINT, _FIXED_64, _BYTES, _FIXED_32 = 0, 1, 2, 5


@dataclass(frozen=True, slots=True)
class _Node:
    """A step of the graph; `attributes` are as the file has them."""

    operation: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[bytes, ...] = ()

    def encoded(self) -> bytes:
        """Return the node as a field of the graph."""
        texts = [(_INPUT, name) for name in self.inputs] + [(_OUTPUT, name) for name in self.outputs]
        parts = [_field(number, text.encode()) for number, text in texts]
        parts.append(_field(_OPERATION, self.operation.encode()))
        parts.extend(_field(_ATTRIBUTE, value) for value in self.attributes)
        return _field(_NODE, b"".join(parts))


def with_small_tables(model: bytes) -> bytes:
    """Return a model that looks rows up before it turns them into floats; the same where it has no table.

    Args:
        model: An ONNX file.

    Raises:
        ValueError: It is not one.
    """
    data = memoryview(model)
    parts: list[bytes | memoryview] = []
    changed = False
    for number, value, raw in _fields(data):
        graph = _rewritten(value) if number == _GRAPH else None
        if graph is None:
            parts.append(raw)
        else:
            size = sum(map(len, graph))
            parts += [_varint(_GRAPH << 3 | _BYTES), _varint(size), *graph]
            changed = True
    return b"".join(parts) if changed else model


def _rewritten(graph: memoryview) -> list[bytes | memoryview] | None:
    """Return the fields of a graph after the change; None where there is nothing to change."""
    fields = list(_fields(graph))
    nodes = {place: _node(value) for place, (number, value, _) in enumerate(fields) if number == _NODE}
    held = {_text(value, _TENSOR_NAME) for number, value, _ in fields if number == _INITIALIZER}
    made_at = {name: place for place, node in nodes.items() for name in node.outputs}
    uses = Counter(name for node in nodes.values() for name in node.inputs)
    placed: dict[int, list[_Node]] = {}
    for place, gather in nodes.items():
        mul = made_at.get(gather.inputs[0], -1) if gather.operation == "Gather" and gather.inputs else -1
        cast = made_at.get(nodes[mul].inputs[0], -1) if mul >= 0 and nodes[mul].operation == "Mul" else -1
        if cast < 0 or nodes[cast].operation != "Cast" or _axis(gather) != 0:
            continue
        table, scale = nodes[cast].inputs[0], nodes[mul].inputs[1]
        once = uses[gather.inputs[0]] == uses[nodes[mul].inputs[0]] == 1
        if once and table in held and scale in held and _has_rows(fields, scale):
            placed |= {cast: [], mul: [], place: _looked_up_first(gather, nodes[cast], table, scale)}
    if not placed:
        return None
    left: list[bytes | memoryview] = []
    for place, (_, _, raw) in enumerate(fields):
        left += [node.encoded() for node in placed[place]] if place in placed else [raw]
    return left


def _looked_up_first(gather: _Node, cast: _Node, table: str, scale: str) -> list[_Node]:
    ids, result = gather.inputs[1], gather.outputs[0]
    rows, floats, scales = (f"{result}/{name}" for name in ("rows", "floats", "scales"))
    return [
        _Node("Gather", (table, ids), (rows,), gather.attributes),
        _Node("Cast", (rows,), (floats,), cast.attributes),
        _Node("Gather", (scale, ids), (scales,), gather.attributes),
        _Node("Mul", (floats, scales), (result,)),
    ]


def _axis(gather: _Node) -> int:
    """Return along which axis a node looks up; its only attribute, a number, is field 3 of AttributeProto."""
    fields = [field for attribute in gather.attributes for field in _fields(memoryview(attribute))]
    return next((_read_varint(raw, 1)[0] for number, _, raw in fields if number == 3), 0)


def _has_rows(fields: Sequence[tuple[int, memoryview, memoryview]], name: str) -> bool:
    """Say whether a tensor has one number a row, as a scale that can be looked up has: shape (rows, 1)."""
    for number, value, _ in fields:
        if number == _INITIALIZER and _text(value, _TENSOR_NAME) == name:
            shape = _shape(value)
            return len(shape) == 2 and shape[1] == 1
    return False


def _shape(tensor: memoryview) -> list[int]:
    """Return the dimensions of a tensor, which is field 1: packed, or one by one."""
    shape: list[int] = []
    for number, value, raw in _fields(tensor):
        if number == 1:
            packed = raw[0] & 7 == _BYTES
            data, end = (value, 0) if packed else (raw, 1)
            while end < len(data):
                size, end = _read_varint(data, end)
                shape.append(size)
    return shape


def _node(data: memoryview) -> _Node:
    found: dict[int, list[bytes]] = {}
    for number, value, _ in _fields(data):
        found.setdefault(number, []).append(bytes(value))
    inputs, outputs = (tuple(text.decode() for text in found.get(key, ())) for key in (_INPUT, _OUTPUT))
    operation = b"".join(found.get(_OPERATION, ())).decode()
    return _Node(operation, inputs, outputs, tuple(found.get(_ATTRIBUTE, ())))


def _text(data: memoryview, number: int) -> str:
    return next((bytes(value).decode() for key, value, _ in _fields(data) if key == number), "")


# Protocol Buffers ---------------------------------------------------------------------------------


def _fields(data: memoryview) -> Iterator[tuple[int, memoryview, memoryview]]:
    """Yield the number, the content and the whole of each field; the content of a number is empty."""
    place = 0
    while place < len(data):
        start = place
        key, place = _read_varint(data, place)
        kind, size = key & 7, 0
        if kind == _VARINT:
            _, place = _read_varint(data, place)
        elif kind == _BYTES:
            size, place = _read_varint(data, place)
        elif kind in (_FIXED_32, _FIXED_64):
            place += 4 if kind == _FIXED_32 else 8
        else:
            raise ValueError(f"not an ONNX file: a field of kind {kind} at byte {start}")
        if place + size > len(data):
            raise ValueError(f"not a whole ONNX file: the field at byte {start} is longer than the rest")
        yield key >> 3, data[place : place + size], data[start : place + size]
        place += size


def _read_varint(data: memoryview, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(data):
        value |= (data[place] & 0x7F) << shift
        place += 1
        if data[place - 1] < 0x80:
            return value, place
        shift += 7
    raise ValueError("not a whole ONNX file: it ends within a number")


def _varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content
