"""The options of every command: the store, the project, the configuration and the form of the output."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hydramem.core.errors import NotFoundError
from hydramem.core.settings.environment import PROJECT_VARIABLE, store_folder

if TYPE_CHECKING:
    from hydramem import Config, Memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Invocation:
    """The options that can be given before or after any command.

    Attributes:
        store: The store folder; None where it is not given.
        project: Project to read and write; None where it is not given.
        config: YAML file of settings; None takes the one in the store.
        json: Whether to answer in JSON.
        verbose: Whether to show more of a result; only some commands take it.
    """

    store: Path | None = None
    project: str | None = None
    config: Path | None = None
    json: bool = False
    verbose: bool = False

    @property
    def folder(self) -> Path:
        """The store folder: `--store`, else `$HYDRAMEM_HOME`, else `~/.hydramem`."""
        return store_folder(self.store)

    @property
    def namespace(self) -> str:
        """The project to read and write: `--project`, else `$HYDRAMEM_PROJECT`, else `default`."""
        return self.project if self.project is not None else os.environ.get(PROJECT_VARIABLE) or "default"

    def settings(self) -> "Config":
        """Return the settings of the store."""
        from hydramem.core.settings.config_loading import config_file, load_config

        return load_config(config_file(self.folder, self.config))

    def open(
        self, *, make: bool, folder: Path | None = None, reindexing: bool = False, salvage: bool = False
    ) -> "Memory":
        """Open the memory.

        Args:
            make: Whether to make a missing store; a mistyped path would become one.
            folder: Folder of the store, instead of the given one.
            reindexing, salvage: As in `connect`.

        Raises:
            NotFoundError: There is no store, and `make` is false.
        """
        where = folder or self.folder
        # Vectors without a graph are a damaged store, which `connect` names.
        if not make and not any((where / part).exists() for part in ("graph", "vectors")):
            raise NotFoundError(
                f"{where}: no memory here yet; `hydramem ingest` or `hydramem remember` makes one"
            )
        from hydramem.sharing.connect import connect  # not before there is something to open

        return connect(
            where,
            project=self.namespace,
            config=self.config,
            reindexing=reindexing,
            salvage=salvage,
            background=None,
        )


# The type of the parameter `invocation` of a command: `main` passes it, Cyclopts does not parse it.
Given: Any = Invocation
