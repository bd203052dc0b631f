"""A cross-encoder of a few hundred bytes, written in the format of ONNX by hand: it counts common words.

Nothing that writes ONNX is installed with the tests, and the format is plain protocol buffers (onnx.proto).
The model takes pairs of token ids as any BERT does, and its score is how many pairs of tokens are equal, one
of the question and one of the text.
"""

import json
import struct
from pathlib import Path

from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from tokenizers.normalizers import Lowercase
from tokenizers.pre_tokenizers import Whitespace
from tokenizers.processors import TemplateProcessing

TEXT = "the crane of harbour is blue mended by marta mends who boat cat it rained all day . ?"
_FLOAT, _INT64 = 1, 7


def write_cross_encoder(folder: Path) -> Path:
    """Write the files of a cross-encoder, laid out as those of public ones; return the folder."""
    (folder / "onnx").mkdir(parents=True)
    (folder / "onnx" / "model.onnx").write_bytes(model())
    vocabulary = {
        word: number for number, word in enumerate(["[PAD]", "[UNK]", "[CLS]", "[SEP]", *TEXT.split()])
    }
    tokenizer = Tokenizer(WordLevel(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", vocabulary["[CLS]"]), ("[SEP]", vocabulary["[SEP]"])],
    )
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {"model_max_length": 64, "pad_token": "[PAD]"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text(json.dumps({"pad_token_id": 0}))
    return folder


def model(*, padding: int = 0) -> bytes:
    """Return the model: sum over i, j of equal(ids[i], ids[j]) * question[i] * text[j].

    Args:
        padding: Bytes of description, which make it larger.
    """
    nodes = [
        node("Unsqueeze", ["input_ids", "last"], "rows"),
        node("Unsqueeze", ["input_ids", "middle"], "columns"),
        node("Equal", ["rows", "columns"], "same"),
        node("Cast", ["same"], "equal", to=_FLOAT),
        node("Cast", ["token_type_ids"], "types", to=_FLOAT),
        node("Cast", ["attention_mask"], "mask", to=_FLOAT),
        node("Sub", ["one", "types"], "other_types"),
        node("Mul", ["other_types", "mask"], "question"),
        node("Mul", ["types", "mask"], "text"),
        node("Unsqueeze", ["question", "last"], "question_rows"),
        node("Unsqueeze", ["text", "middle"], "text_columns"),
        node("Mul", ["equal", "question_rows"], "of_question"),
        node("Mul", ["of_question", "text_columns"], "of_both"),
        node("ReduceSum", ["of_both", "both"], "score", keepdims=0),
        node("Unsqueeze", ["score", "middle"], "logits"),
    ]
    constants = [
        tensor("last", _INT64, [1], struct.pack("<q", 2)),
        tensor("middle", _INT64, [1], struct.pack("<q", 1)),
        tensor("both", _INT64, [2], struct.pack("<qq", 1, 2)),
        tensor("one", _FLOAT, [], struct.pack("<f", 1.0)),
    ]
    inputs = [value(name, _INT64, ["batch", "length"]) for name in ("input_ids", "attention_mask")]
    inputs.append(value("token_type_ids", _INT64, ["batch", "length"]))
    graph = b"".join(
        [
            *(field(1, each) for each in nodes),
            field(2, b"common words"),
            *(field(5, each) for each in constants),
            *(field(11, each) for each in inputs),
            field(12, value("logits", _FLOAT, ["batch", 1])),
        ]
    )
    operators = field(1, b"") + number_field(2, 13)
    return number_field(1, 8) + field(6, b" " * padding) + field(7, graph) + field(8, operators)


def node(operation: str, inputs: list[str], output: str, **attributes: int) -> bytes:
    parts = [field(1, name.encode()) for name in inputs]
    parts += [field(2, output.encode()), field(3, output.encode()), field(4, operation.encode())]
    for name, number in attributes.items():  # each is a whole number: type 2 of AttributeProto
        parts.append(field(5, field(1, name.encode()) + number_field(3, number) + number_field(20, 2)))
    return b"".join(parts)


def tensor(name: str, kind: int, shape: list[int], data: bytes) -> bytes:
    sizes = b"".join(number_field(1, size) for size in shape)
    return sizes + number_field(2, kind) + field(8, name.encode()) + field(9, data)


def value(name: str, kind: int, shape: list[str | int]) -> bytes:
    sizes = b"".join(
        field(1, field(2, size.encode()) if isinstance(size, str) else number_field(1, size))
        for size in shape
    )
    return field(1, name.encode()) + field(2, field(1, number_field(1, kind) + field(2, sizes)))


def field(number: int, data: bytes) -> bytes:
    """Encode a field of bytes, text or another message."""
    return varint(number << 3 | 2) + varint(len(data)) + data


def number_field(number: int, data: int) -> bytes:
    """Encode a field of a whole number."""
    return varint(number << 3) + varint(data)


def varint(number: int) -> bytes:
    encoded = bytearray()
    while number > 0x7F:
        encoded.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*encoded, number])
