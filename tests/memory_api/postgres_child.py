"""A process with a folder of its own that remembers in a memory on PostgreSQL: FOLDER SCHEMA NAME COUNT."""

import hashlib
import sys
from pathlib import Path

from hydramem.core.config import Config, EmbeddingConfig, StorageConfig
from hydramem.memory_api.memory import connect


def settings(schema: str) -> Config:
    return Config(
        storage=StorageConfig(graph="postgres", database_schema=schema),
        embedding=EmbeddingConfig(model="hash"),
    )


def memory_text(name: str, number: int) -> str:
    """Return a text that is like no other, and names someone whom many others name."""
    digest = hashlib.blake2b(f"{name} {number}".encode(), digest_size=24).hexdigest()
    words = " ".join(digest[place : place + 6] for place in range(0, 48, 6))
    return f"Ada Lovelace told {name}{number}: {words}."


def main() -> None:
    folder, schema, name, count = sys.argv[1:]
    with connect(Path(folder), project="p", config=settings(schema)) as memory:
        for number in range(int(count)):
            kept = memory.remember(memory_text(name, number))
            sys.stdout.write(f"{number} {kept.id}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main()
