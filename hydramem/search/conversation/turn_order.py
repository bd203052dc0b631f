"""The order of turns in a conversation, by a small network that learned it from questions and their answers.

The arms' scores are a few numbers of several that tell an answer: how many of the query's rare words the turn
and those around it hold, how good the rest of its session is, whether the turn before it asks, who said it,
how long it is. The first turns are ordered by a weighted sum of these and of a few hidden units; they then
exchange their scores, so that turns and other chunks stay comparable. Conversations of people and chats of
a user with an assistant have weights of their own: in one the turns are alike, in the other a short message
of the user is followed by a long answer that repeats it. `python -m benchmarks conversations` fits the
weights by the likelihood of the right turns (a softmax over the turns of a question: ListNet, Cao et al.,
2007) and measures them on conversations that were left out.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from itertools import islice
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from hydramem.core.row_types import Chunk
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.search.candidate_scores import FusedScore, RecallCandidate
from hydramem.search.conversation.turn_scores import held_stems, stem_rarity, turn_node
from hydramem.search.query_plan import RecallPlan, askers

Floats = NDArray[np.float64]

NUMBERS = (
    "score",
    "rank",
    "text",
    "vector",
    "neighbors",
    "session",
    "session_best",
    "session_sum",
    "text_before",
    "text_after",
    "vector_before",
    "vector_after",
    "holds",
    "holds_with_before",
    "holds_with_around",
    "holds_most_around",
    "session_holds",
    "answers",
    "asks",
    "named_speaker",
    "other_speaker",
    "length",
    "in_parts",
    "by_user",
    "by_other",
    "users_own",
    "others_own",
)
"""What a turn is weighed by: the columns that a scorer sees."""

MOST_TURNS = 60
"""How many of the first turns are ordered; the others keep their scores."""

_SESSION_POWER = 3

# How much words of the turns before a turn count, nearest first, and of those around it, by distance.
_BEFORE = (1.0, 0.8, 0.6)
_AROUND = {-1: 1.0, 1: 0.7, -2: 0.7, 2: 0.4}


class TurnScorer(Protocol):
    """Scores turns by their numbers; the higher, the likelier a turn answers."""

    def __call__(self, kind: str, turns: Sequence[str], numbers: Floats) -> Floats:
        """Return scores of shape (turns,).

        Args:
            kind: What the conversation is: of `people`, or a `chat` with an assistant.
            turns: Ids of the turns.
            numbers: Of shape (turns, numbers), as `NUMBERS` names them.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnWeights:
    """A network of one hidden layer beside a weighted sum.

    Attributes:
        direct: Weights of the numbers, of shape (numbers,).
        hidden, bias: Of the hidden units, of shapes (units, numbers) and (units,).
        out: Weights of the hidden units, of shape (units,).
    """

    direct: Floats
    hidden: Floats
    bias: Floats
    out: Floats

    def scores(self, numbers: Floats) -> Floats:
        """Return scores of shape (turns,) for numbers of shape (turns, numbers)."""
        units = np.tanh(numbers @ self.hidden.T + self.bias)
        scores: Floats = numbers @ self.direct + units @ self.out
        return scores


def by_weights(kind: str, turns: Sequence[str], numbers: Floats) -> Floats:
    """Score turns by the weights that come with the package."""
    del turns
    return fitted(kind).scores(numbers)


def turns_around(found: Sequence[str], plans: Sequence[RecallPlan]) -> set[str]:
    """Return the ids of the turns whose words count for the first turns among what was found.

    Args:
        found: Ids of chunks, best first.
    """
    ids: set[str] = set()
    for plan in plans:
        turns = _first_turns(found, plan.snapshot)
        if len(turns) > 1:
            keys = np.unique(plan.snapshot.turn_keys[turns])
            _, _, around = plan.snapshot.turns.around(keys, len(_BEFORE))
            ids.update(plan.snapshot.nodes.ids[node] for node in (*turns, *around.tolist()))
    return ids


def turns_before(found: Collection[str], plans: Sequence[RecallPlan]) -> dict[str, str]:
    """Return the id of the turn before each turn among what was found, by id; of its parts, the last."""
    before: dict[str, str] = {}
    for plan in plans:
        snapshot = plan.snapshot
        nodes = np.array([node for id in found if (node := turn_node(snapshot, id)) is not None], np.int64)
        origins, offsets, around = snapshot.turns.around(snapshot.turn_keys[nodes], 1)
        ids = snapshot.nodes.ids
        earlier = offsets == -1
        for origin, node in zip(origins[earlier].tolist(), around[earlier].tolist(), strict=True):
            before[ids[nodes[origin]]] = ids[node]
    return before


def ordered_turns(
    query: str,
    candidates: Sequence[RecallCandidate],
    plans: Sequence[RecallPlan],
    *,
    around: Sequence[Chunk],
    scorer: TurnScorer,
) -> tuple[RecallCandidate, ...]:
    """Let the first turns of each project exchange their scores, best first.

    A turn's part `order` is what it gained or lost.

    Args:
        candidates: What was found, best first; what is no turn keeps its score.
        plans: The query in each project, with the snapshot of its turns.
        around: The turns of `turns_around` that may be shown.
    """
    by_id = {one.chunk.id: one for one in candidates}
    changed: dict[str, FusedScore] = {}
    for plan in plans:
        nodes = _first_turns(list(by_id), plan.snapshot)
        turns = [by_id[plan.snapshot.nodes.ids[node]].fused for node in nodes]
        if len(turns) < 2:
            continue
        kind = "chat" if askers(plan.snapshot.nodes.authors) else "people"
        numbers = _turn_numbers(query, turns, plan, around)
        scores = scorer(kind, [one.id for one in turns], numbers)
        for place, turn in zip(np.argsort(-scores, kind="stable").tolist(), turns, strict=True):
            changed[turns[place].id] = turns[place].with_score(turn.score, "order")
    moved = (replace(one, fused=changed.get(one.chunk.id, one.fused)) for one in candidates)
    return tuple(sorted(moved, key=lambda one: (-one.fused.score, one.chunk.id)))


def _first_turns(found: Sequence[str], snapshot: Snapshot) -> list[int]:
    """Return the nodes of the best of what was found that are turns of a project's conversations."""
    turns = (node for id in found if (node := turn_node(snapshot, id)) is not None)
    return list(islice(turns, MOST_TURNS))


def _turn_numbers(
    query: str, turns: Sequence[FusedScore], plan: RecallPlan, around: Sequence[Chunk]
) -> Floats:
    """Return what tells answers among turns: an array of shape (turns, numbers), columns as `NUMBERS`."""
    snapshot = plan.snapshot
    nodes = np.array([snapshot.node(one.id) for one in turns], dtype=np.int64)
    score = _relative(np.array([one.score for one in turns]))
    text, vector, neighbors, session = (
        _relative(np.array([one.parts.get(name, 0.0) for one in turns]))
        for name in ("text", "vector", "neighbors", "session")
    )
    keys, which = np.unique(snapshot.turn_keys[nodes], return_inverse=True)
    authors = snapshot.nodes.author[nodes]
    one_named = len(plan.speakers) == 1
    named = authors == (plan.speakers[0] if one_named else -2)
    known_users = askers(snapshot.nodes.authors)
    users = np.isin(authors, known_users)
    others = ~users & bool(known_users)
    own = bool(plan.askers)
    columns = (
        score,
        np.log1p(np.arange(len(turns))),
        text,
        vector,
        neighbors,
        session,
        *_by_session(score, keys[which] >> 32),
        *_beside(text, keys, which),
        *_beside(vector, keys, which),
        *(column[which] for column in _held_shares(query, snapshot, keys, around)),
        _answers(snapshot, keys, authors, which),
        snapshot.nodes.asks[nodes],
        named,
        ~named & one_named,
        np.log(np.maximum(snapshot.nodes.tokens[nodes], 1)),
        np.bincount(which)[which] > 1,
        users,
        others,
        users & own,
        others & own,
    )
    return np.stack(columns, axis=1).astype(np.float64)


def _held_shares(
    query: str, snapshot: Snapshot, keys: NDArray[np.int64], around: Sequence[Chunk]
) -> tuple[Floats, ...]:
    """Return how much of a query's rare words turns hold, 0 to 1, each of shape (turns,).

    By itself; with the turns before it, which it may answer; with those around it; the same relative to the
    best; and all turns of its session among those that are known.
    """
    held = {
        node: stems
        for id, stems in held_stems(query, around).items()
        if (node := turn_node(snapshot, id)) is not None
    }
    rarity = stem_rarity(list(held.values()))
    total = sum(rarity.values())
    if total <= 0:
        nothing = np.zeros(len(keys))
        return (nothing,) * 5
    column = {stem: place for place, stem in enumerate(sorted(rarity))}
    known, which = np.unique(snapshot.turn_keys[list(held)], return_inverse=True)
    holds = np.zeros((len(known) + 1, len(column)))  # the last row is of turns that are not known
    for row, stems in zip(which.tolist(), held.values(), strict=True):
        holds[row, [column[stem] for stem in stems]] = 1
    shares = np.array([rarity[stem] for stem in sorted(rarity)]) / total

    def with_others(steps: Mapping[int, float]) -> Floats:
        best = holds[_places(known, keys)]
        for step, counts in steps.items():
            best = np.maximum(best, counts * holds[_places(known, keys + step)])
        covered: Floats = best @ shares
        return covered

    before = {-step: counts for step, counts in enumerate(_BEFORE, 1)}
    in_both = with_others(_AROUND)
    codes, session = np.unique(known >> 32, return_inverse=True)
    in_session = np.zeros((len(codes) + 1, len(column)))
    np.maximum.at(in_session, session, holds[:-1])
    by_session = in_session[_places(codes, keys >> 32)] @ shares
    return with_others({}), with_others(before), in_both, _relative(in_both), by_session


def _places(known: NDArray[np.int64], wanted: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where wanted keys are among known ones, ascending; one past the last for an unknown key."""
    places = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    found: NDArray[np.int64] = np.where(known[places] == wanted, places, len(known))
    return found


@cache
def fitted(kind: str) -> TurnWeights:
    """Return the weights for `people` or `chat`, as `python -m benchmarks conversations` fits them."""
    text = (files("hydramem") / "data" / "conversation" / "weights.json").read_text(encoding="utf-8")
    table = json.loads(text)
    if tuple(table["numbers"]) != NUMBERS:
        raise ValueError("data/conversation/weights.json: weights of other numbers")
    parts = table[kind]
    return TurnWeights(**{name: np.array(parts[name]) for name in ("direct", "hidden", "bias", "out")})


def _relative(values: Floats) -> Floats:
    most = values.max()
    relative: Floats = values / most if most > 0 else values
    return relative


def _by_session(score: Floats, sessions: NDArray[np.int64]) -> tuple[Floats, Floats]:
    """Return for each turn the best score of its session, and the log of a sum that good turns lead."""
    codes, which = np.unique(sessions, return_inverse=True)
    best = np.zeros(len(codes))
    np.maximum.at(best, which, score)
    total = np.log1p(np.bincount(which, weights=score**_SESSION_POWER))
    return best[which], total[which]


def _beside(values: Floats, keys: NDArray[np.int64], which: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the best value of the turn before each and of the turn after it; 0 for one not among them."""
    best = np.zeros(len(keys))
    np.maximum.at(best, which, values)

    best = np.append(best, 0.0)
    return best[_places(keys, keys - 1)][which], best[_places(keys, keys + 1)][which]


def _answers(
    snapshot: Snapshot, keys: NDArray[np.int64], authors: NDArray[np.int32], which: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Say of each turn whether somebody else asks in the turn before it."""
    origins, offsets, around = snapshot.turns.around(keys, 1)
    before = (offsets == -1) & snapshot.nodes.asks[around]
    asker = np.full(len(keys), -2)
    asker[origins[before]] = snapshot.nodes.author[around[before]]
    answers: NDArray[np.bool_] = (asker[which] != -2) & (asker[which] != authors)
    return answers
