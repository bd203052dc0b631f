"""Erases a memory until it is killed: `python -m tests.erase.erase_child STORE ID`."""

import sys

import hydramem
from hydramem.core.settings.config_loading import load_config

if __name__ == "__main__":
    store, id = sys.argv[1:]
    with hydramem.connect(store, config=load_config()) as memory:
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        memory.erase([id])
        sys.stdout.write("erased\n")
        sys.stdout.flush()
