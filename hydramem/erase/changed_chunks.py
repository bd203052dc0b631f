"""Memories that stay, and hold something that was made with an erased one."""

import json
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from typing import Any

from hydramem.core.row_types import Chunk
from hydramem.erase.made_from import turns_of
from hydramem.ingest.knowledge.end_validity import DISTILLED_FROM
from hydramem.storage.store import GraphStore


def changed_chunks(erased: Collection[str], runs: Collection[str], *, graph: GraphStore) -> dict[str, Chunk]:
    """Return, by id, memories without what a model wrote beside erased ones, and facts without erased turns.

    Args:
        erased: Ids of the chunks that go.
        runs: The runs that wrote them, with the jobs that followed.
        graph: The store.
    """
    after = dict[str, Chunk]()
    for target, before, became in _refinements(erased, runs, graph):
        row = after.get(target) or next(iter(graph.chunks([target])), None)
        if row is not None and (row.summary, list(row.keywords)) == (became["summary"], became["keywords"]):
            after[target] = replace(row, summary=before["summary"], keywords=tuple(before["keywords"]))
    links = graph.links(sorted(erased)) if erased else ()
    supported = {link.target for link in links if link.type == "supports"}.difference(erased)
    for stored in graph.chunks(sorted(supported)):
        row = after.get(stored.id, stored)
        if not set(turns := turns_of(row)).isdisjoint(erased):
            rests_on = row.metadata[DISTILLED_FROM]
            left = [id for id in turns if id not in erased]
            metadata = {**row.metadata, DISTILLED_FROM: {**_fields(rests_on), "turns": left}}
            after[row.id] = replace(row, metadata=metadata)
    return after


def _refinements(
    erased: Collection[str], runs: Collection[str], graph: GraphStore
) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the memories whose keywords and summary a model changed in some runs, newest change first.

    Each with its row before and after, as the audit has them.
    """
    for change in reversed(graph.changes(operation="link") if runs else ()):
        if change.run in runs and change.target not in erased:
            before, after = json.loads(change.before or "{}"), json.loads(change.after or "{}")
            if "summary" in before and "summary" in after:
                yield change.target, before, after


def _fields(rests_on: object) -> dict[str, object]:
    return dict(rests_on) if isinstance(rests_on, dict) else {}
