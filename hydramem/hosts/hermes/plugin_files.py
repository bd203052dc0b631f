"""Write the provider into the home folder of Hermes, and take it out again.

The plugin is a small folder that the package carries. The provider is one line of `config.yaml`; the file as
it was before is kept beside it, so that it can be had back to the byte.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hydramem.core.errors import InvalidInputError
from hydramem.core.settings.yaml_edits import with_value, without
from hydramem.hosts.host_files.file_changes import FileChange, read_bytes
from hydramem.hosts.host_files.host_table import hermes_folder
from hydramem.hosts.host_files.machine import Machine
from hydramem.hosts.host_files.settings_file import BACKUP_SUFFIX

_PROVIDER = "hydramem"
_KEY = ("memory", "provider")
_PLUGIN = Path(__file__).parent.parent.parent / "data" / "hosts" / "hermes"


def planned_changes(machine: Machine, *, remove: bool) -> Sequence[FileChange]:
    """Return what becomes of the files of Hermes; nothing is written.

    Args:
        machine: Whose home folder; the variable HERMES_HOME counts.
        remove: Take the provider out.

    Raises:
        InvalidInputError: `config.yaml` cannot be parsed, or not be edited without changing more.
        StorageError: A file cannot be read.
    """
    home = Path(hermes_folder(machine))
    config, plugin = home / "config.yaml", home / "plugins" / _PROVIDER
    if remove:
        return (*_taken_out(config), *_deleted(plugin))
    # The plugin is there before Hermes is told to use it.
    return (*_copied(plugin), *_set(config))


def plugin_files() -> dict[str, bytes]:
    """Return the files of the plugin by name."""
    return {path.name: path.read_bytes() for path in sorted(_PLUGIN.iterdir()) if path.is_file()}


def _copied(plugin: Path) -> list[FileChange]:
    return [
        FileChange(path=plugin / name, before=read_bytes(plugin / name), after=data)
        for name, data in plugin_files().items()
    ]


def _deleted(plugin: Path) -> list[FileChange]:
    """Delete the plugin's files, and what Python compiled of them; what else is there stays."""
    compiled = sorted((plugin / "__pycache__").glob("__init__.*.pyc"))
    paths = [*compiled, *(plugin / name for name in plugin_files())]
    return [FileChange(path=path, before=read_bytes(path), after=None) for path in paths]


def _set(config: Path) -> list[FileChange]:
    before = read_bytes(config)
    text = _text(config, before)
    if _provider(config, text) == _PROVIDER:
        return [FileChange(path=config, before=before, after=before)]
    after = _edited(config, text, _PROVIDER).encode()
    change = FileChange(path=config, before=before, after=after)
    if before is None:
        return [change]
    backup = _backup(config)
    kept = FileChange(path=backup, before=read_bytes(backup), after=before, mode_of=config, is_backup=True)
    return [kept, change]


def _taken_out(config: Path) -> list[FileChange]:
    before, old = read_bytes(config), read_bytes(_backup(config))
    changes = []
    if before is not None and _provider(config, _text(config, before)) == _PROVIDER:
        changes.append(FileChange(path=config, before=before, after=_restored(config, before, old)))
    if old is not None:
        changes.append(FileChange(path=_backup(config), before=old, after=None, is_backup=True))
    return changes


def _restored(config: Path, before: bytes, old: bytes | None) -> bytes | None:
    """Return the file without our provider: its backup where nobody else has changed it since.

    Args:
        before: The file as it is.
        old: Its backup; None where there was no file, or the line was there before.
    """
    text, was = _text(config, before), _text(config, old)
    if _edited(config, was, _PROVIDER) == text:
        return old
    return _edited(config, text, _provider(config, was)).encode()


def _edited(config: Path, text: str, provider: object) -> str:
    """Return a configuration with a provider; None takes the line out."""
    try:
        return without(text, _KEY) if provider is None else with_value(text, _KEY, provider)
    except InvalidInputError as error:
        raise InvalidInputError(f"{config}: {error}; nothing is written") from error


def _provider(config: Path, text: str) -> Any:
    """Return the provider of a configuration; None where it names none."""
    import yaml

    try:
        values = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInputError(f"{config}: cannot be read as YAML: {error}; nothing is written") from error
    section = values.get("memory") if isinstance(values, dict) else None
    return section.get("provider") if isinstance(section, dict) else None


def _backup(config: Path) -> Path:
    return config.with_name(config.name + BACKUP_SUFFIX)


def _text(config: Path, data: bytes | None) -> str:
    try:
        return (data or b"").decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"{config}: is no text in UTF-8; nothing is written") from error
