"""Operations on entities, scopes and trust: what is known of things, and how far it is believed."""

from hydramem.memory.handle import Handle


class Knowing(Handle):
    """What names things, files them and raises their layer."""
