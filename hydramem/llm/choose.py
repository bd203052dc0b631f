"""Which embedder and which generators a configuration means, given what a store was made with."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hydramem.core.config import EmbeddingConfig, LlmConfig, RoleConfig
from hydramem.core.errors import ConfigError, EmbeddingMismatchError, HydraMemError, ModelUnavailableError
from hydramem.llm.catalogue import find_model, resolve_auto
from hydramem.llm.contracts import Embedder, Generator
from hydramem.llm.hash_embedder import HashEmbedder
from hydramem.llm.local_embedder import known_space, listed_space, open_known, open_listed

_HASH = "hash"
_HASH_DIMENSION = 384
_WITH_KEY = ("openai", "anthropic")


def choose_embedder(
    settings: EmbeddingConfig,
    *,
    stored: str | None = None,
    models: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Embedder:
    """Return the embedder that a store is opened with; no model is loaded yet.

    `auto` means the model that the store was made with, and for a new store the best on this machine.

    Args:
        settings: The section `embedding` of the configuration.
        stored: Fingerprint that an existing store keeps; None for a new one.
        models: Folder of fetched models; None for the usual one.
        environment: Where the key that `api_key_env` names is looked up; None for the process's own.

    Raises:
        EmbeddingMismatchError: The configuration names another model than the store's.
        ModelUnavailableError: The model is not on this machine.
        ConfigError: There is no such model, or it cannot give the dimension.
    """
    if settings.provider != "local":
        return _open_remote(settings, stored, os.environ if environment is None else environment)
    if settings.model == "auto":
        if stored is not None:
            return _open_local(stored, settings, models)
        return open_known(resolve_auto(models), settings=settings, models=models)
    wanted = _wanted_fingerprint(settings)
    if stored is not None and stored != wanted:
        raise EmbeddingMismatchError(_mismatch_message(wanted, stored))
    return _open_local(wanted, settings, models)


def choose_next_embedder(
    settings: EmbeddingConfig,
    model: str | None,
    *,
    models: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Embedder:
    """Return the embedder that a store shall move to; no model is loaded yet.

    Args:
        settings: The section `embedding` of the configuration.
        model: As `embedding.model`, also with a dimension (`NAME/256`) or a provider (`ollama:NAME`,
            `openai:NAME`); None for what `settings` name, where `auto` is the best on this machine.
        models: Folder of fetched models; None for the usual one.
        environment: Where the key that `api_key_env` names is looked up; None for the process's own.

    Raises:
        ModelUnavailableError: The model is not on this machine.
        ConfigError: There is no such model, or it cannot give the dimension.
    """
    if model is not None:
        settings = _settings_for(settings, model)
    return choose_embedder(settings, models=models, environment=environment)


def _settings_for(settings: EmbeddingConfig, model: str) -> EmbeddingConfig:
    """Read a model's name with its provider and dimension, as a fingerprint spells them."""
    stem, _, digits = model.rpartition("/")
    name, dimension = (stem, int(digits)) if stem and digits.isdecimal() else (model, 0)
    provider, _, rest = name.partition(":")
    if rest and provider in ("ollama", "openai"):
        base_url = settings.base_url if settings.provider == provider else ""
        remote: Literal["ollama", "openai"] = "ollama" if provider == "ollama" else "openai"
        return replace(settings, provider=remote, model=rest, dimension=dimension, base_url=base_url)
    if settings.provider != "local" and (name in ("auto", _HASH) or find_model(name) is not None):
        return replace(settings, provider="local", model=name, dimension=dimension, base_url="")
    if name == settings.model:
        return replace(settings, dimension=dimension or settings.dimension)
    return replace(settings, model=name, dimension=dimension)


def still_to_configure(settings: EmbeddingConfig, stored: str) -> tuple[str, ...]:
    """Say what keeps a store of this fingerprint from being opened with these settings, if anything."""
    try:
        choose_embedder(settings, stored=stored)
    except (EmbeddingMismatchError, ConfigError) as error:
        return (f"before it is opened again: {error}",)
    return ()


def choose_generator(
    settings: LlmConfig, role: str, *, environment: Mapping[str, str] | None = None
) -> Generator | None:
    """Return the generator of a role, or None where there is none.

    Args:
        settings: The section `llm` of the configuration.
        role: extract, classify, consolidate, link, infer, verify or rerank; what it does not set it inherits.
        environment: Where the key that `api_key_env` names is looked up; None for the process's own.

    Raises:
        ConfigError: There is no such role.
        ModelUnavailableError: The provider's client is not installed, or its key is not set.
    """
    merged = _for_role(settings, role)
    if merged.provider == "none":
        return None
    environment = os.environ if environment is None else environment
    if merged.provider == "openai":
        from hydramem.llm.providers.openai import OpenAIGenerator

        return OpenAIGenerator(merged, environment=environment)
    if merged.provider == "anthropic":
        from hydramem.llm.providers.anthropic import AnthropicGenerator

        return AnthropicGenerator(merged, environment=environment)
    from hydramem.llm.providers.ollama import OllamaGenerator, ollama_answers

    if merged.provider == "auto" and not ollama_answers(merged.base_url):
        return None
    return OllamaGenerator(merged)


def _for_role(settings: LlmConfig, role: str) -> LlmConfig:
    override = getattr(settings.roles, role, None)
    if not isinstance(override, RoleConfig):
        raise ConfigError(f"llm.roles: there is no role {role!r}")
    if override.provider == "" or override.provider == settings.provider:
        inherited = settings
    else:
        # Another provider's model and address mean nothing here, and its key is not for others to see.
        key_env = "" if settings.provider in _WITH_KEY else settings.api_key_env
        inherited = replace(settings, provider=override.provider, model="", base_url="", api_key_env=key_env)
    return replace(
        inherited,
        model=override.model or inherited.model,
        base_url=override.base_url or inherited.base_url,
        api_key_env=override.api_key_env or inherited.api_key_env,
    )


def _wanted_fingerprint(settings: EmbeddingConfig) -> str:
    """Return the fingerprint that an explicit local configuration asks for."""
    if settings.model == _HASH:
        return f"{_HASH}/{settings.dimension or _HASH_DIMENSION}"
    known = find_model(settings.model)
    space = (
        known_space(known, settings.dimension) if known else listed_space(settings.model, settings.dimension)
    )
    return space.fingerprint


def _open_local(fingerprint: str, settings: EmbeddingConfig, models: Path | None) -> Embedder:
    """Return the local embedder that a fingerprint names."""
    name, _, digits = fingerprint.rpartition("/")
    if name.startswith(("ollama:", "openai:")):
        raise EmbeddingMismatchError(_mismatch_message("a local model", fingerprint))
    if not name or not digits.isdecimal():
        raise EmbeddingMismatchError(f"the store's embedder {fingerprint!r} is not known to this version")
    if name == _HASH:
        return HashEmbedder(int(digits))
    exact = replace(settings, dimension=int(digits))
    known = find_model(name)
    if known is not None:
        return open_known(known, settings=exact, models=models)
    return open_listed(name, settings=exact, models=models)


def _open_remote(settings: EmbeddingConfig, stored: str | None, environment: Mapping[str, str]) -> Embedder:
    if settings.model in ("auto", _HASH):
        raise ConfigError(f"embedding.model: name the model to use at the provider {settings.provider}")
    name = f"{settings.provider}:{settings.model}"
    if stored is not None and stored.rpartition("/")[0] != name:
        raise EmbeddingMismatchError(_mismatch_message(name, stored))
    kept = int(stored.rpartition("/")[2]) if stored else 0
    if stored is not None and settings.dimension not in (0, kept):
        raise EmbeddingMismatchError(_mismatch_message(f"{name}/{settings.dimension}", stored))
    if settings.provider == "ollama":
        from hydramem.llm.providers.ollama import OllamaEmbedder

        return OllamaEmbedder(settings, known_dimension=kept)
    from hydramem.llm.providers.openai import OpenAIEmbedder

    return OpenAIEmbedder(settings, environment=environment, known_dimension=kept)


def _mismatch_message(wanted: str, stored: str) -> str:
    return (
        f"the store holds vectors of {stored}, and the configuration asks for {wanted}; set `embedding` "
        "to the store's model, or change the store's vectors with `hydramem reindex --model NAME`"
    )


class AbsentEmbedder:
    """Knows its vector space and makes no vectors; see `Embedder`.

    Args:
        fingerprint: Name of the vector space.
        dimension: Length of its vectors.
        reason: Why the embedder cannot be had.
    """

    def __init__(self, fingerprint: str, dimension: int, reason: HydraMemError) -> None:
        self.fingerprint = fingerprint
        self.dimension = dimension
        self._reason = reason

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Raise ModelUnavailableError."""
        raise ModelUnavailableError(str(self._reason)) from self._reason

    def embed_query(self, text: str) -> NDArray[np.float32]:
        """Raise ModelUnavailableError."""
        raise ModelUnavailableError(str(self._reason)) from self._reason
