"""The error tree: what can go wrong, named by what the caller can do about it.

HydraMemError
├── ConfigError              a configuration key or value is wrong
├── InvalidInputError        an argument is wrong (also a ValueError)
├── NotFoundError            the named thing is not in the store
├── StorageError             the stores cannot do what was requested
│   ├── StoreBusyError       another process holds the store
│   ├── DiskFullError        the disk has no room for what was to be written
│   ├── ReadOnlyError        the store's folder cannot be written
│   ├── SchemaError          the store was written by another version
│   └── EmbeddingMismatchError   the store holds vectors of another embedder
└── ModelError               an embedder or generator failed
    ├── ModelUnavailableError    not installed, not reachable, or timed out
    └── ModelReplyError          answered with something that cannot be used
"""


class HydraMemError(Exception):
    """Root of every error that HydraMem raises on purpose."""


class ConfigError(HydraMemError):
    """A configuration key or value is wrong; the message names its path."""


class InvalidInputError(HydraMemError, ValueError):
    """An argument is wrong; nothing was written."""


class NotFoundError(HydraMemError):
    """The named thing is not in the store."""


class StorageError(HydraMemError):
    """A store cannot do what was requested."""


class StoreBusyError(StorageError):
    """Another process holds the store, or too many calls wait to use it; the message says which."""


class DiskFullError(StorageError):
    """The disk has no room for what was to be written; the message says how much is free."""


class ReadOnlyError(StorageError):
    """The store's folder cannot be written; it can be read."""


class SchemaError(StorageError):
    """The store was written by a version that this one cannot read."""


class EmbeddingMismatchError(StorageError):
    """The store holds vectors of another embedder than the configured one."""


class ModelError(HydraMemError):
    """A model failed."""


class ModelUnavailableError(ModelError):
    """The model is not installed, not reachable, or did not answer in time."""


class ModelReplyError(ModelError):
    """The model answered with something that cannot be used."""


class CallCancelledError(BaseException):
    """Nobody waits for a call any more: raised where its operation reports its progress.

    It is no Exception, so that no operation takes it for a source that cannot be read.
    """
