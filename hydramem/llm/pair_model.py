"""A small model of the package that reads two texts together: one file, checked before it is used."""

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import ModelUnavailableError
from hydramem.llm.held_model import HeldModel
from hydramem.llm.local_embedder import model_errors
from hydramem.llm.onnx_text_model import quiet_session

if TYPE_CHECKING:
    from onnxruntime import InferenceSession
    from tokenizers import Encoding, Tokenizer

_DATA = files("hydramem") / "data"
_INPUTS = ("ids", "types", "mask")


@dataclass(kw_only=True)
class PairModel:
    """A model and its data card; loaded once, at first use, whichever thread asks.

    Attributes:
        name: What errors call it.
        file: Its weights in the folder `data`; `card.json` beside it has their hash.
        most_tokens: Word pieces of a pair, the longer text being cut first; None cuts none.
        data: The folder that has it.
        held: The model and its tokenizer, in memory or not.
    """

    name: str
    file: str
    most_tokens: int | None = None
    data: Traversable = field(default=_DATA)
    held: "HeldModel[tuple[InferenceSession, Tokenizer]]" = field(init=False)

    def __post_init__(self) -> None:
        self.held = HeldModel(self._load)

    @cached_property
    def card(self) -> dict[str, Any]:
        """The data card: how the model was trained, and what it was measured to do."""
        card = self.data / self.file.rpartition("/")[0] / "card.json"
        found: dict[str, Any] = json.loads(card.read_text("utf-8"))
        return found

    def opened(self) -> "tuple[InferenceSession, Tokenizer]":
        """Return the model and its tokenizer, which does not pad.

        Raises:
            ModelUnavailableError: Its file is missing or damaged.
            ModelError: It cannot be loaded.
        """
        return self.held.get()

    def _load(self) -> "tuple[InferenceSession, Tokenizer]":
        path = self.data / self.file
        try:
            weights = path.read_bytes()
        except OSError as error:
            raise ModelUnavailableError(
                f"{self.name}: {path} cannot be read; install hydramem again"
            ) from error
        if hashlib.sha256(weights).hexdigest() != self.card["sha256"]:
            raise ModelUnavailableError(f"{self.name}: {path} is damaged; install hydramem again")
        with model_errors(self.name):
            from tokenizers import Tokenizer

            session = quiet_session(weights)
            tokenizer = Tokenizer.from_str((_DATA / "minilm" / "tokenizer.json").read_text("utf-8"))
            tokenizer.no_padding()
            if self.most_tokens is None:
                tokenizer.no_truncation()
            else:
                tokenizer.enable_truncation(self.most_tokens, strategy="longest_first")
        return session, tokenizer


def raw_scores(session: "InferenceSession", encodings: Sequence["Encoding"]) -> NDArray[np.float64]:
    """Return the scores of pairs as the model gives them, of shape (pairs, labels).

    Args:
        session: The model.
        encodings: Tokenised pairs, in the order of their two texts that the model learnt.
    """
    shape = (len(encodings), max(len(one.ids) for one in encodings))
    inputs = {name: np.zeros(shape, dtype=np.int64) for name in _INPUTS}
    for place, one in enumerate(encodings):
        inputs["ids"][place, : len(one.ids)] = one.ids
        inputs["types"][place, : len(one.ids)] = one.type_ids
        inputs["mask"][place, : len(one.ids)] = one.attention_mask
    scores: NDArray[np.float64] = session.run(None, inputs)[0].astype(np.float64)
    return scores
