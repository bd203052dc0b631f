"""Plan a recall: the entities and speakers that a query names, and how far to trust the graph."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from hydramem.core.argument_checks import check_count, check_text
from hydramem.core.results.hits import FoundBy
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.storage.vector_rows import Scored
from hydramem.text.normalize import entity_key

_ASKERS = ("user", "User", "human", "Human", "me", "Me")
"""The authors in chat logs who are the person that asks."""

_FIRST_PERSON = re.compile(r"\b(?:i|me|my|mine|myself)\b", re.IGNORECASE)
_NAME_WORD = re.compile(r"[^\W_]+(?:[-.'][^\W_]+)*")
_POSSESSIVE = re.compile("['’]s\\b")
_NAME_WORDS = 3
_MOST_CHARACTERS = 4096
NEAREST = 200
"""Entities that are compared where a query names none."""
_LEAST_NEAR = 20
_STANDS_OUT = 6.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """An entity that a query names.

    Attributes:
        node: Its node in the snapshot.
        by: What of it the query holds.
        chunks: How many chunks mention it.
        rarity: 0 for a hub, which half of the chunks mention, 1 where only one does.
    """

    node: int
    name: str
    by: FoundBy
    chunks: int
    rarity: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallPlan:
    """How a query is answered from one project.

    Attributes:
        entities: The entities that the query names, in its order, without those that have no edges.
        trust: Share of the graph's weight that counts: how rare the rarest name is.
        speakers: Codes of the authors that the query names.
        askers: Codes of the authors who are its asker, where it is in the first person.
    """

    query: str
    snapshot: Snapshot
    entities: tuple[Named, ...]
    trust: float
    speakers: tuple[int, ...] = ()
    askers: tuple[int, ...] = ()


def check_query(query: str, limit: int, *, max_chars: int, max_limit: int) -> None:
    """Refuse a query that cannot be answered.

    Raises:
        InvalidInputError: The query is blank, too long or no Unicode text, or the limit is out of range.
    """
    check_text(query, name="query", most=max_chars)
    check_count(limit, name="limit", most=max_limit)


def plan(query: str, snapshot: Snapshot) -> RecallPlan:
    """Find the entities that a query names, by key, by alias, or by another spelling of either."""
    capitals = _capitals(query)
    found: dict[int, FoundBy] = {}
    for match in snapshot.names.matching(query):
        if _is_name(match.text, snapshot.label(match.node), capitals):
            found.setdefault(match.node, match.by)
    entities = _named(snapshot, found)
    return RecallPlan(
        query=query,
        snapshot=snapshot,
        entities=entities,
        trust=_trust(entities),
        speakers=_speakers(query, snapshot.nodes.authors),
        askers=askers(snapshot.nodes.authors) if in_first_person(query) else (),
    )


def by_meaning(plan: RecallPlan, near: Sequence[Scored]) -> RecallPlan:
    """Return a plan about the entity whose name means what the query does, where it names none.

    The cosine of a name and a question differs between embedders; how far one name stands out from the many
    next to it does not. Among the nearest `NEAREST` it must lie `_STANDS_OUT` standard deviations above their
    mean: on questions that do name an entity, nine of ten such names were right.

    Args:
        plan: The plan by the words of the query.
        near: The entities nearest to the query by cosine, best first.
    """
    if plan.entities or len(near) < _LEAST_NEAR:
        return plan
    scores = np.array([each.score for each in near])
    if scores[0] - scores.mean() < _STANDS_OUT * scores.std():
        return plan
    node = plan.snapshot.node(near[0].id)
    entities = () if node is None else _named(plan.snapshot, {node: "embedding"})
    return replace(plan, entities=entities, trust=_trust(entities))


def _trust(entities: Sequence[Named]) -> float:
    return max((entity.rarity for entity in entities), default=0.0)


def _speakers(query: str, authors: Mapping[str, int]) -> tuple[int, ...]:
    """Find the authors that a query names; the cost grows with the query's length."""
    words = _NAME_WORD.findall(_POSSESSIVE.sub("", query[:_MOST_CHARACTERS]))
    spans = (
        " ".join(words[start : start + count])
        for count in range(1, _NAME_WORDS + 1)
        for start in range(len(words) - count + 1)
    )
    return tuple(dict.fromkeys(authors[span] for span in spans if span in authors))


def in_first_person(query: str) -> bool:
    """Say whether a text is about its author, by the words `I`, `me`, `my`, `mine` or `myself`."""
    return _FIRST_PERSON.search(query[:_MOST_CHARACTERS]) is not None


def askers(authors: Mapping[str, int]) -> tuple[int, ...]:
    """Return the codes of the authors who are a chat's user; none in a conversation of people."""
    return tuple(authors[name] for name in _ASKERS if name in authors)


def _capitals(query: str) -> frozenset[str]:
    """Return the folded words that a query capitalises; none where only its first word might be."""
    words = re.findall(r"\w+", query)
    upper = [word[0].isupper() for word in words]
    if not any(upper[1:]):
        return frozenset()
    return frozenset(entity_key(word) for word, capital in zip(words, upper, strict=True) if capital)


def _is_name(text: str, label: str, capitals: frozenset[str]) -> bool:
    """Say whether a match is meant as a name: in a query that capitalises Ada, film does not mean Film."""
    return not capitals or " " in text or not label[:1].isupper() or text in capitals


def _named(snapshot: Snapshot, found: Mapping[int, FoundBy]) -> tuple[Named, ...]:
    if not found:
        return ()
    nodes = np.array(list(found), dtype=np.int32)
    joined = snapshot.adjacency.degrees(nodes) > 0
    known = snapshot.rarity()
    return tuple(
        Named(
            node=node,
            name=snapshot.label(node),
            by=by,
            chunks=int(known.chunks[node]),
            rarity=float(known.rarity[node]),
        )
        for (node, by), has_edges in zip(found.items(), joined.tolist(), strict=True)
        if has_edges
    )
