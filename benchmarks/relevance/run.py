"""The command: measure, show each kind of store left out, and fit what the package carries."""

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from pathlib import Path
from typing import Any

from benchmarks.relevance.asked import LANGUAGES, Store, visible_stores, written_stores
from benchmarks.relevance.fit import Row, as_data, figures, fit_all, left_out, mean
from benchmarks.relevance.measure import Measured, measure
from benchmarks.relevance.sizes import Size, figures_of_sizes, large_store, small_stores
from hydramem.core.config import EmbeddingConfig, SearchConfig
from hydramem.llm.choose import choose_embedder
from hydramem.search.relevance.relevance_anchors import encoded, measured

SHIPPED = Path(__file__).parents[2] / "hydramem" / "data" / "relevance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured.

    Attributes:
        floor: The relevance from which a query counts as answered.
        rows: A row for each kind of store, left out of the fit in turn.
        sizes: Rows of stores of other sizes.
    """

    embedder: str
    floor: float
    rows: Sequence[Row]
    sizes: Sequence[Row]


def run(data: Path, *, embedder: str, refit: bool, keep: Path | None, sizes: Sequence[Size]) -> Report:
    """Measure every store.

    Args:
        data: Folder of the sets.
        refit: Whether to write the weights that the package carries anew.
        keep: File of what was measured; what it holds is not measured again.
        sizes: Other sizes of stores to measure.
    """
    floor = SearchConfig().min_relevance
    if refit:
        _write_anchors(embedder)
    measured = _measured(data, embedder, keep, sizes)
    known, unknown = measured["fit"], measured["test"]
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
    sized = figures_of_sizes(known, {size: measured[size] for size in sizes}, floor=floor)
    return Report(embedder=embedder, floor=floor, rows=rows, sizes=sized)


def _measured(
    data: Path, embedder: str, keep: Path | None, sizes: Sequence[Size]
) -> Mapping[str, list[Measured]]:
    """Return what was measured: on stores that are fitted on, on those that are not, and at each size."""
    stores: dict[str, Callable[[], Iterable[Store]]] = {
        "fit": lambda: chain(visible_stores(data), written_stores("fit"), written_stores("languages")),
        "test": lambda: written_stores("test"),
        "small": lambda: small_stores(data),
        "large": lambda: [large_store(data)],
    }
    kept: dict[str, Any] = {}
    if keep is not None and keep.is_file():
        kept = json.loads(keep.read_text(encoding="utf-8"))
    found = {part: [_read(row) for row in rows] for part, rows in kept.items()}
    for part in ("fit", "test", *sizes):
        if part not in found:
            found[part] = measure(stores[part](), embedder=embedder)
            if keep is not None:
                rows = {name: [asdict(one) for one in each] for name, each in found.items()}
                keep.write_text(json.dumps(rows), encoding="utf-8")
    return found


def _read(row: dict[str, Any]) -> Measured:
    return Measured(**(row | {"gold_ranks": tuple(row["gold_ranks"])}))


def _write_anchors(embedder: str) -> None:
    model = choose_embedder(EmbeddingConfig(model=embedder))
    path = SHIPPED / f"{model.fingerprint.replace('/', '-')}.json"
    path.write_text(encoded(measured(model)) + "\n", encoding="utf-8")
