"""Classification of a memory without a model: by its nearest neighbours, its words, and cues. Pure."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from hydramem.ingest.memories.similarity import NearbyChunk, nearness
from hydramem.storage.chunk_filter import within_scope
from hydramem.text.lexicon import tables, word_set
from hydramem.text.normalize import folded
from hydramem.text.search_terms import STOP_WORDS, words
from hydramem.text.sentences import sentence_spans

_TABLES = tables("classify_rules")
_KEYWORD_STOPS = tables("stop_words")["memory_keywords"]
STOPS = STOP_WORDS.union(*(_KEYWORD_STOPS[language].split() for language in ("english", "german", "spanish")))
"""Folded words that say nothing of what a text is about."""

SMALL_TALK = word_set("classify_rules", "small_talk")
"""Folded words of greetings and thanks; a short text of little else is small talk."""


def _pattern(phrases: Iterable[str]) -> re.Pattern[str]:
    ordered = sorted(map(folded, phrases), key=len, reverse=True)
    return re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, ordered))})(?!\w)")


WEIGHTY = tuple((cue["weight"], _pattern(cue["phrases"])) for cue in _TABLES["cues"])
"""What raises importance: how far it closes the gap to 1, and the phrases, folded."""

MOST_CATEGORIES = 5
MOST_KEYWORDS = 8
ORDINARY = 0.5
"""Importance of what no cue speaks for or against."""

# Characters that are read; what a long memory is about stands in its first pages.
_READ = 8000

_VOTERS = 8

# From here a neighbour is about the same: 1 % of unrelated pairs come as near, by MiniLM and bge-small.
_RELATED = 0.3

_CLOSE = 0.5
_CLEAR = 0.6
_SHARED_LABEL = 0.5
_LONGEST = 40
_BRIEF = 280
_SUMMARY = 200
_TALK_WORDS = 12
_TALK_SHARE = 0.7
_TALK = 0.15
_QUESTION = 0.35
_WORD = re.compile(r"[^\W\d_][\w+#]*(?:[-.'’][^\W_][\w+#]*)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What a project calls things.

    Attributes:
        scopes, categories: In use, the most used first.
        mentions: How many chunks mention a name of the new memory, by name as the text has it.
        chunks: About how many chunks the project has.
        background: Cosine of unrelated texts by the embedder (`similarity.background`).
    """

    scopes: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    mentions: Mapping[str, int] = field(default_factory=dict)
    chunks: int = 1000
    background: float = 0.0


def scope_of(neighbours: Sequence[NearbyChunk], *, root: str, background: float) -> str:
    """Return the scope that the nearest memories under a root agree on, else the root.

    Args:
        neighbours: Near chunks; passages have no say.
        root: The scope that the answer is at or under.
        background: Cosine of unrelated texts.
    """
    votes: dict[str, list[float]] = defaultdict(list)
    for one, near in _related(neighbours, background):
        if within_scope(one.chunk.scope, root):
            votes[one.chunk.scope].append(near)
    weights = {scope: sum(near**2 for near in each) for scope, each in votes.items()}
    best = max(sorted(weights), key=weights.__getitem__, default=root)
    if not weights or weights[best] < _CLEAR * sum(weights.values()):
        return root
    return best if len(votes[best]) > 1 or max(votes[best]) >= _CLOSE else root


def categories_of(text: str, neighbours: Sequence[NearbyChunk], vocabulary: Vocabulary) -> tuple[str, ...]:
    """Return the labels that most near memories carry, and known ones that the text names."""
    weights: dict[str, float] = defaultdict(float)
    total = 0.0
    for one, near in _related(neighbours, vocabulary.background):
        total += near
        for category in one.chunk.categories:
            weights[category] += near
    carried = [name for name in weights if weights[name] >= _SHARED_LABEL * total]
    stems_of_text = frozenset(words(text[:_READ]))
    named = [
        name for name in vocabulary.categories if (stems := words(name)) and stems_of_text.issuperset(stems)
    ]
    ordered = (*named, *sorted(carried, key=lambda name: (-weights[name], name)))
    return tuple(dict.fromkeys(ordered))[:MOST_CATEGORIES]


def keywords_of(
    text: str, names: Sequence[str], neighbours: Sequence[NearbyChunk], vocabulary: Vocabulary
) -> tuple[str, ...]:
    """Return what sets a text apart: names that the project mentions seldom, words that neighbours do.

    Args:
        text: The memory.
        names: Names in it, as extraction found them.
        neighbours: Near chunks: what all of them say too, tells nothing apart.
        vocabulary: How often names are mentioned.
    """
    beginning = text[:_READ]
    size = math.log(2 + max(vocabulary.chunks, 1, *vocabulary.mentions.values()))
    scores = {
        name: 2.0 * (1.1 - math.log(1 + vocabulary.mentions.get(name, 0)) / size)
        for name in names
        if len(name) > 1
    }
    inside = {part for name in scores for part in folded(name).split()}
    others = [set(_plain_words(one.chunk.text[:_READ])) for one in neighbours[:_VOTERS]]
    seen: dict[str, str] = {}
    counts: Counter[str] = Counter()
    for match in _WORD.finditer(beginning):
        word = folded(match.group())
        if 2 < len(word) <= _LONGEST and word not in STOPS and word not in inside:
            counts[word] += 1
            seen.setdefault(word, match.group())
    for word, count in counts.items():
        among = sum(word in other for other in others)
        rarity = math.log((len(others) + 1.5) / (among + 0.5))
        scores[seen[word]] = (1 + math.log(count)) * (0.3 + rarity) * min(1.0, 0.4 + len(word) / 12)
    ordered = sorted(scores, key=lambda name: (-scores[name], text.find(name), name))
    return tuple(ordered[:MOST_KEYWORDS])


def importance_of(text: str) -> float:
    """Return how much a memory matters, by cues in English, German and Spanish; 0.5 without any."""
    beginning = folded(text[:_READ])
    all_words = re.findall(r"\w+", beginning)
    talk = sum(word in SMALL_TALK for word in all_words)
    if all_words and len(all_words) <= _TALK_WORDS and talk >= _TALK_SHARE * len(all_words):
        return _TALK
    left = 1 - ORDINARY
    for weight, phrases in WEIGHTY:
        if phrases.search(beginning):
            left *= 1 - weight
    asks = left == 1 - ORDINARY and text.rstrip().endswith(("?", "？", "؟"))
    return _QUESTION if asks else round(1 - left, 2)


def summary_of(text: str) -> str | None:
    """Return the first sentences of a long text, None of one that is short enough as it is."""
    if len(text) <= _BRIEF:
        return None
    end = 0
    for _, stop in sentence_spans(text[:_READ]):
        if end and stop > _SUMMARY:
            break
        end = stop
    summary = " ".join(text[:end].split())
    if len(summary) <= 2 * _SUMMARY:
        return summary
    return summary[:_SUMMARY].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _related(neighbours: Sequence[NearbyChunk], background: float) -> Iterable[tuple[NearbyChunk, float]]:
    scored = [(one.cosine, one) for one in neighbours if one.cosine is not None]
    for cosine, one in sorted(scored, key=lambda each: (-each[0], each[1].chunk.id))[:_VOTERS]:
        near = nearness(cosine, background)
        if near >= _RELATED and one.chunk.kind != "passage":
            yield one, near


def _plain_words(text: str) -> list[str]:
    return [folded(match.group()) for match in _WORD.finditer(text)]
