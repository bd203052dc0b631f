"""A node that remembers and recalls while another changes the embedder: FOLDER SCHEMA MODEL.

It prints the id of each acknowledged memory with the embedder that it has, until its input ends; where an
operation is refused, the name of the error.
"""

import select
import sys
import time
from pathlib import Path

from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.core.errors import HydraMemError
from hydramem.memory_api.memory import connect


def settings(schema: str, model: str = "auto") -> Config:
    return Config(
        storage=StorageConfig(graph="postgres", database_schema=schema),
        embedding=EmbeddingConfig(model=model),
    )


def text_of(name: str, number: int) -> str:
    return f"Note {name}{number} tells what rests in hall kappa{name}{number}."


def main(folder: str, schema: str, model: str) -> None:
    name = Path(folder).name
    with connect(Path(folder), project="p", config=settings(schema, model)) as memory:
        number = 0
        while not select.select([sys.stdin], [], [], 0)[0]:
            try:
                kept = memory.remember(text_of(name, number))
                found = memory.recall(text_of(name, number), limit=3).hits
                told = f"{kept.id} {memory.stats().embedder} {any(hit.id == kept.id for hit in found)}"
            except HydraMemError as error:
                told = f"{type(error).__name__} {error}".replace("\n", " ")
                time.sleep(0.1)
            sys.stdout.write(f"{number} {told}\n")
            sys.stdout.flush()
            number += 1


if __name__ == "__main__":
    main(*sys.argv[1:])
