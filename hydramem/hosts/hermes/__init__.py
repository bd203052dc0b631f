"""The memory provider of Hermes Agent (hermes-agent 0.19 and later)."""

from typing import Any


def register(context: Any) -> None:
    """Register the provider, as Hermes asks of a memory plugin and of its entry point."""
    from hydramem.hosts.hermes.provider import HydraMemProvider

    context.register_memory_provider(HydraMemProvider())
