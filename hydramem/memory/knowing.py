"""Operations on entities, scopes and trust: what is known of things, and how far it is believed."""

from collections.abc import Sequence

from hydramem.core.results.known import Promoted
from hydramem.core.types import Layer
from hydramem.ingest.promote import promote
from hydramem.memory import arguments
from hydramem.memory.handle import Handle
from hydramem.search.lists import relation_subject


class Knowing(Handle):
    """What names things, files them and raises their layer."""

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
            arguments.ids(ids),
            layer,
            reason=reason,
            target=self._target(project),
            subject_of=lambda id: relation_subject(id, store.snapshots.of(name)),
        )
