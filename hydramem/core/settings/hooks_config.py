"""The settings of hooks, apart from all others: a hook is a process of its own and has to start quickly."""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksConfig:
    """What `hydramem hook` does at the events of coding agents.

    Attributes:
        session_start: Whether a session starts with the memories of its project.
        prompt: Whether a prompt gets memories that bear on it.
        before_compaction, stop, session_end: Whether turns are captured before a session is compacted, when
            the agent stops, and when a session ends.
        max_chars: Most characters of an answer, 2000 at most; 0 injects nothing.
        min_relevance: Relevance, 0 to 1, that each memory for a prompt reaches.
        distill: Whether sessions are distilled where a model is configured, as they end or are compacted.
    """

    session_start: bool = True
    prompt: bool = True
    before_compaction: bool = True
    stop: bool = True
    session_end: bool = True
    max_chars: int = 2000
    min_relevance: float = 0.25
    distill: bool = True


def load_hooks(path: Path | None) -> HooksConfig:
    """Read what hooks do; code for settings is loaded only where one of them is set.

    Args:
        path: A YAML file, of which only the section `hooks` is looked at; None reads none.

    Raises:
        ConfigError: The file, or a value of the environment, cannot be read, or a key of this section is
            unknown or has a value of the wrong type.
    """
    is_set = any(name.startswith("HYDRAMEM_HOOKS_") for name in os.environ)
    with suppress(OSError, UnicodeDecodeError):
        if not is_set and (path is None or "hooks" not in path.read_text(encoding="utf-8")):
            return HooksConfig()
    from hydramem.core.settings.config_loading import load_section

    return load_section(path, "hooks").hooks
