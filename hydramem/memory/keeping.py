"""Operations that keep the memory: undo, dump, load."""

from hydramem.memory.handle import Handle


class Keeping(Handle):
    """What takes writes back, and moves a memory whole."""
