"""A model hub: what files a repository has there, and fetching one, with errors that say what to do.

The hub is the one that huggingface_hub is set to: `HF_ENDPOINT` names a mirror, `HF_TOKEN` is sent to a hub
that asks who wants a file.
"""

import hashlib
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from errno import EACCES, EDQUOT, ENOSPC, EPERM, EROFS
from functools import partial
from pathlib import Path

from hydramem.core.errors import ModelError, ModelUnavailableError

_SECONDS = 5.0
# What is wrong with the disk here is not the hub's fault.
_OWN_DISK = (EACCES, EDQUOT, ENOSPC, EPERM, EROFS)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubFile:
    """A file of a repository, as the hub describes it.

    Attributes:
        path: Its path in the repository.
        size: Bytes; None where the hub does not say.
        sha256: Its hash, where the hub keeps it as a large file; else empty.
        git_hash: Its hash as a git blob (SHA-1), where it is kept in git; else empty.
    """

    path: str
    size: int | None = None
    sha256: str = ""
    git_hash: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HubRepository:
    """A repository of a hub at one revision.

    Attributes:
        revision: The commit.
        files: Its files by path.
    """

    name: str
    revision: str
    files: dict[str, HubFile]


def hub_endpoint(hub: str | None = None) -> str:
    """Return the address of the model hub; of the configured one for None."""
    from huggingface_hub import constants

    return hub or str(constants.ENDPOINT)


def hub_obstacle(endpoint: str) -> str | None:
    """Ask the hub once, briefly: its client would retry for minutes where there is no network."""
    import httpx
    from huggingface_hub import constants

    if constants.HF_HUB_OFFLINE:
        return "the model hub is switched off by HF_HUB_OFFLINE"
    try:
        answer = httpx.head(endpoint, timeout=_SECONDS, follow_redirects=True)
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"no model hub is reachable ({type(error).__name__})"
    if answer.status_code >= 500:
        return f"the model hub answers {answer.status_code}"
    return None


def look_up(name: str, *, endpoint: str) -> HubRepository:
    """Return the newest revision of a repository.

    Raises:
        ModelUnavailableError: The hub has no such repository, refuses it, or does not answer.
    """
    from huggingface_hub import HfApi

    with hub_errors(name):
        found = HfApi(endpoint=endpoint).model_info(name, files_metadata=True, timeout=_SECONDS)
    files = [
        HubFile(
            path=each.rfilename,
            size=each.size,
            sha256=each.lfs.sha256 if each.lfs else "",
            git_hash="" if each.lfs else each.blob_id or "",
        )
        for each in found.siblings or ()
    ]
    return HubRepository(name=name, revision=found.sha or "main", files={each.path: each for each in files})


def fetch_file(repository: str, path: str, revision: str, folder: Path, *, endpoint: str) -> Path:
    """Fetch a file into a folder, at its path in the repository; a broken connection is taken up again.

    Args:
        repository: Its name at the hub.
        path: The file's path there.
        revision: A commit or branch.
        folder: Where the file goes.
        endpoint: Address of the hub.

    Raises:
        ModelUnavailableError: The hub did not give it whole.
    """
    from huggingface_hub import hf_hub_download

    with hub_errors(repository):
        return Path(
            hf_hub_download(
                repository,
                path,
                revision=revision,
                local_dir=folder,
                endpoint=endpoint,
                etag_timeout=_SECONDS,
            )
        )


def check_fetched(path: Path, file: HubFile) -> None:
    """Raise ModelError where a fetched file is not, byte for byte, the one that the hub described."""
    size = path.stat().st_size
    if file.size is not None and size != file.size:
        raise ModelError(f"{file.path}: expected {file.size} bytes, found {size}; nothing was installed")
    for name, expected, begin in (
        ("SHA-256", file.sha256, b""),
        ("SHA-1", file.git_hash, b"blob %d\0" % size),
    ):
        if not expected:
            continue
        start = partial(hashlib.new, name.replace("-", ""), begin, usedforsecurity=False)
        with path.open("rb") as stream:
            found = hashlib.file_digest(stream, start).hexdigest()
        if found != expected:
            raise ModelError(f"{file.path}: expected {name} {expected}, found {found}; nothing was installed")


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Turn what the hub's client raises into a `ModelUnavailableError` that says what stood in the way."""
    import httpx
    from huggingface_hub.errors import HfHubHTTPError

    logger = logging.getLogger("huggingface_hub")
    level = logger.level
    # Its warnings of each new attempt tell a reader of the terminal nothing: the error does, in the end.
    logger.setLevel(logging.ERROR)
    try:
        yield
    except (HfHubHTTPError, httpx.HTTPError, OSError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _OWN_DISK:
            raise
        raise ModelUnavailableError(_reason(repository, error)) from error
    finally:
        logger.setLevel(level)


def _reason(repository: str, error: Exception) -> str:
    from huggingface_hub.errors import FileMetadataError

    response = getattr(error, "response", None)
    status = response.status_code if response is not None else 0
    if status in (401, 403):
        return (
            f"the model hub refuses {repository} ({status}): there is no such repository, or it asks who you "
            "are; accept its terms there and set HF_TOKEN"
        )
    if status == 404:
        return f"the model hub has no {repository}, or not all of its files (404)"
    cause = error.__cause__ or error
    if isinstance(cause, FileMetadataError | ValueError):
        return (
            f"what answers at the hub's address is no model hub ({type(cause).__name__}); check HF_ENDPOINT"
        )
    if status:
        return f"the model hub did not give {repository} (it answers {status}); try again later"
    return f"the model hub did not give {repository} whole ({type(cause).__name__}); try again"
