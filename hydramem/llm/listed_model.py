"""Models that fastembed lists beside those of the catalogue: embedders and cross-encoders.

Fetched ones are kept in a folder each, with the paths that their repository has, and `files.json` beside
them: where they come from, and the hash of every file, which is checked before a model is loaded.
"""

import json
from dataclasses import dataclass
from hashlib import file_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from hydramem.core.errors import ModelError, ModelUnavailableError
from hydramem.llm.catalogue import ModelFile, ModelView, check_file, models_folder

if TYPE_CHECKING:
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

Kind = Literal["embedder", "reranker"]
_MANIFEST = "files.json"
_FOLDERS: dict[Kind, str] = {"embedder": "fastembed", "reranker": "rerankers"}
_TOKENIZER = "tokenizer.json"
_OPTIONAL = ("config.json", "tokenizer_config.json", "special_tokens_map.json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListedModel:
    """A model that fastembed lists.

    Attributes:
        name: As fastembed spells it.
        dimension: Length of its vectors; 0 for a cross-encoder.
        repository: Where a model hub has it.
        required: Paths of the files without which it cannot be loaded.
        optional: Paths of files that are taken where the repository has them.
    """

    name: str
    kind: Kind
    dimension: int
    licence: str
    repository: str
    required: tuple[str, ...]
    optional: tuple[str, ...] = _OPTIONAL

    def folder(self, models: Path | None = None) -> Path:
        """Return the folder that it is kept in, whether it is there or not."""
        return (models or models_folder()) / _FOLDERS[self.kind] / self.name.replace("/", "--")


def find_listed(name: str, kind: Kind) -> ListedModel | None:
    """Return the model that fastembed lists by a name, in any case; None for no such."""
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    described = TextEmbedding if kind == "embedder" else TextCrossEncoder
    for each in described.list_supported_models():
        if each["model"].casefold() == name.casefold() and each["sources"]["hf"]:
            return ListedModel(
                name=each["model"],
                kind=kind,
                dimension=each.get("dim", 0),
                licence=each["license"],
                repository=each["sources"]["hf"],
                required=(each["model_file"], *each["additional_files"], _TOKENIZER),
            )
    return None


def write_manifest(model: ListedModel, folder: Path, *, origin: str) -> None:
    """Write down what the files of a folder are.

    Args:
        origin: Repository and revision, or the folder they were taken from.
    """
    files = []
    for path in (*model.required, *model.optional):
        if (folder / path).is_file():
            with (folder / path).open("rb") as stream:
                digest = file_digest(stream, "sha256").hexdigest()
            size = (folder / path).stat().st_size
            files.append({"name": path, "sha256": digest, "size": size})
    about = {"name": model.name, "dimension": model.dimension, "licence": model.licence, "origin": origin}
    (folder / _MANIFEST).write_text(json.dumps(about | {"files": files}, indent=1) + "\n", encoding="utf-8")


def check_listed(model: ListedModel, models: Path | None = None) -> Path:
    """Return the folder of a fetched model, whose files are as they were fetched.

    Raises:
        ModelUnavailableError: It is not on this machine.
        ModelError: A file is missing or is another one.
    """
    folder = model.folder(models)
    get = f"`hydramem models get {model.name}`"
    if not folder.is_dir():
        what = "embedding model" if model.kind == "embedder" else "reranker"
        raise ModelUnavailableError(f"{what} {model.name} is not on this machine; get it: {get}")
    for file in _manifest(folder, advice=f"fetch it again with {get}")[1]:
        check_file(folder / file.name, file, advice=f"fetch it again with {get}")
    return folder


def open_listed_embedder(model: ListedModel, folder: Path, *, threads: int) -> "TextEmbedding":
    """Load an embedder from its folder; 0 threads takes all."""
    from fastembed import TextEmbedding

    return TextEmbedding(model.name, threads=threads or None, specific_model_path=str(folder))


def open_listed_reranker(model: ListedModel, folder: Path, *, threads: int) -> "TextCrossEncoder":
    """Load a cross-encoder from its folder; 0 threads takes all."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    return TextCrossEncoder(model.name, threads=threads or None, specific_model_path=str(folder))


def list_fetched(*, models: Path | None = None) -> tuple[ModelView, ...]:
    """List the models that were fetched and are not in the catalogue, embedders before cross-encoders."""
    root = models or models_folder()
    manifests = [path for name in _FOLDERS.values() for path in sorted((root / name).glob(f"*/{_MANIFEST}"))]
    return tuple(view_fetched(path.parent) for path in manifests)


def view_fetched(folder: Path) -> ModelView:
    """Return a fetched model as `models list` shows it.

    Raises:
        ModelError: Its list of files cannot be read.
    """
    about, files = _manifest(folder, advice="fetch the model again, or remove the folder")
    return ModelView(
        name=about["name"],
        dimension=about["dimension"],
        size=sum(file.size for file in files),
        licence=about["licence"],
        where=str(folder),
        installed=True,
        carried=False,
    )


def _manifest(folder: Path, *, advice: str) -> tuple[dict[str, Any], list[ModelFile]]:
    path = folder / _MANIFEST
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        files = [ModelFile(**file) for file in about["files"]]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ModelError(f"{path}: cannot be read ({type(error).__name__}); {advice}") from error
    return about, files
