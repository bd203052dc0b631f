"""HydraMem as the memory provider of Hermes Agent; the code is in the package `hydramem`.

Hermes takes this folder for a memory plugin since the text names `register_memory_provider`, and calls
`register`.
"""

from hydramem.hosts.hermes import register

__all__ = ["register"]
