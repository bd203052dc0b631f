"""The numbers of the advisory locks: of a store's schema, of the whole store, and of each project.

A write takes the lock of the store shared and those of its projects alone, in the order of their numbers; who
names no project takes the lock of the store alone. Several stores of one database do not wait for each other.
"""

from collections.abc import Iterable
from hashlib import blake2b


def _number(*parts: str) -> int:
    """Return 64 bits, with sign, of a hash of texts."""
    text = "\0".join(parts).encode("utf-8", "surrogatepass")
    return int.from_bytes(blake2b(text, digest_size=8).digest(), "big", signed=True)


def schema_lock(schema: str) -> int:
    """Return the lock under which the tables of a schema are made and changed."""
    return _number("schema", schema)


def policy_lock(schema: str) -> int:
    """Return the lock under which tables of a schema get their policies."""
    return _number("policies", schema)


def store_lock(schema: str) -> int:
    """Return the lock of all projects of a schema."""
    return _number("store", schema)


def project_locks(schema: str, projects: Iterable[str]) -> list[int]:
    """Return the locks of some projects, in the order in which they are taken."""
    return sorted({_number("project", schema, project) for project in projects})


def job_lock(schema: str, id: str) -> int:
    """Return the lock that a process holds while it does a job."""
    return _number("job", schema, id)


def night_lock(schema: str, project: str) -> int:
    """Return the lock that the gardener holds while it tends a project."""
    return _number("night", schema, project)


def vectors_lock(schema: str) -> int:
    """Return the lock of who moves a store to other vectors, or deletes vectors that are not in use."""
    return _number("vectors", schema)
