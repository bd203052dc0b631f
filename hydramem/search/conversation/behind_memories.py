"""Turns of a chat beside memories: a log has what was said in passing, a memory what somebody kept.

Greetings, output of tools and half sentences share words with a query and say little. The fewer words a turn
has, the less it counts beside a memory.
"""

from collections.abc import Sequence
from dataclasses import replace

from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.conversation.turn_scores import turn_node
from hydramem.search.query_plan import RecallPlan, askers

# Share of its score that a turn loses, and the power of its share of some tokens by which a shorter one loses
# more: one of ten tokens loses three tenths in all.
_LOSS = 0.15
_TOKENS, _POWER = 20, 0.3

MEMORY_KINDS = ("note", "fact", "event")
"""Kinds of chunks that somebody kept."""


def behind_memories(
    candidates: Sequence[RecallCandidate], plans: Sequence[RecallPlan]
) -> tuple[RecallCandidate, ...]:
    """Lower the turns of chats where a memory was found too, best first; the part `log` is what one lost.

    Args:
        candidates: The candidates; those that are no turns of a chat keep their scores.
        plans: The query in each project, with the snapshot of its turns.
    """
    chats = [each.snapshot for each in plans if askers(each.snapshot.nodes.authors)]
    if not chats or not any(one.chunk.kind in MEMORY_KINDS for one in candidates):
        return tuple(candidates)
    lowered = [
        _lowered(one) if any(turn_node(chat, one.chunk.id) is not None for chat in chats) else one
        for one in candidates
    ]
    return tuple(sorted(lowered, key=lambda one: (-one.fused.score, one.chunk.id)))


def _lowered(turn: RecallCandidate) -> RecallCandidate:
    share = (1 - _LOSS) * min(1.0, max(turn.chunk.tokens, 1) / _TOKENS) ** _POWER
    return replace(turn, fused=turn.fused.with_score(turn.fused.score * share, "log"))
