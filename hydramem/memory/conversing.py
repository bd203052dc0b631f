"""Operations on sessions and time: what was said and done when."""

from hydramem.memory.handle import Handle


class Conversing(Handle):
    """What follows conversations and orders what happened."""
