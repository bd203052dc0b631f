"""Operations that list, walk and draw the graph."""

from collections.abc import Sequence
from typing import get_args

from hydramem.core.argument_checks import check_choice, check_choices, check_count, check_name, check_within
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.graph_views import (
    CentralEntity,
    Community,
    GraphView,
    Neighbor,
    Path,
    Surroundings,
)
from hydramem.core.results.upkeep_results import RunOfChanges
from hydramem.core.results.verdicts import History
from hydramem.core.results.write_results import RelationView
from hydramem.core.row_types import Entity, Measure, State
from hydramem.core.time import When, clock
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.search.visible import listings
from hydramem.storage.chunk_filter import ChunkFilter
from hydramem.storage.store import RunFilter
from hydramem.text.dates.caller_dates import moment_or_none

_MOST_NAMED = 1000


class GraphMethods(Handle):
    """Lists and walks entities and relations."""

    def entities(
        self,
        *,
        containing: str | None = None,
        type: str | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Entity, ...]:
        """List named things, most mentioned first.

        At another time mentions are counted as of then; names, descriptions and the order are today's.

        Args:
            containing: Only entities whose name or an alias contains this text, or that have it as id.
            type: Only entities of this type.
            as_of: Only entities that something true in the world at this time names; all by default.
            known_at: Only entities that the store knew at this time; now by default.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project to read; this handle's own by default.
        """
        from hydramem.search.visible.entities_at import entities_at

        graph, name, page = self._use().graph, self._name(project), arguments.page(limit, offset)
        where = ChunkFilter(
            projects=(name,),
            states=arguments.states(as_of, known_at),
            at=moment_or_none(as_of, "as_of"),
            known_at=moment_or_none(known_at, "known_at"),
        )
        if where.at is where.known_at is None:
            return graph.list_entities(name, page, containing=containing, type=type)
        return entities_at(graph, page, where=where, containing=containing, type=type)

    def relations(
        self,
        entity: str | None = None,
        *,
        type: str | None = None,
        states: Sequence[State] = (),
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[RelationView, ...]:
        """List relations with the names of their ends, newest first.

        Args:
            entity: Only relations with this name, alias or id of an entity at one end.
            type: Only relations of this type.
            states: Only relations in these states, at any time: active, superseded, archived (never true, or
                an earlier version). By default active ones that are true now, and those that `as_of` and
                `known_at` ask for.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            limit: Most rows to return.
            offset: Rows to skip.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: No entity has this name.
        """
        store, chosen = self._use(), check_choices(states, get_args(State), name="states")
        at = moment_or_none(as_of, "as_of")
        return listings.relations(
            entity,
            project=self._name(project),
            type=type,
            states=chosen or arguments.states(as_of, known_at),
            at=at if at is not None or chosen else clock(),
            known_at=moment_or_none(known_at, "known_at"),
            page=arguments.page(limit, offset),
            graph=store.graph,
            snapshots=store.snapshots,
        )

    def history(self, id: str, *, project: str | None = None) -> History:
        """Return every change of one thing, oldest first: what changed, when, by whom and why.

        Of a memory it returns the texts that it had, too.

        Args:
            id: Id of a memory, chunk, document, entity or relation.
            project: Project that is searched first for a relation; this handle's own by default.

        Raises:
            NotFoundError: Nothing has, or had, this id.
        """
        from hydramem.search.overview.history import history

        store, name = self._use(), self._name(project)
        return history(id, graph=store.graph, snapshot=lambda: store.snapshots.of(name))

    def changes(
        self,
        *,
        run: str | None = None,
        actor: str | None = None,
        operation: str | None = None,
        request: str | None = None,
        since: When | None = None,
        until: When | None = None,
        every_project: bool = False,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[RunOfChanges, ...]:
        """List what was changed, the last call first: a line for each call, with the run that `undo` takes.

        `history` shows the changes of one thing.

        Args:
            run: Only this run.
            actor: Only runs with a change by this actor, such as cli, mcp, view, python or gardener.
            operation: Only runs with a change by this operation, such as remember.
            request: Only the run that a request with this id made.
            since, until: Only runs that ended in this time; `until` is not included.
            every_project: List the runs of all projects.
            limit: Most runs to return.
            offset: Runs to skip.
            project: Project to read; this handle's own by default.
        """
        from hydramem.search.overview.change_runs import change_runs

        name = self._name(project)
        where = RunFilter(
            run=None if run is None else check_name(run, name="run"),
            project=None if every_project else name,
            actor=None if actor is None else check_name(actor, name="actor"),
            operation=None if operation is None else check_name(operation, name="operation"),
            request=None if request is None else check_name(request, name="request"),
            since=moment_or_none(since, "since"),
            until=moment_or_none(until, "until"),
        )
        return change_runs(self._use().graph, where, arguments.page(limit, offset))

    def expand(
        self,
        starts: Sequence[str],
        *,
        depth: int = 2,
        limit: int = 10,
        max_tokens: int = 2000,
        types: Sequence[str] = (),
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        project: str | None = None,
    ) -> Surroundings:
        """Return what is connected to entities and chunks: the best of each, with the path to it.

        Args:
            starts: Names, aliases or ids of entities, and ids of chunks such as hits.
            depth: Most steps over relations, mentions and links, 1 to 5.
            limit: Most entities, and most chunks, to return.
            max_tokens: Most tokens of all chunks.
            types: Only follow relations and links of these types, and mentions if `mentions` is one; all by
                default.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            include_private: Whether the walk can use private memories.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: A start is no entity and no chunk of the project.
        """
        from hydramem.search.overview import surroundings

        named = arguments.ids(starts)
        check_count(len(named), name="number of starts", most=arguments.MAX_STARTS)
        return surroundings.expand(
            named,
            depth=arguments.depth(depth),
            limit=arguments.row_limit(limit),
            max_tokens=check_count(max_tokens, name="max_tokens", most=10**6),
            graph=self._use().graph,
            seen=self._view(
                project, as_of, known_at, include_private=include_private, types=arguments.types(types)
            ),
        )

    def neighbors(
        self,
        entity: str,
        *,
        depth: int = 1,
        limit: int = 20,
        types: Sequence[str] = (),
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[Neighbor, ...]:
        """Return the entities connected to one, nearest first, with the path to each.

        Args:
            entity: Name, alias or id of the entity.
            depth: Most relations to cross, 1 to 5.
            limit: Most entities to return.
            types: Only follow relations of these types; all by default.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: No entity has this name.
        """
        from hydramem.search.overview import surroundings

        return surroundings.neighbors(
            entity,
            depth=arguments.depth(depth),
            limit=arguments.row_limit(limit),
            seen=self._view(project, as_of, known_at, types=arguments.types(types)),
        )

    def path(
        self,
        start: str,
        end: str,
        *,
        max_steps: int = 6,
        count: int = 1,
        types: Sequence[str] = (),
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> Path:
        """Return the shortest path between two entities, over relations and shared chunks.

        No path passes a hub: an entity that half of the chunks or sources mention, or the user or assistant.

        Args:
            start: Name or alias of the first entity.
            end: Name or alias of the second entity.
            max_steps: Most steps of a path, 1 to 12.
            count: How many of the best paths to return, 1 to 10; all but the first are in `others`.
            types: Only follow relations and links of these types, and mentions if `mentions` is one; all by
                default.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: No entity has one of the names. No path is a value, not an error.
        """
        from hydramem.search.overview import surroundings

        return surroundings.path(
            start,
            end,
            max_steps=check_count(max_steps, name="max_steps", most=12),
            count=check_count(count, name="count", most=10),
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at, types=arguments.types(types)),
        )

    def central(
        self,
        *,
        by: Measure = "pagerank",
        type: str | None = None,
        limit: int = 20,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[CentralEntity, ...]:
        """Return the most central entities of the graph.

        Args:
            by: Measure: pagerank, betweenness (how many of the shortest paths between others pass it),
                relations (their number) or chunks (the number that mention it).
            type: Only entities of this type.
            limit: Most entities to return.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            project: Project to read; this handle's own by default.
        """
        from hydramem.search.overview import overview

        return overview.central(
            by=check_choice(by, get_args(Measure), name="by"),
            type=type,
            limit=arguments.row_limit(limit),
            seen=self._view(project, as_of, known_at),
        )

    def communities(
        self,
        *,
        limit: int = 20,
        members: int = 20,
        resolution: float = 1.0,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[Community, ...]:
        """Return groups of closely connected entities, largest first.

        The same graph always gives the same groups. With the default resolution, a group that continues one
        of the gardener's last run has its id and name.

        Args:
            limit: Most communities to return.
            members: Most members to name in each.
            resolution: Above 1 for more and smaller groups, below 1 for fewer and larger; 0.01 to 100.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            project: Project to read; this handle's own by default.
        """
        from hydramem.garden.phases.lasting_communities import read_groups
        from hydramem.search.overview import overview

        return overview.communities(
            limit=arguments.row_limit(limit),
            members=check_count(members, name="members", most=arguments.MAX_PAGE),
            resolution=check_within(resolution, name="resolution", least=0.01, most=100),
            seen=self._view(project, as_of, known_at),
            before=read_groups(self._garden_folder(self._name(project))) if resolution == 1.0 else (),
        )

    def graph(
        self,
        center: str | None = None,
        *,
        depth: int = 2,
        limit: int = 200,
        chunks: bool = True,
        also: Sequence[str] = (),
        types: Sequence[str] = (),
        states: Sequence[State] = (),
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> GraphView:
        """Return a part of the graph as nodes and edges to draw.

        Args:
            center: Name or alias of an entity, id of a memory or chunk, or id or source of a document; the
                best connected part of the project by default.
            depth: Most steps from the centre, 1 to 5.
            limit: Most nodes; the nearest and best connected are kept.
            chunks: Whether to include chunks, or only the centre, entities and their relations.
            also: Names or ids of further nodes to show beyond the limit, such as those drawn already, with
                their edges; those that the project has no more are left out. At most 1000.
            types: Only follow relations and links of these types, and mentions if `mentions` is one; all by
                default.
            states: Only follow relations and links in these states, true at any time: active, superseded,
                archived. By default what is true now, or at `as_of`.
            as_of: Return what was true in the world at this time; now by default.
            known_at: Return what the store believed at this time; now by default.
            project: Project to read; this handle's own by default.

        Raises:
            InvalidInputError: `states` and `as_of` are given: each says when an edge must be true.
            NotFoundError: Nothing in the project has this name, id or source.
        """
        from hydramem.garden.phases.lasting_communities import read_groups
        from hydramem.search.overview import drawn_graph

        if states and as_of is not None:
            raise InvalidInputError("states, as_of: give one of them; states shows edges of any time")
        named, chosen = arguments.ids(also), check_choices(states, get_args(State), name="states")
        check_count(len(named), name="number of nodes in also", least=0, most=_MOST_NAMED)
        return drawn_graph.graph_view(
            center,
            depth=arguments.depth(depth),
            limit=check_count(limit, name="limit", most=10_000),
            chunks=chunks,
            also=named,
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at, types=arguments.types(types), edge_states=chosen),
            groups=read_groups(self._garden_folder(self._name(project))),
        )
