"""What every command is told before its own arguments: where the store is, and how to answer."""

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from hydramem.core.config import Config
from hydramem.core.config_loading import load_config
from hydramem.core.errors import NotFoundError
from hydramem.memory_api.memory import Memory, config_file, connect

HOME_VARIABLE = "HYDRAMEM_HOME"


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The options that stand before or after any command.

    Attributes:
        store: The store folder as given; None where it was not.
        project: Namespace to read and write, as given; None where it was not.
        config: A YAML file of settings; None takes the one in the store.
        json: Answer in JSON.
    """

    store: Path | None = None
    project: str | None = None
    config: Path | None = None
    json: bool = False

    @property
    def folder(self) -> Path:
        """The store folder: as given, else as the environment says, else in the home folder."""
        return store_folder(self.store, os.environ)

    @property
    def namespace(self) -> str:
        """The project to read and write."""
        return "default" if self.project is None else self.project

    def settings(self, folder: Path | None = None) -> Config:
        """Return the settings that a store in this folder would be opened with."""
        return load_config(config_file(folder or self.folder, self.config))

    def open(self, *, make: bool, folder: Path | None = None, reindexing: bool = False) -> Memory:
        """Open the memory.

        Args:
            make: Whether a store that is not there is made; else a mistyped path would become one.
            folder: Where, instead of the usual place.
            reindexing: As in `connect`.

        Raises:
            NotFoundError: There is no store, and none is not to be made.
        """
        where = folder or self.folder
        if not make and not (where / "graph").exists():
            raise NotFoundError(
                f"{where}: no memory here yet; `hydramem ingest` or `hydramem remember` makes one"
            )
        return connect(where, project=self.namespace, config=self.config, reindexing=reindexing)


def store_folder(given: Path | None, environment: Mapping[str, str]) -> Path:
    """Return the folder of the store: `--store`, else `$HYDRAMEM_HOME`, else `~/.hydramem`."""
    chosen = given or Path(environment.get(HOME_VARIABLE) or "~/.hydramem")
    return chosen.expanduser().resolve()


# A command takes it as `invocation`; it is handed over, never parsed.
Given: Any = Annotated[Invocation, Parameter(parse=False)]
