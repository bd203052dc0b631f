"""Operations on relations, entities, scopes and layers of trust."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from hydramem.core.argument_checks import MAX_SCOPE, check_count, check_reason, check_scope, check_share
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.knowledge_results import (
    Divided,
    EntityChange,
    Merged,
    Moved,
    Promoted,
    Relabeled,
    ScopeView,
)
from hydramem.core.results.write_results import Related, RelationView
from hydramem.core.row_types import Layer
from hydramem.core.time import When
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.write_operation import write_operation
from hydramem.search.visible import listings
from hydramem.search.visible.listings import relation_subject
from hydramem.storage.writing.answers import answered
from hydramem.text.dates.caller_dates import moment_or_none

if TYPE_CHECKING:
    from hydramem.ingest.knowledge.relations import Functional


class KnowledgeMethods(Handle):
    """States relations; names, merges and splits entities; files memories by scope and layer."""

    @write_operation
    def relate(
        self,
        subject: str,
        type: str,
        object: str,
        *,
        quote: str | None = None,
        evidence: Sequence[str] = (),
        confidence: float = 1.0,
        bidirectional: bool = False,
        valid_from: When | None = None,
        valid_to: When | None = None,
        subject_type: str = "thing",
        object_type: str = "thing",
        reason: str | None = None,
        project: str | None = None,
    ) -> Related:
        """State a relation between two named things; an equal current one gains what is new.

        It is verified; if its evidence denies it, only the history keeps it. A type with one object at a time
        (`verification.functional`) ends the older relation if the new one begins later; without an order in
        time both stay, as a conflict. An ended one that is stated without a time holds again from now on.

        Args:
            subject: Name or alias of the subject; a new entity where there is none.
            type: Type of the relation, such as works_for.
            object: Name or alias of the object.
            quote: The words that state it; they must occur in the evidence, if there is any.
            evidence: Ids of chunks that state it.
            confidence: 0 to 1.
            bidirectional: Whether it holds in both directions, such as married_to.
            valid_from: From when it is true in the world.
            valid_to: Until when it is true in the world; corrects the end of a stored relation.
            subject_type, object_type: Type of a new entity, such as person.
            reason: Why it is stated; kept in the history.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: A field is wrong, or the quote is not in the evidence; nothing is written.
            NotFoundError: The project has no such chunk; nothing is written.
        """
        from hydramem.ingest.knowledge.relation_input import RelationInput
        from hydramem.ingest.knowledge.relations import relate

        statement = arguments.gathered(RelationInput, locals())
        statement = replace(
            statement,
            evidence=arguments.ids(evidence),
            valid_from=moment_or_none(valid_from, "valid_from"),
            valid_to=moment_or_none(valid_to, "valid_to"),
        )
        done = relate(statement, target=self._target(project), functional=self._functional(project))
        return listings.related(done, self._use().graph)

    def _functional(self, project: str | None) -> "Functional":
        """Return which types of relation have one object at a time."""
        from hydramem.graph.functional_types import functional_types
        from hydramem.ingest.knowledge.relations import Functional

        store, name = self._use(), self._name(project)
        return Functional(
            types=store.config.verification.functional,
            seems=lambda type: type in functional_types(store.snapshots.of(name)),
        )

    @write_operation
    def unrelate(
        self,
        subject: str,
        type: str,
        object: str,
        *,
        ended: When | None = None,
        valid_from: When | None = None,
        reason: str | None = None,
        project: str | None = None,
    ) -> tuple[RelationView, ...]:
        """End a relation at a time, or, without one, archive it as never true; return what changed.

        With `ended` it stays true for the time before. An archived relation comes back by `revive` with its
        id, or by stating it again.

        Args:
            subject: Name or alias of the subject.
            type: Type of the relation.
            object: Name or alias of the object.
            ended: Until when it held.
            valid_from: Only the relation that held from this time; corrects its end if it has one.
            reason: Why; kept in the history.
            project: Project to write to; this handle's own by default.

        Raises:
            NotFoundError: The project has no such relation; nothing is written.
            InvalidInputError: It would end before it begins; nothing is written.
        """
        from hydramem.ingest.knowledge.relations import Withdrawal, unrelate

        withdrawal = replace(
            arguments.gathered(Withdrawal, locals()),
            ended=moment_or_none(ended, "ended"),
            valid_from=moment_or_none(valid_from, "valid_from"),
        )
        return listings.named(unrelate(withdrawal, target=self._target(project)), self._use().graph)

    @write_operation
    def entity(
        self,
        name: str,
        *,
        type: str | None = None,
        aliases: Sequence[str] = (),
        description: str | None = None,
        rename: str | None = None,
        reason: str | None = None,
        project: str | None = None,
    ) -> EntityChange:
        """Set the names, type or description of an entity; one that does not exist is created.

        Fields that are not given stay as they are. Texts that use an alias mention the entity from now on.

        Args:
            name: Name or alias of the entity, or the name of a new one.
            type: Its type, such as person.
            aliases: Further names. An alias of another entity is refused; see `merge`.
            description: One or two sentences; an empty text removes the description.
            rename: Its new name; the old one stays as an alias.
            reason: Why; kept in the history.
            project: Project to write to; this handle's own by default.

        Raises:
            InvalidInputError: A field is wrong, or a name belongs to another entity; nothing is written.
        """
        from hydramem.ingest.knowledge.entities import Naming, set_entity

        naming = replace(arguments.gathered(Naming, locals()), aliases=arguments.ids(aliases))
        return set_entity(naming, target=self._target(project))

    @write_operation
    def merge(
        self, keep: str, others: Sequence[str], *, reason: str | None = None, project: str | None = None
    ) -> Merged:
        """Merge entities that are the same thing into one; `split` or `undo` reverses it.

        The others' names become its aliases, and their mentions and relations become its own. A relation that
        both had becomes one, with all evidence and the stronger verdict: a person's, else a model's.

        Args:
            keep: Name, alias or id of the entity that stays.
            others: Names, aliases or ids of the entities that are merged into it.
            reason: Why; kept in the history.
            project: Project of the entities; this handle's own by default.

        Raises:
            InvalidInputError: An entity would be merged with itself, or there are too many; nothing is
                written.
            NotFoundError: The project has no such entity; nothing is written.
        """
        from hydramem.ingest.knowledge.merging.merge_entities import merge

        return merge(keep, arguments.ids(others), reason=reason, target=self._target(project))

    @write_operation
    def split(
        self,
        what: str,
        *,
        of: str | None = None,
        chunks: Sequence[str] = (),
        reason: str | None = None,
        project: str | None = None,
    ) -> Divided:
        """Separate two things: reverse a merge, or move what some chunks say to another entity.

        A merged entity returns as it was; what was written since stays with the other one and is listed. With
        `chunks`, their mentions of the entity `of`, and the relations that only they state, move to `what`,
        which is created if needed.

        Args:
            what: Name, alias or id of a merged entity, or the run or change of its merge; with `chunks`, the
                name of the entity that they mention.
            of: With `chunks`, name, alias or id of the entity that they mention now.
            chunks: Ids of chunks.
            reason: Why; kept in the history.
            project: Project of the entity; this handle's own by default.

        Raises:
            InvalidInputError: The merge is reversed already, a chunk does not mention `of`, or both would
                have one name; nothing is written.
            NotFoundError: No such entity was merged, or the project has none; nothing is written.
        """
        from hydramem.ingest.knowledge.merging.reassign import reassign
        from hydramem.ingest.knowledge.merging.split_entity import split

        target, named = self._target(project), arguments.ids(chunks)
        if (of is None) != (not named):
            raise InvalidInputError("of, chunks: give both, to move what some chunks say, or neither")
        if of is None:
            done = split(what, reason=reason, target=target)
        else:
            done = reassign(what, of=of, chunks=named, reason=reason, target=target)
        answered(done)
        self._use().snapshots.forget(target.project)  # the entity has lost names
        return done

    def scopes(
        self, prefix: str = "/", *, depth: int | None = None, project: str | None = None
    ) -> tuple[ScopeView, ...]:
        """Return the tree of scopes, each with the memories at and under it.

        Args:
            prefix: Scope at the root of the tree, in whole segments.
            depth: Levels below the prefix; all by default.
            project: Project to read; this handle's own by default.
        """
        from hydramem.ingest.knowledge.scopes import tree

        start = check_scope(prefix)
        levels = None if depth is None else check_count(depth, name="depth", least=0, most=MAX_SCOPE)
        return tree(self._use().graph.scope_counts(self._name(project), start), prefix=start, depth=levels)

    @write_operation
    def move(self, source: str, destination: str, *, reason: str, project: str | None = None) -> Moved:
        """Move everything at and under a scope to another: memories in any state, with history and ids.

        Memories already at the destination stay there. An interrupted call can be repeated.

        Args:
            source: The scope to move, such as /projects/alpha; /projects/alphabet is another scope.
            destination: Its new path.
            reason: Why; kept in the history.
            project: Project of the scope; this handle's own by default.

        Raises:
            InvalidInputError: The destination is in the source, or a path is too long; nothing is written.
            NotFoundError: The scope is empty; nothing is written.
        """
        from hydramem.ingest.knowledge.scopes import move

        target = self._target(project)
        return move(check_scope(source), check_scope(destination), reason=reason, target=target)

    @write_operation
    def relabel(
        self,
        ids: Sequence[str],
        *,
        scope: str | None = None,
        categories: Sequence[str] | None = None,
        keywords: Sequence[str] | None = None,
        importance: float | None = None,
        confidence: float | None = None,
        expires_at: When | None = None,
        reason: str | None = None,
        project: str | None = None,
    ) -> Relabeled:
        """Correct the labels of several memories, all or none; `revise` corrects one, and its text.

        Args:
            ids: Ids of memories.
            scope: Path that they belong to.
            categories: Labels to filter by; they replace the old ones.
            keywords: Words to search for; they replace the old ones.
            importance, confidence: 0 to 1.
            expires_at: When recall stops returning them.
            reason: Why; kept in the history.
            project: Project of the memories; this handle's own by default.

        Raises:
            NotFoundError: The project has no such memory; nothing is written.
            InvalidInputError: A field is wrong, or a memory is no longer believed; nothing is written.
        """
        from hydramem.ingest.memories.memory_input import labels
        from hydramem.ingest.memories.revise import Revision, relabel

        revision = Revision(
            scope=None if scope is None else check_scope(scope),
            categories=labels(categories, "categories"),
            keywords=labels(keywords, "keywords"),
            importance=None if importance is None else check_share(importance, name="importance"),
            confidence=None if confidence is None else check_share(confidence, name="confidence"),
            expires_at=moment_or_none(expires_at, "expires_at"),
            reason=check_reason(reason),
        )
        return relabel(arguments.ids(ids), revision, graph=self._use().graph, target=self._target(project))

    @write_operation
    def promote(
        self, ids: Sequence[str], *, layer: Layer, reason: str, project: str | None = None
    ) -> Promoted:
        """Move memories, chunks and relations to a layer of trust, up or down; recall weighs by layer.

        A memory that several sources or sessions state becomes shared without this call. Only verification or
        a person makes something verified; an agent cannot.

        Args:
            ids: Ids of chunks and relations.
            layer: working (as stated), shared (corroborated) or verified (confirmed by a person).
            reason: Why; kept in the history.
            project: Project of the rows; this handle's own by default.

        Raises:
            InvalidInputError: A field is wrong, a row is forgotten or quarantined, or an agent asks for
                verified; nothing is written.
            NotFoundError: The project has no such chunk or relation; nothing is written.
        """
        from hydramem.ingest.knowledge.trust_layers import promote

        store, name = self._use(), self._name(project)
        return promote(
            arguments.ids(ids),
            layer,
            reason=reason,
            target=self._target(project),
            subject_of=lambda id: relation_subject(id, store.snapshots.of(name)),
        )
