"""Operations that walk and show the graph."""

from collections.abc import Sequence
from typing import get_args

from hydramem.core.argument_checks import check_choice, check_count, check_within
from hydramem.core.results.graph_views import (
    CentralEntity,
    Community,
    GraphView,
    Neighbor,
    Path,
    Surroundings,
)
from hydramem.core.results.verdicts import History
from hydramem.core.results.write_results import RelationView
from hydramem.core.row_types import Entity
from hydramem.core.time import When, now
from hydramem.garden.phases.lasting_communities import read_groups
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.search.overview import overview, surroundings
from hydramem.search.overview.history import history
from hydramem.search.visible import listings


class GraphMethods(Handle):
    """What shows entities, relations and what lies around them."""

    def entities(
        self,
        *,
        containing: str | None = None,
        type: str | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Entity, ...]:
        """List named things, most mentioned first.

        Args:
            containing: Only names that contain this text.
            type: Only entities of this type.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.
        """
        return self._use().graph.list_entities(
            self._name(project), handle.page(limit, offset), containing=containing, type=type
        )

    def relations(
        self,
        entity: str | None = None,
        *,
        type: str | None = None,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[RelationView, ...]:
        """List relations with their ends named, newest first.

        Args:
            entity: Only relations with this name or alias at one end.
            type: Only relations of this type.
            as_of: Those true in the world at that time; now where not given.
            known_at: Those the store believed at that time; what it believes now where not given.
            limit: Most rows to return.
            offset: Rows to pass over.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        store = self._use()
        return listings.relations(
            entity,
            project=self._name(project),
            type=type,
            states=handle.states(as_of, known_at),
            at=handle.when(as_of, "as_of") or now(),
            known_at=handle.when(known_at, "known_at"),
            page=handle.page(limit, offset),
            graph=store.graph,
            snapshots=store.snapshots,
        )

    def history(self, id: str, *, project: str | None = None) -> History:
        """Return the life of one thing, oldest first: what changed, when, by whom and why.

        Args:
            id: Id of a memory, chunk, document, entity or relation.
            project: Namespace in which a relation is looked for first; the handle's own where not given.

        Raises:
            NotFoundError: Nothing has that id, and nothing had.
        """
        store, name = self._use(), self._name(project)
        return history(id, graph=store.graph, snapshot=lambda: store.snapshots.of(name))

    def expand(
        self,
        starts: Sequence[str],
        *,
        depth: int = 2,
        limit: int = 10,
        max_tokens: int = 2000,
        as_of: When | None = None,
        known_at: When | None = None,
        include_private: bool = True,
        project: str | None = None,
    ) -> Surroundings:
        """Return what lies around entities and chunks: the best of each, with the steps that lead there.

        Args:
            starts: Names or aliases of entities, and ids of chunks, such as those of hits.
            depth: Most steps to go, over relations, mentions and links, 1 to 5.
            limit: Most entities, and most chunks, to return.
            max_tokens: Most tokens of the chunks' texts together.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            include_private: Whether private memories may be shown or passed.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: A start is no entity and no chunk of the project.
        """
        return surroundings.expand(
            handle.starts(starts),
            depth=check_count(depth, name="depth", most=5),
            limit=check_count(limit, name="limit", most=handle.MAX_PAGE),
            max_tokens=check_count(max_tokens, name="max_tokens", most=10**6),
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at, include_private=include_private),
        )

    def neighbors(
        self,
        entity: str,
        *,
        depth: int = 1,
        limit: int = 20,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[Neighbor, ...]:
        """Return the entities around one, nearest first, with the steps that lead to each.

        Args:
            entity: Name or alias of the entity to start from.
            depth: Most relations to cross, 1 to 5.
            limit: Most entities to return.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        return surroundings.neighbors(
            entity,
            depth=check_count(depth, name="depth", most=5),
            limit=check_count(limit, name="limit", most=handle.MAX_PAGE),
            seen=self._view(project, as_of, known_at),
        )

    def path(
        self,
        start: str,
        end: str,
        *,
        max_steps: int = 6,
        count: int = 1,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> Path:
        """Return the shortest way between two entities, through relations and shared chunks.

        Args:
            start: Name or alias of the one.
            end: Name or alias of the other.
            max_steps: Longest way to look for, 1 to 12.
            count: How many of the best ways to look for, 1 to 10; those after the first are in `others`.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has one of the names. That no way joins them is a value, not an error.
        """
        return surroundings.path(
            start,
            end,
            max_steps=check_count(max_steps, name="max_steps", most=12),
            count=check_count(count, name="count", most=10),
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at),
        )

    def central(
        self,
        *,
        by: overview.Measure = "pagerank",
        type: str | None = None,
        limit: int = 20,
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> tuple[CentralEntity, ...]:
        """Return the entities that the graph turns around, most central first.

        Args:
            by: What to order by: pagerank, relations (how many it has) or chunks (how many mention it).
            type: Only entities of this type.
            limit: Most entities to return.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.
        """
        return overview.central(
            by=check_choice(by, get_args(overview.Measure), name="by"),
            type=type,
            limit=check_count(limit, name="limit", most=handle.MAX_PAGE),
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
        """Return the groups that entities fall into by how they hang together, largest first.

        The same graph gives the same groups, whenever and wherever it is asked. With the default resolution,
        a group that goes on from one of last night's has its id and name.

        Args:
            limit: Most communities to return.
            members: Most members of each to name.
            resolution: Above 1 for more and smaller groups, below 1 for fewer and larger; 0.01 to 100.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.
        """
        return overview.communities(
            limit=check_count(limit, name="limit", most=handle.MAX_PAGE),
            members=check_count(members, name="members", most=handle.MAX_PAGE),
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
        as_of: When | None = None,
        known_at: When | None = None,
        project: str | None = None,
    ) -> GraphView:
        """Return a part of the graph as nodes and edges to draw.

        Args:
            center: Name or alias of the entity it lies around; the best connected part of the project
                where not given.
            depth: Most steps from the centre, 1 to 5.
            limit: Most nodes; the nearest and best connected stay.
            chunks: Whether chunks are shown, or entities and their relations alone.
            as_of: What was true in the world at that time; now where not given.
            known_at: What the store believed at that time; what it believes now where not given.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        return overview.graph_view(
            center,
            depth=check_count(depth, name="depth", most=5),
            limit=check_count(limit, name="limit", most=10_000),
            chunks=chunks,
            graph=self._use().graph,
            seen=self._view(project, as_of, known_at),
            groups=read_groups(self._garden_folder(self._name(project))),
        )
