"""A local cross-encoder: reads a question and a text together, from files on this machine."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hydramem.core.errors import ConfigError, ModelUnavailableError
from hydramem.llm.catalogue import models_folder
from hydramem.llm.local_embedder import model_errors
from hydramem.text.tokens import well_formed

# What a cross-encoder truncates anyway is not tokenised.
_MOST_CHARS = 8_000
Scores = Callable[[str, Sequence[str]], tuple[float, ...]]
"""How well each text answers a question; higher is better."""


def rerankers_folder(models: Path | None = None) -> Path:
    """Return the folder that holds fetched cross-encoders."""
    return (models or models_folder()) / "rerankers"


def listed_reranker(name: str) -> str | None:
    """Return a cross-encoder's name as fastembed spells it, None where it lists none of that name."""
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    known = (str(listed["model"]) for listed in TextCrossEncoder.list_supported_models())
    return next((model for model in known if model.casefold() == name.casefold()), None)


def open_cross_encoder(name: str, *, threads: int = 0, models: Path | None = None) -> Scores:
    """Load a cross-encoder; nothing is downloaded.

    Args:
        name: A cross-encoder that fastembed lists.
        threads: CPU threads; 0 takes all.
        models: Folder of fetched models; None for the usual one.

    Raises:
        ConfigError: fastembed lists no such model.
        ModelUnavailableError: It is not on this machine.
    """
    from fastembed.rerank.cross_encoder import TextCrossEncoder

    listed = listed_reranker(name)
    if listed is None:
        raise ConfigError(
            f"search.rerank: no cross-encoder is called {name!r}; give none, llm, or the name of one that "
            "fastembed lists, such as Xenova/ms-marco-MiniLM-L-6-v2"
        )
    folder = rerankers_folder(models)
    absent = f"reranker {listed} is not on this machine; get it: `hydramem models get {listed}`"
    if not folder.is_dir():
        raise ModelUnavailableError(absent)
    with model_errors(f"reranker {listed}"):
        try:
            opened = TextCrossEncoder(
                listed, threads=threads or None, cache_dir=str(folder), local_files_only=True
            )
        except (ValueError, OSError) as error:
            raise ModelUnavailableError(absent) from error

    def score(query: str, texts: Sequence[str]) -> tuple[float, ...]:
        with model_errors(f"reranker {listed}"):
            scores = opened.rerank(well_formed(query), [well_formed(text)[:_MOST_CHARS] for text in texts])
            return tuple(float(one) for one in scores)

    return score
