"""Communities with lasting ids and names: each run detects them anew and saves them as a file of the project.

A community that shares most members with one of the last run continues it, and keeps its id and name.
"""

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from hydramem.core.argument_checks import check_name
from hydramem.core.errors import InvalidInputError, ModelError, ModelReplyError, StorageError
from hydramem.core.ids import community_id
from hydramem.core.row_types import Usage
from hydramem.garden.phases.community_names_prompt import SYSTEM, GroupReply, community_prompt
from hydramem.garden.proposals.phase_context import PhaseContext
from hydramem.graph.centrality import centrality
from hydramem.graph.communities import communities
from hydramem.graph.snapshot.snapshot import Snapshot
from hydramem.llm.contracts import Generator
from hydramem.storage.chunk_filter import LIVE
from hydramem.storage.files.durable_files import write_whole
from hydramem.text.shown_text import escape_text

FILE = "communities.json"

_STRICT: Any = {"extra": "forbid", "strict": True}

_CONTINUES_FROM = 0.2
"""Overlap (Jaccard) from which a group continues an earlier one."""

_KEEPS_NAME_FROM = 0.5
"""Overlap from which it also keeps the name and summary."""

_NAMING_MEMBERS = 3
"""How many central members make the name of a community that no model named."""

_MOST_NAME, _MOST_SUMMARY = 80, 400
"""Characters of a name and of a summary."""

_MOST_ASKED = 20
"""Communities that a model names in one run."""


def successors(
    groups: Sequence[Sequence[str]], before: Mapping[str, Sequence[str]]
) -> Mapping[int, tuple[str, float]]:
    """Match groups with earlier ones, the largest overlap first; an earlier group has one successor at most.

    Args:
        groups: Ids of the members of each group; a member is in one group only.
        before: The members of earlier groups, by the id of the group.

    Returns:
        By place in `groups`: the id of the earlier group, and the overlap (Jaccard, 0 to 1). Ties go to the
        larger group, then by ids, so that equal input gives equal matches.
    """
    home = {member: id for id, members in before.items() for member in members}
    pairs = list[tuple[float, int, str, str, int]]()
    for place, members in enumerate(groups):
        shared = Counter(home[member] for member in members if member in home)
        least = min(members, default="")
        for id, both in shared.items():
            overlap = both / (len(members) + len(before[id]) - both)
            if overlap >= _CONTINUES_FROM:
                pairs.append((-overlap, -len(members), least, id, place))
    found: dict[int, tuple[str, float]] = {}
    taken = set[str]()
    for overlap, _, _, id, place in sorted(pairs):
        if place not in found and id not in taken:
            found[place] = (id, -overlap)
            taken.add(id)
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class LastingCommunity:
    """A community as the last run saved it.

    Attributes:
        name: Made of its central members, or by a model.
        summary: What it is about, by a model; else empty.
        named_by: Which model named it; empty where its members do.
        members: Ids of its entities, most central first.
    """

    __pydantic_config__ = _STRICT

    id: str
    name: str
    summary: str = ""
    named_by: str = ""
    members: tuple[str, ...]


def read_groups(folder: Path) -> tuple[LastingCommunity, ...]:
    """Return the communities that the last run saved; none before the first run.

    Raises:
        StorageError: The file is damaged.
    """
    from pydantic import TypeAdapter, ValidationError

    file = folder / FILE
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StorageError(f"{file}: cannot be read: {error.strerror}") from error
    try:
        return TypeAdapter(tuple[LastingCommunity, ...]).validate_json(data)
    except ValidationError as error:
        raise StorageError(f"{file}: is damaged; delete it: the next run makes it anew") from error


def lasting(
    groups: Sequence[Sequence[str]],
    before: Sequence[LastingCommunity],
    *,
    project: str,
    label: Callable[[str], str],
) -> tuple[LastingCommunity, ...]:
    """Give communities the ids and names of those that they continue; new ones get their own.

    Args:
        groups: Ids of the entities of each, most central first; none is empty.
        before: The communities of the last run.
        project: The project, for new ids.
        label: Returns the name of an entity.
    """
    known = {group.id: group for group in before}
    found = successors(groups, {group.id: group.members for group in before})
    taken = {id for id, _ in found.values()}
    made = list[LastingCommunity]()
    for place, members in enumerate(groups):
        name = ", ".join(label(member) for member in members[:_NAMING_MEMBERS])[:_MOST_NAME]
        id, overlap = found.get(place, ("", 0.0))
        if overlap >= _KEEPS_NAME_FROM:
            made.append(replace(known[id], members=tuple(members)))
            continue
        # With many new members it is still the same group, but its name and summary may not fit.
        id = id or next(each for each in _possible_ids(project, members) if each not in taken)
        taken.add(id)
        made.append(LastingCommunity(id=id, name=name, members=tuple(members)))
    return tuple(made)


def _possible_ids(project: str, members: Sequence[str]) -> chain[str]:
    """Yield the ids that a new group can have: an earlier one may have that of its first member."""
    joined = "\n".join(sorted(members))
    return chain((community_id(project, member) for member in members), (community_id(project, joined),))


def regroup(context: PhaseContext) -> tuple[tuple[LastingCommunity, ...], tuple[str, ...]]:
    """Detect a project's communities anew, and save them under lasting ids.

    Args:
        context: The project; a model of the role `infer` names communities that no model has named, within
            the budget.

    Returns:
        The communities, and why some could not be named, a sentence each.

    Raises:
        StorageError: The file of the last run is damaged, or the new one cannot be written.
    """
    snapshot, file = context.snapshot, context.folder / FILE
    groups = lasting(
        _detected(snapshot, context),
        read_groups(context.folder),
        project=context.project,
        label=lambda id: snapshot.label(snapshot.nodes.index[id]),
    )
    generator = context.generator("infer")
    named, failures = (groups, ()) if generator is None else _named(groups, context, generator)
    try:
        context.folder.mkdir(parents=True, exist_ok=True)
        write_whole(file, json.dumps([asdict(group) for group in named], ensure_ascii=True))
    except OSError as error:
        raise StorageError(f"{file}: cannot be written: {error.strerror}") from error
    return named, failures


def _detected(snapshot: Snapshot, context: PhaseContext) -> list[tuple[str, ...]]:
    """Return the communities of the relations that hold now, as ids of entities, most central first."""
    edges = snapshot.edge_mask(at=context.clock, known_at=None, states=LIVE)
    nodes = snapshot.node_mask(states=LIVE)
    hubs = snapshot.rarity().hubs
    measured = centrality(snapshot, edges=edges, nodes=nodes, hubs=hubs)
    share = np.zeros(snapshot.size)
    share[measured.nodes] = measured.pagerank
    ids = snapshot.nodes.ids
    found = list[tuple[str, ...]]()
    for group in communities(snapshot, edges=edges, nodes=nodes & ~hubs):
        entities = group[~snapshot.nodes.is_chunk[group]].tolist()
        if len(entities) > 1:
            entities.sort(key=lambda node: (-share[node], ids[node]))
            found.append(tuple(ids[node] for node in entities))
    return sorted(found, key=lambda members: (-len(members), members[0]))


def _named(
    groups: Sequence[LastingCommunity], context: PhaseContext, generator: Generator
) -> tuple[tuple[LastingCommunity, ...], tuple[str, ...]]:
    """Have a model name the largest groups that none has named, within the budget."""
    named, failures = {group.id: group for group in groups}, list[str]()
    for group in [group for group in groups if not group.named_by][:_MOST_ASKED]:
        if context.budget.over:
            failures.append(f"Communities wait for a name: {context.budget.over}.")
            break
        try:
            reply = generator.generate(
                community_prompt(group.members, context.graph), GroupReply, system=SYSTEM
            )
        except ModelReplyError as error:
            context.budget.spend(Usage(calls=1))
            failures.append(f"A community was not named, the model's reply was refused: {error}.")
            continue
        except ModelError as error:
            failures.append(f"Communities were not named, the model cannot be asked: {error}.")
            break
        context.budget.spend(reply.usage)
        try:
            name = check_name(reply.value.name, name="name")[:_MOST_NAME]
        except InvalidInputError as error:
            failures.append(f"A community was not named, the model's reply was refused: {error}.")
            continue
        summary = " ".join(escape_text(reply.value.summary).split())[:_MOST_SUMMARY]
        named[group.id] = replace(group, name=name, summary=summary, named_by=generator.name)
    return tuple(named[group.id] for group in groups), tuple(failures)
