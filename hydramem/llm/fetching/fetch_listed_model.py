"""Take the files of a model that fastembed lists from a hub or a folder, and try whether it can be loaded."""

import shutil
from collections.abc import Callable
from pathlib import Path

from hydramem.core.errors import InvalidInputError, ModelError, ModelUnavailableError
from hydramem.llm.fetching.model_hub import check_fetched, fetch_file, hub_endpoint, hub_obstacle, look_up
from hydramem.llm.listed_model import ListedModel, find_listed, open_listed_embedder, open_listed_reranker
from hydramem.llm.local_embedder import listed_embedder

Progress = Callable[[str], None]


def listed_model(name: str) -> ListedModel:
    """Return the cross-encoder or embedder that fastembed lists by a name, in any case.

    Raises:
        ConfigError: It lists none.
    """
    return find_listed(name, "reranker") or listed_embedder(name)


def collect_listed(
    model: ListedModel, folder: Path, ready: Path, source: Path | None, hub: str | None, report: Progress
) -> str:
    """Put the files of a model into a folder, at the paths that its repository has.

    Args:
        folder: For what is on its way.
        ready: Where the files go.
        source: A folder to take them from; None for a hub.
        hub: Address of the hub; None for the configured one.

    Returns:
        Where they come from.

    Raises:
        InvalidInputError: `source` is no folder.
        ModelUnavailableError: No hub is reachable, or it did not give a file.
        ModelError: A file is missing, or is not the one that the hub described.
    """
    if source is not None:
        report(f"Taking {model.name} from {source}.")
        _copy_from(model, source, ready)
        return str(source)
    endpoint = hub_endpoint(hub)
    advice = f"or get its files elsewhere and run `hydramem models get {model.name} --from FOLDER`"
    obstacle = hub_obstacle(endpoint)
    if obstacle is not None:
        raise ModelUnavailableError(
            f"{model.name}: {obstacle}; set HF_ENDPOINT to a hub or mirror that is, {advice}"
        )
    try:
        return _fetch(model, folder, ready, endpoint, report)
    except ModelUnavailableError as error:
        raise ModelUnavailableError(f"{model.name}: {error}, {advice}") from error


def try_listed(model: ListedModel, folder: Path) -> None:
    """Load a model from a folder and let it read a word.

    Raises:
        ModelError: It cannot be loaded, or is a model of another kind. Nothing is installed.
    """
    try:
        if model.kind == "reranker":
            (score,) = open_listed_reranker(model, folder, threads=1).rerank("a", ["b"])
            float(score)
        else:
            (vector,) = open_listed_embedder(model, folder, threads=1).embed(["a"])
            if len(vector) != model.dimension:
                raise ValueError(f"gives vectors of {len(vector)} numbers, not {model.dimension}")
    except Exception as error:  # the tokenizer's library raises nothing more precise
        raise ModelError(f"{model.name}: cannot be loaded: {error}; nothing was installed") from error


def _fetch(model: ListedModel, folder: Path, ready: Path, endpoint: str, report: Progress) -> str:
    repository = look_up(model.repository, endpoint=endpoint)
    for path in model.required:
        if path not in repository.files:
            raise ModelUnavailableError(f"the model hub's {repository.name} has no file {path}")
    files = [
        repository.files[path] for path in (*model.required, *model.optional) if path in repository.files
    ]
    size = sum(file.size or 0 for file in files)
    report(f"Fetching {model.name} ({size / 1e6:.0f} MB) from the model hub.")
    for file in files:
        fetched = fetch_file(
            repository.name, file.path, repository.revision, folder / "hub", endpoint=endpoint
        )
        check_fetched(fetched, file)
        target = ready / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        fetched.replace(target)
    return f"{repository.name}@{repository.revision}"


def _copy_from(model: ListedModel, source: Path, ready: Path) -> None:
    """Copy the files from a folder that has them where the repository does, or all beside each other."""
    if not source.is_dir():
        raise InvalidInputError(f"{source}: not a folder; {model.name} is taken from a folder with its files")
    for path in (*model.required, *model.optional):
        at = next((one for one in (source / path, source / Path(path).name) if one.is_file()), None)
        if at is not None:
            target = ready / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(at, target)
        elif path in model.required:
            raise ModelError(f"{source}: holds no file {path}; nothing was installed")
