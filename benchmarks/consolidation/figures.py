"""Figures of what was measured, each with its target: pure functions of outcomes."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from benchmarks.consolidation.alone import PairOutcome
from benchmarks.consolidation.sets import Label
from benchmarks.consolidation.together import FollowedWordings, Store, StoredPair

MOST_LOOKALIKES = 0.15
LEAST_UPDATES = 0.88
LEAST_DUPLICATES = 0.80
LEAST_FIRST = 26 / 30
LEAST_CURRENT = 0.90
LEAST_OLD = 0.95
WITHIN = 0.05


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The share of one kind."""

    kind: str
    count: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A count, of how many, and what it must reach.

    Attributes:
        share: None where there is nothing to count.
        target: Empty where none is set.
        met: None where there is no target, or nothing to count.
        parts: The same by kind, where there are several.
    """

    name: str
    count: int
    of: int
    share: float | None
    target: str = ""
    met: bool | None = None
    parts: tuple[Part, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A share that must not be passed, or must be reached, in words."""

    words: str
    least: float = 0.0
    most: float = 1.0


def at_least(share: float) -> Target:
    """Return the target to reach a share."""
    return Target(words=f"at least {share:.2f}", least=share)


def at_most(share: float) -> Target:
    """Return the target not to pass a share."""
    return Target(words=f"at most {share:.2f}" if share else "0", most=share)


def figure(name: str, found: Sequence[tuple[str, bool]], target: Target | None = None) -> Figure:
    """Return how many of some answers, each of a kind, are yes."""
    by_kind = defaultdict[str, list[bool]](list)
    for kind, yes in found:
        by_kind[kind].append(yes)
    parts = tuple(Part(kind=kind, count=sum(all), of=len(all)) for kind, all in sorted(by_kind.items()))
    count = sum(yes for _, yes in found)
    share = count / len(found) if found else None
    return Figure(
        name=name,
        count=count,
        of=len(found),
        share=share,
        target=target.words if target else "",
        met=None if share is None or target is None else target.least <= share <= target.most,
        parts=parts if len(parts) > 1 else (),
    )


# Pairs by themselves ----------------------------------------------------------------------------

Test = Callable[[PairOutcome], bool]


def _gone(one: PairOutcome) -> bool:
    return one.gone


def _ended(one: PairOutcome) -> bool:
    return one.ended


def _linked(one: PairOutcome) -> bool:
    return not one.gone and "may_supersede" in one.links


def _found(one: PairOutcome) -> bool:
    return one.ended or _linked(one)


def _questioned(one: PairOutcome) -> bool:
    return one.ended or one.in_question


def _repeated(one: PairOutcome) -> bool:
    return one.merged or "duplicates" in one.links


def _extends(one: PairOutcome) -> bool:
    return "extends" in one.links


def _near(one: PairOutcome) -> bool:
    return one.near


def _merged(one: PairOutcome) -> bool:
    return one.merged


def _count(
    name: str, rows: Iterable[PairOutcome], test: Test, target: Target | None = None, *labels: Label
) -> Figure:
    kept = [row for row in rows if not labels or row.pair.label in labels]
    return figure(name, [(row.pair.kind, test(row)) for row in kept], target)


def _precision(name: str, rows: Sequence[PairOutcome], test: Test, *right: Label) -> Figure:
    """Return how many of the pairs that pass a test have one of some labels, by label."""
    return figure(name, [(row.pair.label, row.pair.label in right) for row in rows if test(row)])


def harm(rows: Sequence[PairOutcome], wrapped: Sequence[PairOutcome], store: Store) -> Iterator[Figure]:
    """Yield what must not happen.

    Args:
        rows: The set and the generic pairs.
        wrapped: Wrapped wordings.
        store: All pairs in one project.
    """
    both: Label = "unrelated"
    yield _count("both true, one ended or merged away", rows, _gone, at_most(0), both)
    yield _count("the same, new text in a wrapper", wrapped, _gone, at_most(0), both)
    among = [(one.pair.kind, one.gone) for one in store.pairs if one.pair.label == both]
    yield figure("the same, all pairs in one project", among, at_most(0))
    news: tuple[Label, ...] = ("update", "contradict", "refine")
    yield _count("updates, contradictions, refinements merged away", rows, _merged, at_most(0), *news)
    yield _count("both true, linked `may_supersede`", rows, _linked, at_most(MOST_LOOKALIKES), both)
    yield _count("both true, named in `near`", rows, _near, None, both)
    ended = [("", place < store.ended_by_others) for place in range(store.memories)]
    yield figure("memories ended by a text of another pair, all in one project", ended)


def consolidated(rows: Sequence[PairOutcome]) -> Iterator[Figure]:
    """Yield how well updates, contradictions, duplicates and refinements are told."""
    yield _count("updates ended", rows, _ended, None, "update")
    yield _precision("precision: ended by an update or contradiction", rows, _ended, "update", "contradict")
    yield _count("updates ended or linked `may_supersede`", rows, _found, at_least(LEAST_UPDATES), "update")
    yield _precision("precision of links `may_supersede`", rows, _linked, "update", "contradict")
    yield _count("updates named in `near`", rows, _near, None, "update")
    yield _count("contradictions ended", rows, _ended, None, "contradict")
    yield _count(
        "contradictions ended or linked `may_supersede` or `contradicts`",
        rows,
        _questioned,
        None,
        "contradict",
    )
    yield _count("duplicates merged", rows, _merged, None, "duplicate")
    yield _count(
        "duplicates merged or linked `duplicates`", rows, _repeated, at_least(LEAST_DUPLICATES), "duplicate"
    )
    yield _precision("precision of merges and links `duplicates`", rows, _repeated, "duplicate")
    yield _count("refinements linked `extends`", rows, _extends, None, "refine")
    yield _precision("precision of links `extends`", rows, _extends, "refine")


def wrappers(bare: Sequence[PairOutcome], wrapped: Sequence[PairOutcome]) -> Iterator[Figure]:
    """Yield how many updates are found in bare texts and in wrapped ones."""
    plain = _count("updates ended or linked, bare text", bare, _found, None, "update")
    yield plain
    target = Target(words="within 5 points of bare text", least=(plain.share or 0.0) - WITHIN)
    yield _count("updates ended or linked, text in a wrapper", wrapped, _found, target, "update")


# All pairs in one project -----------------------------------------------------------------------


def recalled(store: Store, followed: Sequence[FollowedWordings]) -> Iterator[Figure]:
    """Yield what recall returns first where all pairs are in one project."""
    told = [(one.subject, place < one.first) for one in followed for place in range(one.told)]
    least = Target(words="at least 26 of 30", least=LEAST_FIRST)
    yield figure("wordings of one fact: the current one is first", told, least)
    asked = [one for one in store.pairs if one.pair.question]
    updates = [one for one in asked if one.pair.label == "update"]
    name = "updates: the current text before the stale one"
    yield _order(name, updates, _new_first, at_least(LEAST_CURRENT), found_only=True)
    yield _order(f"{name}, of all questions", updates, _new_first)
    others = [one for one in asked if one.pair.label == "unrelated"]
    name = "both true: the text asked for before the other"
    yield _order(name, others, _old_first, at_least(LEAST_OLD), found_only=True)
    yield _order(f"{name}, of all questions", others, _old_first)


def _order(
    name: str,
    rows: Sequence[StoredPair],
    test: Callable[[StoredPair], bool],
    target: Target | None = None,
    *,
    found_only: bool = False,
) -> Figure:
    kept = [one for one in rows if not found_only or (one.old_rank, one.new_rank) != (None, None)]
    return figure(name, [(one.pair.kind, test(one)) for one in kept], target)


def _new_first(one: StoredPair) -> bool:
    return _before(one.new_rank, one.old_rank)


def _old_first(one: StoredPair) -> bool:
    return _before(one.old_rank, one.new_rank)


def _before(rank: int | None, other: int | None) -> bool:
    """Return whether the first is among the hits, and the other is not or comes later."""
    return rank is not None and (other is None or rank < other)
