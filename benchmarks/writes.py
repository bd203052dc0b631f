"""What writing costs: the latency of a memory, what models are asked, and what many single writes leave.

Texts are sentences of the sets, no two alike. The embedder alone is timed on the texts that are remembered,
just before, so that both have the same machine. Stores that are filled are kept where `keep` says, and a run
that was stopped goes on where it was.
"""

import dataclasses
import json
import os
import platform
import random
import re
import shutil
import tempfile
import typing
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import hydramem
from benchmarks.filling import PROJECT, fill, passages
from hydramem.core.config import EmbeddingConfig
from hydramem.ingest.memories.memory_input import MemoryInput
from hydramem.llm.choose import choose_embedder
from hydramem.llm.contracts import Embedder
from hydramem.llm.scripted_generator import ScriptedGenerator, ScriptedPrompt
from hydramem.text.tokens import count_tokens

_BATCH = 500
_LENGTHS = (30, 300)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n")
_RECALLS = 100
# What a folder holds beside the memory itself.
_BESIDE = ("owner.lock", "owner.key", "telemetry.db")

Pair = tuple[float, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Latency:
    """One memory after the other; (p50, p95) in milliseconds.

    Attributes:
        held: Memories in the store before.
        embed: The embedder alone, on the same texts.
        waited: `remember`.
        soon: `remember(wait=False)`.
        drained: Seconds for what that left to do.
    """

    held: int
    embedder: str
    count: int
    embed: Pair
    waited: Pair
    soon: Pair
    drained: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What models were asked for a memory, by case: calls and tokens of prompts and replies, on average."""

    case: str
    count: int
    calls: float
    prompt_tokens: float
    reply_tokens: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Endurance:
    """What single writes left, beside a bulk load of the same texts.

    Attributes:
        bytes: Of the folder, by part, after single writes.
        bulk_bytes: The same after the bulk load.
        recall, bulk_recall: (p50, p95) in milliseconds.
        per_write: Milliseconds that a single write took.
    """

    count: int
    embedder: str
    bytes: Mapping[str, int]
    bulk_bytes: Mapping[str, int]
    recall: Pair
    bulk_recall: Pair
    per_write: float
    bulk_per_write: float

    @property
    def size_ratio(self) -> float:
        """Return how many times the size of a bulk load single writes take."""
        return sum(self.bytes.values()) / sum(self.bulk_bytes.values())

    @property
    def recall_ratio(self) -> float:
        """Return how many times as long a recall takes after single writes, by their medians."""
        return self.recall[0] / self.bulk_recall[0]


def sentences(data: Path, count: int) -> list[str]:
    """Return so many texts, no two alike: sentences of every set, then two that follow each other.

    Raises:
        ValueError: The sets have not so many.
    """
    found = [list(_sentences(path)) for path in sorted(data.glob("*/docs.jsonl"))]
    single = dict.fromkeys(text for texts in found for text in texts)
    joined = dict.fromkeys(f"{one} {other}" for texts in found for one, other in pairwise(texts))
    texts = [*single, *joined][: max(count, len(single))]
    if len(texts) < count:
        raise ValueError(f"{data}: {len(texts):,} different sentences, fewer than {count:,}")
    random.Random(0).shuffle(texts)
    return texts[:count]


def _sentences(path: Path) -> Iterator[str]:
    least, most = _LENGTHS
    for line in path.read_text(encoding="utf-8").splitlines():
        for part in _SENTENCE.split(json.loads(line)["text"]):
            if least < len(part.strip()) < most:
                yield part.strip()


# Latency ----------------------------------------------------------------------------------------


def latency(data: Path, held: int, *, embedder: str, count: int, keep: Path | None = None) -> Latency:
    """Measure single memories in a store that holds some already, filled as `filling` does.

    Args:
        data: Folder of the sets.
        held: Memories to begin with.
        embedder: Makes the vectors.
        count: Memories of each kind of call.
        keep: Folder where the filled store is kept.
    """
    new = sentences(data, 2 * count)
    model = _model(embedder)
    with tempfile.TemporaryDirectory() as scratch:
        filled = (keep or Path(scratch)) / f"held-{embedder}-{held}"
        if not filled.is_dir():
            first = next(path.parent for path in sorted(data.glob("*/docs.jsonl")))
            fill(filled, passages(first), held, model, kind="note")
        place = Path(shutil.copytree(filled, Path(scratch) / "store"))
        with hydramem.connect(place, embedder=model, project=PROJECT) as memory:
            memory.remember("The first one loads what the others need.")
            memory.drain()
            alone = _times(model.embed_query, new[:count])
            waited = _times(memory.remember, new[:count])
            memory.drain()
            soon = _times(lambda text: memory.remember(text, wait=False), new[count:])
            started = perf_counter()
            memory.drain()
            drained = perf_counter() - started
    return Latency(
        held=held,
        embedder=model.fingerprint,
        count=count,
        embed=alone,
        waited=waited,
        soon=soon,
        drained=drained,
    )


# Models -----------------------------------------------------------------------------------------


def asked(data: Path, *, count: int, embedder: str) -> tuple[Asked, ...]:
    """Count model calls for a memory: without fields, with all fields, and for one that is already stored."""
    texts = sentences(data, 3 * count)
    given: dict[str, Any] = {
        "scope": "/notes",
        "categories": ("note",),
        "importance": 0.5,
        "keywords": ("note",),
        "summary": "A note.",
    }
    cases: dict[str, tuple[Sequence[str], dict[str, Any]]] = {
        "no fields": (texts[:count], {}),
        "scope, categories, importance, keywords and summary": (texts[count : 2 * count], given),
        "a stored memory again": (texts[:count], {}),
    }
    model = _model(embedder)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        generator = ScriptedGenerator(_answer)
        with hydramem.connect(Path(scratch), embedder=model, project=PROJECT, generator=generator) as memory:
            for case, (told, fields) in cases.items():
                for text in told:
                    memory.remember(text, **fields)
                rows.append(_counted(case, len(told), generator))
                memory.drain()
                rows.append(_counted(f"{case}: links", len(told), generator))
    return tuple(row for row in rows if row.calls or "links" not in row.case)


def _counted(case: str, count: int, generator: ScriptedGenerator) -> Asked:
    """Return what was asked since the last time."""
    prompts, generator.prompts = generator.prompts, []
    read = sum(count_tokens(f"{one.system}\n{one.text}") for one in prompts)
    said = sum(count_tokens(json.dumps(_answer(one))) for one in prompts)
    return Asked(
        case=case,
        count=count,
        calls=len(prompts) / count,
        prompt_tokens=read / count,
        reply_tokens=said / count,
    )


def _answer(prompt: ScriptedPrompt) -> dict[str, Any]:
    """Answer any prompt with something of its shape: a word, the middle, or nothing."""
    hints = typing.get_type_hints(prompt.shape)
    return {item.name: _value(hints[item.name]) for item in dataclasses.fields(prompt.shape)}


def _value(hint: Any) -> Any:
    if hint is bool:
        return True
    if hint in (float, int):
        return 0.5 if hint is float else 1
    if typing.get_origin(hint) in (tuple, list, Sequence):
        return []
    if typing.get_origin(hint) is typing.Literal:
        return typing.get_args(hint)[0]
    return "/" if str in (hint, *typing.get_args(hint)) else None


# Endurance --------------------------------------------------------------------------------------


def endurance(data: Path, count: int, *, embedder: str, keep: Path | None = None) -> Endurance:
    """Write memories one by one, and the same in bulk, and compare what is left.

    Args:
        data: Folder of the sets.
        count: Memories.
        embedder: Makes the vectors.
        keep: Folder where both stores are kept: a run that was stopped goes on there.
    """
    texts = sentences(data, count)
    model = _model(embedder)
    with tempfile.TemporaryDirectory() as scratch:
        folder = keep or Path(scratch)
        single, bulk = folder / f"single-{embedder}-{count}", folder / f"bulk-{embedder}-{count}"
        per_write = _singly(single, texts, model)
        bulk_per_write = _bulk(bulk, texts, model)
        chance = random.Random(1)
        queries = [" ".join(text.split()[:12]) for text in chance.sample(texts, min(_RECALLS, count))]
        recalls = [_recalls(place, queries, model) for place in (single, bulk, single, bulk)]
        return Endurance(
            count=count,
            embedder=model.fingerprint,
            bytes=_sizes(single),
            bulk_bytes=_sizes(bulk),
            recall=min(recalls[0], recalls[2]),
            bulk_recall=min(recalls[1], recalls[3]),
            per_write=per_write,
            bulk_per_write=bulk_per_write,
        )


def _singly(place: Path, texts: Sequence[str], model: Embedder) -> float:
    """Remember what is not remembered yet, one by one; return the milliseconds of one."""
    done, noted = _progress(place)
    started = perf_counter()
    with hydramem.connect(place, embedder=model, project=PROJECT) as memory:
        for number, text in enumerate(texts[done:], done + 1):
            memory.remember(text)
            if number % _BATCH == 0 or number == len(texts):
                _note(place, number, noted + perf_counter() - started)
        memory.drain()
    return _progress(place)[1] / len(texts) * 1000


def _bulk(place: Path, texts: Sequence[str], model: Embedder) -> float:
    """Remember what is not remembered yet, many at once; return the milliseconds of one."""
    done, noted = _progress(place)
    started = perf_counter()
    with hydramem.connect(place, embedder=model, project=PROJECT) as memory:
        for start in range(done, len(texts), _BATCH):
            memory.remember_many([MemoryInput(text=text) for text in texts[start : start + _BATCH]])
            _note(place, min(len(texts), start + _BATCH), noted + perf_counter() - started)
        memory.drain()
    return _progress(place)[1] / max(1, len(texts)) * 1000


def _progress(place: Path) -> tuple[int, float]:
    """Return how many texts a store holds by an earlier run, and the seconds that it took."""
    noted = place.with_suffix(".json")
    if not (noted.is_file() and place.is_dir()):
        return 0, 0.0
    found = json.loads(noted.read_text(encoding="utf-8"))
    return int(found["done"]), float(found["seconds"])


def _note(place: Path, done: int, seconds: float) -> None:
    place.with_suffix(".json").write_text(json.dumps({"done": done, "seconds": seconds}), encoding="utf-8")


def _recalls(place: Path, queries: Sequence[str], model: Embedder) -> Pair:
    with hydramem.connect(place, embedder=model, project=PROJECT) as memory:
        for query in queries[:5]:
            memory.recall(query)
        return _times(memory.recall, queries)


def _sizes(place: Path) -> dict[str, int]:
    """Return the bytes of a store's parts."""
    found = {}
    for part in sorted(place.iterdir()):
        if part.name in _BESIDE:
            continue
        for within in sorted(part.iterdir()) if part.is_dir() else (part,):
            files = [within] if within.is_file() else [file for file in within.rglob("*") if file.is_file()]
            found[str(within.relative_to(place))] = sum(file.stat().st_size for file in files)
    return found


def _model(name: str) -> Embedder:
    model = choose_embedder(EmbeddingConfig(model=name))
    model.embed_query("loads the model, which is not counted")
    return model


def _times(act: Any, items: Sequence[str]) -> Pair:
    found = []
    for item in items:
        started = perf_counter()
        act(item)
        found.append((perf_counter() - started) * 1000)
    return float(np.percentile(found, 50)), float(np.percentile(found, 95))


def where() -> str:
    """Return what the figures were measured on."""
    cores = f"{os.cpu_count()} {platform.machine()} cores, load {os.getloadavg()[0]:.1f}"
    return f"{datetime.now(UTC).date().isoformat()}, {cores}"
