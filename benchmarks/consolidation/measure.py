"""The measurement: pairs by themselves, all of them in one project, and what a memory costs.

Every figure is read through `hydramem.connect` in a new folder: LadybugDB, LanceDB, the embedder that comes
with the package, and no LLM.
"""

import tempfile
from dataclasses import dataclass
from pathlib import Path

import hydramem
from benchmarks.consolidation import figures
from benchmarks.consolidation.alone import outcomes
from benchmarks.consolidation.figures import Figure
from benchmarks.consolidation.sets import PairSets
from benchmarks.consolidation.together import follow, store_all
from benchmarks.consolidation.write_cost import WriteCost, write_cost
from hydramem.core.config import EmbeddingConfig
from hydramem.llm.choose import choose_embedder

EMBEDDER = "minilm"
HELD = 10_000
TIMED = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What was measured on a set.

    Attributes:
        pairs: Pairs of the set.
        both_true: Pairs of which neither text may end the other, generic ones included.
        cost: None where it was not measured.
    """

    set: str
    embedder: str
    pairs: int
    both_true: int
    figures: tuple[Figure, ...]
    cost: WriteCost | None


def measure(sets: PairSets, *, held: int = HELD, timed: int = TIMED) -> Report:
    """Remember all pairs, ask the questions, and time single memories.

    Args:
        sets: What to remember.
        held: Memories in the store where single ones are timed.
        timed: Memories to time; 0 leaves that out.
    """
    embedder = choose_embedder(EmbeddingConfig(model=EMBEDDER))
    with tempfile.TemporaryDirectory() as scratch:
        with hydramem.connect(Path(scratch) / "alone", embedder=embedder) as memory:
            rows = outcomes(memory, "pair", (*sets.pairs, *sets.generic))
            bare, wrapped = (
                outcomes(memory, "bare", sets.bare),
                outcomes(memory, "wrapped", sets.wrapped),
            )
        with hydramem.connect(Path(scratch) / "together", embedder=embedder) as memory:
            store = store_all(memory, sets.pairs)
            followed = [follow(memory, one) for one in sets.wordings]
        place = Path(scratch) / "filled"
        cost = write_cost(place, sets.pairs, held=held, count=timed, embedder=embedder)
    return Report(
        set=sets.name,
        embedder=embedder.fingerprint,
        pairs=len(sets.pairs),
        both_true=sum(row.pair.label == "unrelated" for row in rows),
        figures=(
            *figures.harm(rows, wrapped, store),
            *figures.consolidated(rows),
            *figures.wrappers(bare, wrapped),
            *figures.recalled(store, followed),
        ),
        cost=cost,
    )
