"""What cosines of an embedder mean: carried with the package for some, measured once by the store for others.

Both are made in the same way, from the short texts of `data/relevance/phrases.toml`.
"""

import base64
import json
import logging
import threading
from importlib.resources import files
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hydramem.core.errors import StorageError
from hydramem.core.ids import content_hash
from hydramem.core.package_data import data_tables
from hydramem.llm.contracts import Embedder
from hydramem.search.relevance.relevance import Anchors
from hydramem.verification.calibration.saved_calibrations import SavedFiles

log = logging.getLogger(__name__)


class AnchorsByEmbedder:
    """The anchors of the embedders that a store has used. Safe to use from many threads.

    Args:
        folder: The store's folder; None keeps them for as long as this lives.
    """

    def __init__(self, folder: Path | None) -> None:
        self._files = SavedFiles(None if folder is None else folder / "models" / "relevance")
        self._lock = threading.Lock()
        self._known: dict[str, Anchors] = {}

    def of(self, embedder: Embedder) -> Anchors:
        """Return the anchors of an embedder; they are measured where neither package nor store has them.

        Raises:
            ModelError: The embedder failed.
        """
        with self._lock:
            if embedder.fingerprint not in self._known:
                self._known[embedder.fingerprint] = self._found(embedder)
            return self._known[embedder.fingerprint]

    def _found(self, embedder: Embedder) -> Anchors:
        carried = carried_anchors(embedder.fingerprint)
        if carried is not None:
            return carried
        # Other phrases make other anchors, so their hash is a part of the name.
        name = f"{content_hash(f'{embedder.fingerprint} {_phrases_hash()}')[:32]}.json"
        try:
            stored = self._files.load(name)
            if stored is not None:
                return decoded(_checked(stored))
        except (StorageError, ValueError, KeyError) as error:
            log.warning("%s; the embedder is measured again", error)
        made = measured(embedder)
        try:
            text = encoded(made)
            self._files.save(name, f"{content_hash(text)}\n{text}")
        except StorageError as error:
            log.warning("%s; the next process measures the embedder again", error)
        return made


def carried_anchors(fingerprint: str) -> Anchors | None:
    """Return the anchors that the package has for an embedder; None where it has none."""
    file = files("hydramem") / "data" / "relevance" / f"{fingerprint.replace('/', '-')}.json"
    return decoded(file.read_text(encoding="utf-8")) if file.is_file() else None


def measured(embedder: Embedder) -> Anchors:
    """Measure an embedder by the texts of the package.

    Raises:
        ModelError: The embedder failed.
    """
    tables = data_tables("relevance/phrases")
    answered = tables["answered"]
    # In one batch: a model behind a network answers once, not a hundred times.
    vectors = embedder.embed_documents(
        [
            *tables["nothing_asked"],
            *(one["question"] for one in answered),
            *(one["statement"] for one in answered),
        ]
    )
    phrases = len(tables["nothing_asked"])
    nothing_asked, questions, statements = np.split(vectors, [phrases, phrases + len(answered)])
    return Anchors(
        low=float((nothing_asked @ statements.T).max(axis=1).mean()),
        high=float(np.einsum("ij,ij->i", questions, statements).mean()),
        nothing_asked=_rounded(nothing_asked),
    )


def encoded(anchors: Anchors) -> str:
    """Write anchors as JSON; the vectors are 16-bit floats, row by row, in base64."""
    vectors = anchors.nothing_asked.astype("<f2")
    return json.dumps(
        {
            "low": round(anchors.low, 4),
            "high": round(anchors.high, 4),
            "dimension": vectors.shape[1],
            "nothing_asked": base64.b64encode(vectors.tobytes()).decode("ascii"),
        },
        indent=1,
    )


def decoded(text: str) -> Anchors:
    """Read what `encoded` wrote.

    Raises:
        ValueError, KeyError: The text is damaged.
    """
    found = json.loads(text)
    flat = np.frombuffer(base64.b64decode(found["nothing_asked"], validate=True), dtype="<f2")
    vectors = flat.reshape(-1, int(found["dimension"])).astype(np.float32)
    return Anchors(low=float(found["low"]), high=float(found["high"]), nothing_asked=vectors)


def _checked(stored: str) -> str:
    """Return a text that was stored after a line with its hash.

    Raises:
        ValueError: It does not fit its hash.
    """
    hash, _, text = stored.partition("\n")
    if content_hash(text) != hash:
        raise ValueError("the anchors of an embedder are damaged")
    return text


def _rounded(vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return what is left of vectors when they are stored, so that both ways give one relevance."""
    return vectors.astype(np.float16).astype(np.float32)


def _phrases_hash() -> str:
    file = files("hydramem") / "data" / "relevance" / "phrases.toml"
    return content_hash(file.read_text(encoding="utf-8"))
