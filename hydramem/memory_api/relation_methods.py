"""Operations on relations: what is stated of two things, and what is taken back."""

from collections.abc import Sequence

from hydramem.core.results.write_results import Related, RelationView
from hydramem.core.time import When
from hydramem.graph.functional_types import functional_types
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Functional, Withdrawal, relate, unrelate
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.search.visible import listings
from hydramem.storage.changes import in_one_run


class RelationMethods(Handle):
    """What relates things."""

    @in_one_run()
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
        """Assert a relation between two named things; an equal current one is returned, with what is new.

        It is verified like any other: what its evidence denies is rejected and only kept in the history.
        Of a type that has one object at a time (`verification.functional`), the relation before it ends
        where this one begins later; what cannot be told apart in time stays, and is named as a conflict.
        One that had ended and is stated again without a time holds again from now on.

        Args:
            subject: Name or alias of the one; made where there is none.
            type: What it does to the other, such as works_for.
            object: Name or alias of the other.
            quote: The words that state it; they must occur in the evidence where there is any.
            evidence: Ids of chunks that state it.
            confidence: 0 to 1.
            bidirectional: Whether it holds both ways, as married_to does.
            valid_from: From when it is true in the world.
            valid_to: Until when it is true in the world; corrects the end of a stored one.
            subject_type: What the subject is, such as person, where that is not known yet.
            object_type: The same of the object.
            reason: Why it is stated, for `history`.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            InvalidInputError: A field is wrong, or the quote is not in the evidence; nothing is written.
            NotFoundError: The project has no such chunk; nothing is written.
        """
        store, name = self._use(), self._name(project)
        statement = RelationInput(
            subject=subject,
            type=type,
            object=object,
            quote=quote,
            evidence=handle.ids(evidence),
            confidence=confidence,
            bidirectional=bidirectional,
            valid_from=handle.when(valid_from, "valid_from"),
            valid_to=handle.when(valid_to, "valid_to"),
            subject_type=subject_type,
            object_type=object_type,
            reason=reason,
        )
        functional = Functional(
            types=store.config.verification.functional,
            seems=lambda type: type in functional_types(store.snapshots.of(name)),
        )
        done = relate(statement, target=self._target(project), functional=functional)
        return listings.related(done, store.graph)

    @in_one_run()
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
        """Say that a relation holds no more since a time, or, without one, that it never did.

        With `ended` it stays true for the time before. Without, it is archived: `revive` with its id, or
        relating again, brings it back. Returns what changed.

        Args:
            subject: Name or alias of the one.
            type: The relation's type.
            object: Name or alias of the other.
            ended: Until when it held.
            valid_from: Only the one that held from then on; its end is corrected where it has one.
            reason: Why, for `history`.
            project: Namespace to write to; the handle's own where not given.

        Raises:
            NotFoundError: The project has no such relation; nothing is written.
            InvalidInputError: It would end before it begins; nothing is written.
        """
        store = self._use()
        withdrawal = Withdrawal(
            subject=subject,
            type=type,
            object=object,
            ended=handle.when(ended, "ended"),
            valid_from=handle.when(valid_from, "valid_from"),
            reason=reason,
        )
        return listings.named(unrelate(withdrawal, target=self._target(project)), store.graph)
