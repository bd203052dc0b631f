"""Questions with candidates: what a reranker is trained on."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.set_stores import asked_of, opened_set, recall_sources, recalled
from hydramem.llm.passage_reranker import ReadPassage
from hydramem.search.conversation.turn_order import turns_before
from hydramem.search.query_plan import plan
from hydramem.storage.schema import CHUNK
from hydramem.storage.vector_rows import indexed_text

WRITTEN = Path(__file__).parents[1] / "data" / "questions"
"""Questions about invented texts: `train` by some authors, `test` by another."""

DOCUMENTS = 1500
"""How many documents of each case of a set are used, the first ones."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A passage that was found for a question, and whether it is one of those that answer it."""

    passage: ReadPassage
    right: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question and its candidates, best first.

    Attributes:
        set: The set that it is of, or the kind of a written text.
    """

    set: str
    query: str
    candidates: tuple[Candidate, ...]


def written(part: str) -> Iterator[Question]:
    """Yield the written questions of a part, candidates by how many words they share with the question.

    Args:
        part: `train` or `test`.
    """
    for path in sorted((WRITTEN / part).glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            item = json.loads(line)
            passages = _written_passages(item)
            for asked in item["questions"]:
                yield Question(
                    set=item["kind"],
                    query=asked["q"],
                    candidates=tuple(
                        Candidate(passage=passage, right=id in asked["gold"])
                        for id, passage in _by_words(asked["q"], passages)
                    ),
                )


def _written_passages(item: Mapping[str, Any]) -> dict[str, ReadPassage]:
    """Return the passages of a written text by id; those of a conversation know what was said before."""
    said = {
        one["id"]: f"{one['by']}: {one['text']}" if one.get("by") else one["text"] for one in item["passages"]
    }
    before: dict[str, str] = {}
    if item["kind"] in ("people", "chat"):
        for earlier, one in zip(item["passages"], item["passages"][1:], strict=False):
            if earlier["session"] == one["session"]:
                before[one["id"]] = said[earlier["id"]]
    return {id: ReadPassage(text=text, before=before.get(id, "")) for id, text in said.items()}


def _by_words(query: str, passages: Mapping[str, ReadPassage]) -> list[tuple[str, ReadPassage]]:
    wanted = set(_WORD.findall(query.casefold()))

    def shared(passage: ReadPassage) -> float:
        words = set(_WORD.findall(passage.text.casefold()))
        share: float = len(wanted & words) / (len(words) ** 0.4 + 1)
        return share

    return sorted(passages.items(), key=lambda one: -shared(one[1]))


def of_set(data: Path, folder: Path, *, embedder: str) -> Iterator[Question]:
    """Yield the questions of a set with what recall finds for them without a reranker.

    Args:
        data: Folder of the set.
        folder: Where its store is kept between runs.
    """
    with (
        opened_set(data, folder, embedder, documents=DOCUMENTS) as memory,
        recall_sources(memory) as sources,
    ):
        chunks = {chunk.id: chunk for batch in sources.graph.scan(CHUNK) for chunk in batch}
        for case, _, asked in asked_of(data, documents=DOCUMENTS):
            snapshot = sources.snapshots.of(case)
            for row in asked:
                ids = [hit.id for hit in recalled(sources, case, row).hits]
                before = turns_before(ids, [plan(row["query"], snapshot)])
                passages = [
                    (
                        _document(chunks[id]),
                        ReadPassage(
                            text=indexed_text(chunks[id]),
                            before=indexed_text(chunks[before[id]]) if id in before else "",
                        ),
                    )
                    for id in ids
                ]
                yield Question(
                    set=data.name,
                    query=row["query"],
                    candidates=tuple(
                        Candidate(passage=passage, right=name in row["gold"]) for name, passage in passages
                    ),
                )


def _document(chunk: Any) -> str:
    """Return the name that a set has for a chunk's document."""
    return str(chunk.metadata["id"]) if chunk.kind == "turn" else Path(chunk.source).stem


def counts(questions: Sequence[Question]) -> dict[str, int]:
    """Return how many questions there are, by set."""
    names = sorted({one.set for one in questions})
    return {name: sum(one.set == name for one in questions) for name in names}
