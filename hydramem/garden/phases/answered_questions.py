"""Answered questions: a session recalled a memory, and then answered a question with it.

A turn answers with a memory if it holds most of the memory's words or its id, and with a passage if the
passage holds most of the turn's words. The turn of somebody else directly before it is the question. A link
`answers` from the memory to that turn is all that is stored: recall lets the memory gain for questions that
are near to it (`search.conversation.asked_before`), and what is forgotten or erased takes the link with it.
Private turns teach nothing.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from hydramem.core.row_types import ANSWERS, Chunk
from hydramem.garden.proposals.phase_context import PhaseContext, PhaseWork
from hydramem.garden.proposals.proposal import Proposal, precondition_hash, quoted
from hydramem.graph.snapshot.snapshot import STATES
from hydramem.ingest.memories.link.link_candidates import LinkProposal, link_of
from hydramem.storage.write import Write
from hydramem.text.search_terms import distinct_words

_LEAST_HELD = 0.7
"""Share of a memory's words that an answer holds; answers often say less than the whole or add to it."""

_LEAST_WORDS = 3
"""Fewer words are in a text by chance."""

_MOST_ASKING_TOKENS = 60
"""A longer turn tells something as well, and is near to nothing that is asked later."""

_SESSIONS_AT_ONCE = 50
_REASON = "A session recalled it for this question and answered with it."


def answered_questions(work: PhaseWork, sessions: Mapping[str, frozenset[str]]) -> Iterator[Proposal]:
    """Yield a link from each memory to the turns that it answered, where there is none yet.

    Args:
        sessions: The sessions that recalled each active chunk.
    """
    recalled: dict[str, set[str]] = defaultdict(set)
    for chunk, recalling in sessions.items():
        for session in recalling:
            recalled[session].add(chunk)
    by_session = _turns_by_session(work)
    held = sorted(recalled.keys() & by_session.keys())
    for batch in work.batches(held, _SESSIONS_AT_ONCE):
        wanted = {id for session in batch for id in (*by_session[session], *recalled[session])}
        rows = {row.id: row for row in work.context.graph.chunks(sorted(wanted))}
        found: list[_Answer] = []
        for session in batch:
            turns = [rows[id] for id in by_session[session] if id in rows]
            known = [row for id in sorted(recalled[session]) if (row := rows.get(id)) and row.kind != "turn"]
            found += _answers(turns, known)
        yield from _new_links(found, work)


def _turns_by_session(work: PhaseWork) -> dict[str, list[str]]:
    """Return the ids of the active turns of each session, in the order they were said."""
    snapshot, graph = work.context.snapshot, work.context.graph
    active = snapshot.nodes.state[snapshot.turns.nodes] == STATES.index("active")
    nodes, codes = snapshot.turns.nodes[active], snapshot.turns.keys[active] >> 32
    by_code: dict[int, list[str]] = defaultdict(list)
    for node, code in zip(nodes.tolist(), codes.tolist(), strict=True):
        by_code[code].append(snapshot.nodes.ids[node])
    firsts = {row.id: row.session for row in graph.chunks([ids[0] for ids in by_code.values()])}
    return {session: ids for ids in by_code.values() if (session := firsts.get(ids[0])) is not None}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    """A memory, the question that it answered, and the share of words that says so."""

    memory: Chunk
    question: Chunk
    share: float


def _answers(turns: Sequence[Chunk], known: Sequence[Chunk]) -> Iterator[_Answer]:
    """Yield which of the memories that a session recalled answered which of its turns.

    Args:
        turns: Those of a session, in the order they were said.
        known: What the session recalled.
    """
    for question, answer in pairwise(turns):
        asked = question.author != answer.author and question.tokens <= _MOST_ASKING_TOKENS
        if not asked or question.private or answer.private or answer.position - question.position != 1:
            continue
        used = max(((_held(row, answer), row.id, row) for row in known), default=None)
        if used is not None and used[0] >= _LEAST_HELD:
            yield _Answer(memory=used[2], question=question, share=used[0])


def _held(row: Chunk, answer: Chunk) -> float:
    """Return the share of a memory's words that an answer holds, or of the answer's that a passage holds."""
    if row.id in answer.text:
        return 1.0
    whole, said = distinct_words(row.text), distinct_words(answer.text)
    part, other = (said, whole) if row.kind == "passage" else (whole, said)
    return len(part & other) / len(part) if len(part) >= _LEAST_WORDS else 0.0


def _new_links(found: Sequence[_Answer], work: PhaseWork) -> Iterator[Proposal]:
    """Yield the links that are not stored in any state, and that nobody undid."""
    stored = work.context.graph.links(sorted({one.question.id for one in found})) if found else ()
    known = {link.id for link in stored}
    for one in found:
        proposal = _proposal(one, work.context)
        if proposal.target not in known and proposal.target not in work.undone:
            known.add(proposal.target)
            yield proposal


def _proposal(one: _Answer, context: PhaseContext) -> Proposal:
    made = LinkProposal(target=one.question.id, type=ANSWERS, weight=round(one.share, 4), reason=_REASON)
    link = link_of(context.project, one.memory.id, made, context.now)
    return Proposal(
        project=context.project,
        phase="reuse",
        action="link",
        target=link.id,
        text=f"{quoted(one.memory.text)} answers {quoted(one.question.text)}",
        reason=_REASON,
        score=link.weight,
        write=Write(changes=(), links=(link,)),
        expects=precondition_hash(one.memory, one.question, absent=[link]),
    )
