"""The memory that an adapter is given, open or as a folder, and projects for the users of a framework."""

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from hydramem.core.argument_checks import MAX_NAME
from hydramem.core.ids import content_hash
from hydramem.sharing.connect import connect

if TYPE_CHECKING:
    from hydramem import Memory


class GivenMemory:
    """An open memory for an adapter; it closes what it opened itself, and nothing else.

    Attributes:
        memory: The open memory.
        project: Project that the adapter reads and writes; None is that of the memory.
    """

    def __init__(self, memory: "Memory | str | Path", *, project: str | None = None) -> None:
        """Take an open memory, or open a folder.

        Args:
            memory: What `hydramem.connect` returned, or a folder.
            project: Project to read and write.

        Raises:
            HydraMemError: The folder cannot be opened; see `hydramem.connect`.
        """
        self.project = project
        self._opened = isinstance(memory, str | Path)
        self.memory = connect(memory) if isinstance(memory, str | Path) else memory

    def close(self) -> None:
        """Close the memory if it was opened here; a second call does nothing."""
        if self._opened:
            self.memory.close()


def project_of(*names: str) -> str:
    """Return the name of a project for names of a framework, such as an application and its user.

    Different names have different projects: a name is percent-encoded, and a space stands between two.
    Where that is longer than a project's name may be, a hash of it takes its place.

    Args:
        names: Any texts; a blank one is a name too.
    """
    encoded = " ".join(
        quote(name, safe="", errors="surrogatepass").replace(".", "%2E") or "%" for name in names
    )
    return encoded if len(encoded) <= MAX_NAME else f"{names[0]} {content_hash(encoded)}"
