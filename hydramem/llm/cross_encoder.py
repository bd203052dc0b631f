"""A local cross-encoder: reads a question and a text together, from files on this machine."""

from collections.abc import Callable, Sequence
from pathlib import Path

from hydramem.core.errors import ConfigError
from hydramem.llm.listed_model import check_listed, find_listed, open_listed_reranker
from hydramem.llm.local_embedder import model_errors
from hydramem.text.surrogates import well_formed

# What a cross-encoder truncates anyway is not tokenised.
_MOST_CHARS = 8_000
Scores = Callable[[str, Sequence[str]], tuple[float, ...]]
"""How well each text answers a question; higher is better."""


def open_cross_encoder(name: str, *, threads: int = 0, models: Path | None = None) -> Scores:
    """Load a cross-encoder; nothing is downloaded.

    Args:
        name: A cross-encoder that fastembed lists.
        threads: CPU threads; 0 takes all.
        models: Folder of fetched models; None for the usual one.

    Raises:
        ConfigError: fastembed lists no such model.
        ModelUnavailableError: It is not on this machine.
        ModelError: Its files are damaged.
    """
    listed = find_listed(name, "reranker")
    if listed is None:
        raise ConfigError(
            f"search.rerank: no cross-encoder is called {name!r}; give none, llm, local, or the name of one "
            "that fastembed lists, such as Xenova/ms-marco-MiniLM-L-6-v2"
        )
    folder = check_listed(listed, models)
    with model_errors(f"reranker {listed.name}"):
        opened = open_listed_reranker(listed, folder, threads=threads)

    def score(query: str, texts: Sequence[str]) -> tuple[float, ...]:
        with model_errors(f"reranker {listed.name}"):
            scores = opened.rerank(well_formed(query), [well_formed(text)[:_MOST_CHARS] for text in texts])
            return tuple(float(one) for one in scores)

    return score
