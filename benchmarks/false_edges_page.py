"""The results page's section on false relations."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from benchmarks.edge_sizes import Sized
from benchmarks.false_edges import Told
from benchmarks.results import table, where, with_section

TITLE = "## False relations"


def placed(page: str, told: Sequence[Told], sized: Sequence[Sized]) -> str:
    """Return a results page with the section of these figures."""
    about = where()
    head = (
        *("graph", "false", "share of the true", "scorer", "AUC", "precision at 50 %", "true lost at 50 %"),
        *("caught at 2 % lost", "pruned", "lost", "seconds"),
    )
    rows = [
        (
            *(one.graph, one.kind, f"{one.share:.0%}", one.scorer, f"{one.auc:.3f}"),
            *(f"{one.precision:.2f}", f"{one.cost:.2%}", f"{one.caught:.2f}"),
            *(_share(one.pruned), _share(one.lost)),
            f"{one.seconds:.1f}",
        )
        for one in told
    ]
    sizes = [
        (
            *(f"{one.entities:,}", f"{one.relations:,}", one.scorer),
            *(f"{one.auc:.3f}", f"{one.seconds:.1f}", f"{one.peak_mb:,.0f}"),
        )
        for one in sized
    ]
    return with_section(
        page,
        TITLE,
        [
            "",
            "False relations are added to knowledge graphs: `random` ones join any two entities,",
            "`consistent` ones have an end that their type has in other relations. Every relation is scored",
            "without using itself. At 50 %: where half of the false ones are found. `gnn` also reads the",
            "meaning of names, by the embedder of a new store; `gnn without names` does not. Names in",
            "codex-s are numbers. `pruned` and `lost` are the shares of false and of true relations that the",
            "phase prune would archive by that scorer and verification together, without its limit for one",
            "run. `python -m benchmarks garden --nights --sets --out docs/results.md`,",
            f"{about['date']}, {about['machine']}.",
            "",
            *table(head, rows),
            "",
            "Scoring every relation of a synthetic graph:",
            "",
            *table(("entities", "relations", "scorer", "held-out AUC", "seconds", "peak MB"), sizes),
        ],
    )


def _share(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.2%}"


def shown(told: Sequence[Told], sized: Sequence[Sized]) -> str:
    """Return figures as lines."""
    return "\n".join(str(asdict(one)) for one in (*told, *sized))
