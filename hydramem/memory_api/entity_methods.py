"""Operations on entities, scopes and trust: what is known of things, and how far it is believed."""

from collections.abc import Sequence

from hydramem.core.argument_checks import MAX_SCOPE, check_count, check_scope
from hydramem.core.errors import InvalidInputError
from hydramem.core.results.knowledge_results import Divided, EntityChange, Merged, Moved, Promoted, ScopeView
from hydramem.core.row_types import Layer
from hydramem.ingest.knowledge.entities import Naming, set_entity
from hydramem.ingest.knowledge.merging.merge_entities import merge
from hydramem.ingest.knowledge.merging.reassign import reassign
from hydramem.ingest.knowledge.merging.split_entity import split
from hydramem.ingest.knowledge.scopes import move, tree
from hydramem.ingest.knowledge.trust_layers import promote
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.search.visible.listings import relation_subject
from hydramem.storage.changes import in_one_run


class EntityMethods(Handle):
    """What names things, files them and raises their layer."""

    @in_one_run()
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
        """Say what a thing is called and what it is; one that nobody named yet is made.

        What is not given stays as it is known. Texts that use an alias speak of the entity from then on.

        Args:
            name: A name or alias that it has, or the name of a new one.
            type: What it is, such as person.
            aliases: Further names; one that is another entity's is refused, since both may be one thing:
                see `merge`.
            description: What it is, in a sentence or two; empty takes away what is known.
            rename: What it is called from now on; the name before stays as an alias.
            reason: Why, for `history`.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong, or a name belongs to another entity; nothing is written.
        """
        naming = Naming(
            name=name,
            type=type,
            aliases=handle.ids(aliases),
            description=description,
            rename=rename,
            reason=reason,
        )
        return set_entity(naming, target=self._target(project))

    @in_one_run()
    def merge(
        self, keep: str, others: Sequence[str], *, reason: str | None = None, project: str | None = None
    ) -> Merged:
        """Make one entity stand for others that are the same thing; `split` or `undo` takes it back.

        Their names become its aliases, so that texts that use them speak of it from then on; their mentions
        and relations become its own. A relation that both had is united: evidence is added up, and the
        verdict that the other would not change stays.

        Args:
            keep: Name, alias or id of the one that stays.
            others: Those of what it stands for from then on.
            reason: Why, for `history`.
            project: Namespace that they are in; the handle's own where not given.

        Raises:
            InvalidInputError: One is to be merged with itself, or there are too many; nothing is written.
            NotFoundError: The project has no such entity; nothing is written.
        """
        return merge(keep, handle.ids(others), reason=reason, target=self._target(project))

    @in_one_run()
    def split(
        self,
        what: str,
        *,
        of: str | None = None,
        chunks: Sequence[str] = (),
        reason: str | None = None,
        project: str | None = None,
    ) -> Divided:
        """Tell two things apart: take back a merge, or move what certain chunks say to another entity.

        A merge comes back as it was; what was written since stays with the one that was kept, and is listed.
        With `chunks`, their mentions of the entity `of`, and the relations that they alone state, become
        those of `what`, which is made where there is none.

        Args:
            what: Name, alias or id of what was merged, or the run or change of the merge; with `chunks`, the
                name of what they speak of.
            of: With `chunks`, name, alias or id of the entity that they were taken to speak of.
            chunks: Ids of chunks.
            reason: Why, for `history`.
            project: Namespace that it is in; the handle's own where not given.

        Raises:
            InvalidInputError: It was taken back already, a chunk does not speak of `of`, or both would have
                one name; nothing is written.
            NotFoundError: Nothing of that name was merged, or the project has no such entity; nothing is
                written.
        """
        target, named = self._target(project), handle.ids(chunks)
        if of is None and not named:
            done = split(what, reason=reason, target=target)
        elif of is None or not named:
            raise InvalidInputError("of, chunks: give both, to tell what certain chunks speak of, or neither")
        else:
            done = reassign(what, of=of, chunks=named, reason=reason, target=target)
        self._use().snapshots.forget(target.project)  # names that it had, it has no more
        return done

    def scopes(
        self, prefix: str = "/", *, depth: int | None = None, project: str | None = None
    ) -> tuple[ScopeView, ...]:
        """Return the tree of scopes that memories are filed in, each with what is at and under it.

        Args:
            prefix: Where the tree begins; whole segments only, as everywhere.
            depth: Levels below the prefix to show; all where not given.
            project: Namespace to read; the handle's own where not given.
        """
        start = check_scope(prefix)
        levels = None if depth is None else check_count(depth, name="depth", least=0, most=MAX_SCOPE)
        return tree(self._use().graph.scope_counts(self._name(project), start), prefix=start, depth=levels)

    @in_one_run()
    def move(self, source: str, destination: str, *, reason: str, project: str | None = None) -> Moved:
        """File everything at and under a scope elsewhere: of every state, with its history, ids unchanged.

        What is at the destination already stays beside it. A call that was interrupted can be repeated.

        Args:
            source: The scope that is to go, such as /projects/alpha; /projects/alphabet is another.
            destination: What it is called from then on.
            reason: Why, for `history`.
            project: Namespace that it is in; the handle's own where not given.

        Raises:
            InvalidInputError: The destination is within the source, or a scope would be too long; nothing
                is written.
            NotFoundError: Nothing is filed there; nothing is written.
        """
        return move(
            check_scope(source), check_scope(destination), reason=reason, target=self._target(project)
        )

    @in_one_run()
    def promote(
        self, ids: Sequence[str], *, layer: Layer, reason: str, project: str | None = None
    ) -> Promoted:
        """Put memories, chunks and relations into a layer of trust, up or down.

        What is trusted more weighs more at recall. Memories that several sources or sessions say become
        shared by themselves. Only verification, or a person, makes something verified: an agent may not.

        Args:
            ids: Ids of chunks and relations.
            layer: working (as told), shared (corroborated) or verified (confirmed by a person).
            reason: Why, for `history`.
            project: Namespace that they are in; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong, something is forgotten or held back, or an agent asks for
                verified; nothing is written.
            NotFoundError: The project has no such chunk or relation; nothing is written.
        """
        store, name = self._use(), self._name(project)
        return promote(
            handle.ids(ids),
            layer,
            reason=reason,
            target=self._target(project),
            subject_of=lambda id: relation_subject(id, store.snapshots.of(name)),
        )
