"""Operations that state and withdraw relations."""

from collections.abc import Sequence
from dataclasses import replace

from hydramem.core.results.write_results import Related, RelationView
from hydramem.core.time import When
from hydramem.graph.functional_types import functional_types
from hydramem.ingest.knowledge.relation_input import RelationInput
from hydramem.ingest.knowledge.relations import Functional, Withdrawal, relate, unrelate
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.search.visible import listings
from hydramem.storage.changes import in_one_run
from hydramem.text.dates.caller_dates import moment_or_none


class RelationMethods(Handle):
    """States and withdraws relations."""

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
        statement = arguments.gathered(RelationInput, locals())
        statement = replace(
            statement,
            evidence=arguments.ids(evidence),
            valid_from=moment_or_none(valid_from, "valid_from"),
            valid_to=moment_or_none(valid_to, "valid_to"),
        )
        done = relate(statement, target=self._target(project), functional=self._functional(project))
        return listings.related(done, self._use().graph)

    def _functional(self, project: str | None) -> Functional:
        """Return which types of relation have one object at a time."""
        store, name = self._use(), self._name(project)
        return Functional(
            types=store.config.verification.functional,
            seems=lambda type: type in functional_types(store.snapshots.of(name)),
        )

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
        store = self._use()
        withdrawal = Withdrawal(
            subject=subject,
            type=type,
            object=object,
            ended=moment_or_none(ended, "ended"),
            valid_from=moment_or_none(valid_from, "valid_from"),
            reason=reason,
        )
        return listings.named(unrelate(withdrawal, target=self._target(project)), store.graph)
