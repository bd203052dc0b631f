"""Where the memory is, of which project, and where its settings are, by the environment and the folder."""

import os
from pathlib import Path

from hydramem.core.errors import ConfigError

HOME_VARIABLE = "HYDRAMEM_HOME"
PROJECT_VARIABLE = "HYDRAMEM_PROJECT"
STORAGE_VARIABLE = "HYDRAMEM_STORAGE_URL"


def store_folder(given: str | Path | None) -> Path:
    """Return the store's folder: the given one, else `$HYDRAMEM_HOME`, else `~/.hydramem`."""
    chosen = Path(given or os.environ.get(HOME_VARIABLE) or "~/.hydramem")
    return chosen.expanduser().resolve()


def storage_address() -> str:
    """Return the address of the PostgreSQL database: it holds a password, so it is never stored or shown.

    Raises:
        ConfigError: The environment does not have it.
    """
    address = os.environ.get(STORAGE_VARIABLE, "").strip()
    if not address:
        raise ConfigError(
            f"storage.graph is postgres, but {STORAGE_VARIABLE} is not set; "
            "set it to postgresql://USER:PASSWORD@HOST/DATABASE"
        )
    return address


def make_store_folder(folder: Path) -> None:
    """Create a store's folder, for this user alone to enter; one that is there keeps its rights.

    Raises:
        OSError: It cannot be created.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)


def config_file(folder: Path, given: str | Path | None) -> Path | None:
    """Return the file of settings of a store: the given one, else `config.yml` in its folder, else None."""
    if given is not None:
        return Path(given).expanduser()
    own = folder / "config.yml"
    return own if own.is_file() else None


def repository_folder(folder: Path) -> Path:
    """Return the nearest folder upward that has `.git`, else the folder itself."""
    return next((each for each in (folder, *folder.parents) if (each / ".git").exists()), folder)
