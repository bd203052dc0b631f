"""Turns of a chat that only ask: they say nothing, and rank behind what does.

Who asks again asks in words that are near to the earlier question, nearer than to any answer. So a log of
questions and answers fills the first places with questions.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import replace

from hydramem.search.candidate_scores import RecallCandidate
from hydramem.search.conversation.turn_scores import turn_node
from hydramem.search.query_plan import RecallPlan, askers, in_first_person
from hydramem.storage.schema import QUESTION_MARKS
from hydramem.text.lexicon import word_set
from hydramem.text.sentences import sentence_spans

# Share of its score that a turn loses which only asks: in full up to the first bound, in tokens, from the
# second on nothing. A long question tells of what it asks about.
_LOSS = 0.8
_TOKENS = (20, 60)

_FIRST_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_AFTER_MARK = " \t\r\n\"'”’»)]」』"
_STOPS = (".", "!", "。", "！")


def behind_statements(
    candidates: Sequence[RecallCandidate], plans: Sequence[RecallPlan], *, answered: Collection[str] = ()
) -> tuple[RecallCandidate, ...]:
    """Lower the turns of chats that only ask, best first; a candidate's part `asks` is what it lost.

    A query in the first person may be about what its asker said of themselves: questions in the first person
    keep their scores for it. In a conversation of people, all do: the order of its turns is learned.

    Args:
        candidates: The candidates; those that are no turns of a chat keep their scores.
        plans: The query in each project, with the snapshot of its turns.
        answered: Ids of turns that asked, whatever their form: something is known to have answered them.
    """
    chats = [plan for plan in plans if askers(plan.snapshot.nodes.authors)]
    if not chats:
        return tuple(candidates)
    lowered = [_lowered(one, chats, one.chunk.id in answered) for one in candidates]
    return tuple(sorted(lowered, key=lambda one: (-one.fused.score, one.chunk.id)))


def _lowered(candidate: RecallCandidate, chats: Sequence[RecallPlan], answered: bool) -> RecallCandidate:
    chunk, fused = candidate.chunk, candidate.fused
    plan = next((each for each in chats if turn_node(each.snapshot, chunk.id) is not None), None)
    if (
        plan is None
        or (plan.askers and in_first_person(chunk.text))
        or not (answered or only_asks(chunk.text))
    ):
        return candidate
    full, none = _TOKENS
    loss = _LOSS * min(1.0, max(0.0, (none - chunk.tokens) / (none - full)))
    return replace(candidate, fused=fused.with_score(fused.score * (1 - loss), "asks"))


def only_asks(text: str) -> bool:
    """Say whether every sentence of a text asks: by its mark, or by the word that opens it.

    Chats leave marks out ("which pot did she use"): a sentence without a stop asks where it opens with a
    question word or an auxiliary verb. Those are known for English.
    """
    sentences = [each for start, end in sentence_spans(text) if (each := text[start:end].strip())]
    return bool(sentences) and all(map(_asks, sentences))


def _asks(sentence: str) -> bool:
    bare = sentence.rstrip(_AFTER_MARK)
    if bare.endswith(QUESTION_MARKS) or bare.endswith(_STOPS):
        return bare.endswith(QUESTION_MARKS)
    first = _FIRST_WORD.search(sentence)
    return first is not None and first[0].casefold().replace("’", "'") in word_set(
        "question_words", "openings"
    )
