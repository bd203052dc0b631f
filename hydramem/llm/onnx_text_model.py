"""A text embedding model run by onnxruntime from two files: its weights and its tokenizer.

Used directly rather than through fastembed, which imports image models, a model hub's client and a model
registry (0.3 seconds), and hands the option below on to no session.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from hydramem.llm.onnx_embedding_tables import with_small_tables

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Tokenizer

Pooling = Literal["cls", "mean"]
Rows = NDArray[np.float32]

# Padded tokens that a model reads at once. Of texts of Wikipedia, 16 took 550 MB, 4 took 280 MB and no more
# processor time.
_MOST_TOKENS = 1024


def quiet_session(weights: Path | bytes, threads: int = 0, *, optimized: bool = True) -> "InferenceSession":
    """Open an ONNX model on the CPU, its threads sleeping when they have nothing to do.

    They spin otherwise: on two cores, embedding one sentence took 50 ms of processor time instead of 10, from
    the stores that work meanwhile.

    Args:
        weights: The model's file, or its content.
        threads: CPU threads; 0 takes all.
        optimized: Whether the graph is rewritten first, to run sooner each time.
    """
    import onnxruntime

    options = onnxruntime.SessionOptions()
    if not optimized:
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    # Memory planned for each shape of input is kept: batches of texts have many, and held 280 MB.
    options.enable_mem_pattern = False
    if threads:
        options.intra_op_num_threads = options.inter_op_num_threads = threads
    given = weights if isinstance(weights, bytes) else weights.read_bytes()
    model = with_small_tables(given)
    source = str(weights) if model is given and isinstance(weights, Path) else model
    del given  # the runtime makes copies of its own
    session = onnxruntime.InferenceSession(source, options, providers=["CPUExecutionProvider"])
    # It keeps the bytes to open itself again with other providers, which nobody asks for.
    session._model_bytes = None
    return session


def parts_within(lengths: Sequence[int], most: int) -> Iterator[slice]:
    """Cut a run of texts into parts that hold no more tokens than `most` once they are padded.

    Args:
        lengths: Tokens of each text.
        most: Tokens of a part; a text that is longer is a part by itself.
    """
    start = longest = 0
    for place, length in enumerate(lengths):
        if place > start and max(longest, length) * (place - start + 1) > most:
            yield slice(start, place)
            start, longest = place, 0
        longest = max(longest, length)
    if start < len(lengths):
        yield slice(start, len(lengths))


class OnnxTextModel:
    """Turns texts into vectors; safe to use from many threads."""

    def __init__(self, session: "InferenceSession", tokenizer: "Tokenizer", pooling: Pooling) -> None:
        """Take a loaded model.

        Args:
            session: Gives one vector a token.
            tokenizer: Truncates to what the model reads, and does not pad.
            pooling: How the vectors of tokens become one: the first one's, or their mean.
        """
        self._session = session
        self._tokenizer = tokenizer
        self._pooling = pooling
        self._inputs = {one.name for one in session.get_inputs()}

    def embed(self, texts: Sequence[str], *, batch_size: int) -> Iterator[Rows]:
        """Yield one vector for each text, in order; its length is as the model has it.

        Args:
            texts: Unicode text without lone surrogates.
            batch_size: Most texts that the model reads at once, fewer where they are long; each batch is
                padded to its longest text.
        """
        for begin in range(0, len(texts), batch_size):
            encodings = self._tokenizer.encode_batch(list(texts[begin : begin + batch_size]))
            for part in parts_within([len(one.ids) for one in encodings], _MOST_TOKENS):
                yield from self._batch(encodings[part])

    def _batch(self, encodings: Sequence[Any]) -> Rows:
        shape = (len(encodings), max(len(one.ids) for one in encodings))
        given = {name: np.zeros(shape, dtype=np.int64) for name in ("input_ids", "attention_mask")}
        for place, one in enumerate(encodings):
            given["input_ids"][place, : len(one.ids)] = one.ids
            given["attention_mask"][place, : len(one.ids)] = one.attention_mask
        given["token_type_ids"] = np.zeros(shape, dtype=np.int64)  # one text, so one type
        tokens = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        pooled = tokens[:, 0] if self._pooling == "cls" else _mean(tokens, given["attention_mask"])
        return pooled.astype(np.float32, copy=False)


def open_text_model(
    weights: Path,
    tokenizer: Path,
    *,
    pooling: Pooling,
    max_tokens: int,
    threads: int,
    optimized: bool = True,
) -> OnnxTextModel:
    """Load a model from its files.

    Args:
        weights: The ONNX file.
        tokenizer: The tokenizer's JSON file.
        pooling: As `OnnxTextModel` has it.
        max_tokens: Tokens of a text that are read.
        threads, optimized: As for `quiet_session`.
    """
    from tokenizers import Tokenizer

    loaded = Tokenizer.from_file(str(tokenizer))
    loaded.no_padding()
    loaded.enable_truncation(max_length=max_tokens)
    return OnnxTextModel(quiet_session(weights, threads, optimized=optimized), loaded, pooling)


def _mean(tokens: NDArray[Any], mask: NDArray[np.int64]) -> NDArray[Any]:
    total = np.sum(tokens, axis=1, where=mask[:, :, None].astype(np.bool_), dtype=np.float64)
    means: NDArray[Any] = total / np.maximum(mask.sum(axis=1, keepdims=True), 1)
    return means
