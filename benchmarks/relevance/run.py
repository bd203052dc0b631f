"""The command: measure, show each kind of store left out, and fit what the package carries."""

import json
from dataclasses import asdict
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.relevance.asked import LANGUAGES, visible_stores, written_stores
from benchmarks.relevance.fit import Row, as_data, figures, fit_all, left_out, mean
from benchmarks.relevance.measure import Measured, measure
from hydramem.core.config import EmbeddingConfig, SearchConfig
from hydramem.llm.choose import choose_embedder
from hydramem.search.relevance.relevance_anchors import encoded, measured

SHIPPED = Path(__file__).parents[2] / "hydramem" / "data" / "relevance"


def run(data: Path, *, embedder: str, refit: bool, keep: Path | None) -> tuple[list[Row], float]:
    """Measure every store; return a row for each kind, left out of the fit in turn.

    Args:
        data: Folder of the sets.
        refit: Whether to write the weights that the package carries anew.
        keep: File of what was measured: read where it is, written where it is not.
    """
    floor = SearchConfig().min_relevance
    if refit:
        _write_anchors(embedder)
    known, unknown = _measured(data, embedder, keep)
    other_languages = {one.store for one in known if one.store_kind == LANGUAGES}
    found = left_out(
        known, floor=floor, of=lambda one: one.store if one.store in other_languages else one.store_kind
    )
    rows = [row for row in found if row.store not in other_languages]
    rows.append(mean("mean of these", rows))
    rows += [row for row in found if row.store in other_languages]
    weights = fit_all(known)
    for kind in dict.fromkeys(one.store_kind for one in unknown):
        of_kind = [one for one in unknown if one.store_kind == kind]
        rows.append(figures(f"test: {kind}", of_kind, weights, floor=floor))
    if refit:
        table = {"embedder": embedder, "floor": floor, "rows": [asdict(row) for row in rows]}
        path = SHIPPED / "weights.json"
        path.write_text(json.dumps(as_data(known, table), indent=1) + "\n", encoding="utf-8")
    return rows, floor


def _measured(data: Path, embedder: str, keep: Path | None) -> tuple[list[Measured], list[Measured]]:
    """Return what was measured on stores that are fitted on, and on those that are not."""
    if keep is not None and keep.is_file():
        kept = json.loads(keep.read_text(encoding="utf-8"))
        known, unknown = ([_read(row) for row in kept[part]] for part in ("fit", "test"))
        return known, unknown
    stores = chain(visible_stores(data), written_stores("fit"), written_stores("languages"))
    known, unknown = measure(stores, embedder=embedder), measure(written_stores("test"), embedder=embedder)
    if keep is not None:
        rows = {"fit": [asdict(one) for one in known], "test": [asdict(one) for one in unknown]}
        keep.write_text(json.dumps(rows), encoding="utf-8")
    return known, unknown


def _read(row: dict[str, Any]) -> Measured:
    return Measured(**(row | {"gold_ranks": tuple(row["gold_ranks"])}))


def _write_anchors(embedder: str) -> None:
    model = choose_embedder(EmbeddingConfig(model=embedder))
    path = SHIPPED / f"{model.fingerprint.replace('/', '-')}.json"
    path.write_text(encoded(measured(model)) + "\n", encoding="utf-8")
