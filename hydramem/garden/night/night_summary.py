"""What a run did, in a line for each kind of change: how many, one example, and what undoes the example."""

import json
import shlex
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import get_args

from hydramem.core.results.garden_results import SummaryKind, SummaryLine
from hydramem.core.row_types import Phase, Relation
from hydramem.garden.proposals.phase_context import PhaseOutcome
from hydramem.garden.proposals.proposal import Action, Proposal, changed_addresses, written_rows
from hydramem.storage.schema import CHUNK, ENTITY, LINKS, MENTIONS, RELATES
from hydramem.storage.store import GraphStore
from hydramem.text.restated_text import SURELY_SAME
from hydramem.text.shown_text import amount, shown_line

_KINDS: Mapping[Action, SummaryKind] = {
    "add": "learned",
    "archive": "pruned",
    "change": "weighed",
    "judge": "judged",
    "link": "linked",
    "merge": "joined",
    "remove": "pruned",
}
_NOUNS = {
    "entity": "entities",
    "memory": "memories",
    "relation": "relations",
    "link": "links",
    "old row": "old rows",
}
_CANDIDATES = 50
"""Changes of a kind, the surest first, of which the shortest is the example."""

_EXAMPLE_CHARS = 120
_HOME_PROJECT = "default"


def summary_of(
    made: Sequence[Proposal],
    outcomes: Mapping[Phase, PhaseOutcome],
    graph: GraphStore,
    *,
    project: str,
    run: str,
) -> tuple[SummaryLine, ...]:
    """Return the summary of a run, in the order of `SummaryKind`. No example shows a private memory.

    Args:
        made: The proposals that were applied, the surest of a phase first.
        outcomes: What the phases returned.
        graph: The store as the run left it.
        project, run: Of the run.
    """
    by_kind: dict[SummaryKind, list[Proposal]] = defaultdict(list)
    for proposal in made:
        by_kind[_kind_of(proposal)].append(proposal)
    shown = _shown(chain.from_iterable(each[:_CANDIDATES] for each in by_kind.values()), graph)
    lines = {kind: _line(kind, each, shown, graph, run) for kind, each in by_kind.items()}
    if facts := outcomes.get("distill", PhaseOutcome()).counts.get("facts", 0):
        lines["learned"] = _with_facts(lines.get("learned"), facts, graph, project, run)
    asked = outcomes.get("review", PhaseOutcome())
    if asked.health is not None and asked.health.questions:
        lines["asked"] = SummaryLine(
            kind="asked",
            count=asked.health.questions,
            what=amount(asked.health.questions, "question"),
            example=shown_line(asked.asked, _EXAMPLE_CHARS),
            command=_in_project("hydramem review", project),
        )
    return tuple(lines[kind] for kind in get_args(SummaryKind) if kind in lines)


def _kind_of(proposal: Proposal) -> SummaryKind:
    if proposal.phase == "supersede" and proposal.action == "change":
        # What writes no row but a link lets both memories stand.
        return "ended" if proposal.write.chunks or proposal.write.relations else "judged"
    if _joins_memories(proposal):
        return "joined"
    return _KINDS[proposal.action]


def _joins_memories(proposal: Proposal) -> bool:
    """Say whether a proposal makes one hit of recall of two memories."""
    return proposal.action == "link" and any(
        link.type == "duplicates" and link.state == "active" and link.weight >= SURELY_SAME
        for link in proposal.write.links
    )


def _shown(proposals: Iterable[Proposal], graph: GraphStore) -> list[Proposal]:
    """Return the proposals that rest on no private memory, and on none that is gone, and name nothing secret.

    What only private memories name is secret; what no text names was told by a person.
    """
    of = {proposal.id: (proposal, _chunks_of(proposal), _named_by(proposal)) for proposal in proposals}
    things = sorted(set().union(*(named for _, _, named in of.values())))
    mentions = graph.mentioned(things) if things else ()
    naming: dict[str, set[str]] = defaultdict(set)
    for mention in mentions:
        naming[mention.entity].add(mention.chunk)
    wanted = sorted(set().union(*(chunks for _, chunks, _ in of.values()), *naming.values()))
    public = {row.id for row in graph.chunks(wanted) if not row.private} if wanted else set()
    secret = {id for id, chunks in naming.items() if chunks.isdisjoint(public)}
    # Of a merged entity nobody can say any more which of its names a private memory knows it by.
    partly = {id for id, chunks in naming.items() if not chunks <= public}
    return [
        proposal
        for proposal, chunks, named in of.values()
        if chunks <= public and named.isdisjoint(partly if proposal.write.removed.entities else secret)
    ]


def _named_by(proposal: Proposal) -> set[str]:
    """Return the ids of all entities that a proposal changes, joins, or relates."""
    found: set[str] = set()
    for table, key in changed_addresses(proposal):
        if table == ENTITY.name:
            found.add(key[0])
        elif table == RELATES.name:
            found.update(key[:2])
    return found


def _chunks_of(proposal: Proposal) -> set[str]:
    """Return the ids of all memories and passages that a proposal changes, joins, or rests on."""
    found: set[str] = set()
    # A memory that is archived takes its links along, and its proposal says nothing of their other ends.
    names_ends = not (proposal.action == "archive" and proposal.write.chunks)
    for table, key in changed_addresses(proposal):
        if table in (CHUNK.name, MENTIONS.name):
            found.add(key[0])
        elif table == LINKS.name and names_ends:
            found.update(key[:2])
    for row in written_rows(proposal.write):
        if isinstance(row, Relation):
            found.update(row.evidence)
    return found


def _line(
    kind: SummaryKind, proposals: Sequence[Proposal], shown: Sequence[Proposal], graph: GraphStore, run: str
) -> SummaryLine:
    nouns: Counter[str] = Counter()
    for proposal in proposals:
        nouns[_noun(proposal)] += max(1, len(proposal.write.removed.entities))
    candidates = [each for each in shown if _kind_of(each) == kind]
    example = min(candidates, key=lambda each: len(each.text), default=None)
    return SummaryLine(
        kind=kind,
        count=nouns.total(),
        what=", ".join(amount(count, noun, _NOUNS[noun]) for noun, count in nouns.most_common()),
        example="" if example is None else shown_line(example.text, _EXAMPLE_CHARS),
        command=None if example is None else _command(example, graph, run),
    )


def _noun(proposal: Proposal) -> str:
    rows, gone = proposal.write, proposal.write.removed
    if rows.entities or gone.entities:
        return "entity"
    if rows.chunks or gone.chunks or _joins_memories(proposal):
        return "memory"
    if rows.relations or gone.relations:
        return "relation"
    return "link" if rows.links or gone.links else "old row"


def _command(proposal: Proposal, graph: GraphStore, run: str) -> str | None:
    """Return what undoes one change; None where only the whole run can be undone."""
    gone = proposal.write.removed.entities
    if proposal.action == "merge" and gone:
        names = [name for id in gone if (name := _name_before(id, graph, run))]
        split = f"hydramem split {shlex.quote(names[0])}" if len(names) == len(gone) == 1 else None
        return split and _in_project(split, proposal.project)
    changes = graph.changes(run=run, target=proposal.target)
    return f"hydramem undo {changes[0].id}" if len(changes) == 1 else None


def _name_before(id: str, graph: GraphStore, run: str) -> str | None:
    """Return the name of an entity that a run merged, where a command line can hold it."""
    for change in graph.changes(run=run, target=id):
        name = json.loads(change.before).get("name") if change.before else None
        if isinstance(name, str) and name.isprintable():
            return name
    return None


def _with_facts(
    line: SummaryLine | None, facts: int, graph: GraphStore, project: str, run: str
) -> SummaryLine:
    """Return the line of what was learned with the facts that were distilled, one of which is the example."""
    rows = graph.chunks([change.target for change in graph.changes(run=run, project=project, kind="c")])
    public = [row for row in rows if row.kind != "turn" and not row.private and row.state == "active"]
    example = min(public, key=lambda row: (len(row.text), row.id), default=None)
    said = amount(facts, "fact from sessions", "facts from sessions")
    return SummaryLine(
        kind="learned",
        count=facts + (line.count if line else 0),
        what=f"{said}, {line.what}" if line else said,
        example=shown_line(example.text, _EXAMPLE_CHARS) if example else line.example if line else "",
        command=f"hydramem forget {example.id}" if example else line.command if line else None,
    )


def _in_project(command: str, project: str) -> str:
    return command if project == _HOME_PROJECT else f"{command} --project {shlex.quote(project)}"
