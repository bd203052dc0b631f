"""Tends a store and dies after a share: `python -m tests.garden.night.night_child STORE SHARE`."""

import os
import signal
import sys

import hydramem
from hydramem.core.settings.config_loading import load_config
from hydramem.ingest.documents.ingest import Progress


def main(store: str, share: float) -> None:
    """Tend until killed."""

    def told(progress: Progress) -> None:
        if progress.what == "apply" and progress.done >= share * progress.total:
            os.kill(os.getpid(), signal.SIGKILL)

    with hydramem.connect(store, config=load_config()) as memory:
        memory.garden(phases=["prune"], progress=told)


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
