"""Accept what a write brings by the first stage, and afterwards have a model read what that leaves open.

The first stage runs inside the write, under the writer lock; a model is asked when the write is done and
others can write again.
"""

import threading
from collections.abc import Sequence

from hydramem.core.results.write_results import Decisions
from hydramem.core.row_types import Relation, RelationCandidate, Verdict
from hydramem.storage.outbox import Mirror
from hydramem.storage.store import GraphStore
from hydramem.verification.stored import verify_stored
from hydramem.verification.verify import Judge


class Accepting:
    """Judges the relations of one call, and remembers which of them a model should read.

    Args:
        judge: What they are judged with.
    """

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._lock = threading.Lock()
        self._rejected: set[str] = set()
        self._deferred: dict[str, Relation] = {}
        self._sampled: dict[str, Relation] = {}

    def __call__(self, candidates: Sequence[RelationCandidate]) -> Sequence[Verdict]:
        """Return what the first stage says of relations."""
        verdicts = self._judge.without_model(candidates).verdicts
        with self._lock:
            for each, verdict in zip(candidates, verdicts, strict=True):
                if verdict.decision == "rejected":
                    self._rejected.add(each.relation.id)
                elif verdict.decision == "deferred":
                    self._deferred[each.relation.id] = each.relation
                elif self._judge.is_sampled(each):
                    self._sampled[each.relation.id] = each.relation
        return verdicts

    def afterwards(self, operation: str, *, graph: GraphStore, mirror: Mirror) -> Decisions:
        """Have a model read what is open, where there is one and as far as its cap reaches.

        Args:
            operation: On whose behalf, for the audit.
            graph, mirror: Where the relations are stored by now.
        """
        waiting, rejected = len(self._deferred), len(self._rejected)
        if not waiting and not self._sampled:
            return Decisions(rejected=rejected)
        generator, absent = self._judge.model()
        if generator is None:
            return Decisions(deferred=waiting, rejected=rejected, notes=(absent,) if waiting else ())
        most = self._judge.settings.vog_max_candidates
        chosen = dict([*self._deferred.items(), *self._sampled.items()][:most])
        stored = graph.relations(sorted({row.subject for row in chosen.values()}))
        rows = [row for row in stored if row.id in chosen and row.state == "active"]
        run = verify_stored(rows, operation=operation, judge=self._judge, graph=graph, mirror=mirror)
        decisions = {each.relation.id: each.verdict.decision for each in run.checked}
        cap = f"{waiting - most} are over the cap of a call (vog_max_candidates {most})"
        return Decisions(
            deferred=sum(decisions.get(id, "deferred") == "deferred" for id in self._deferred),
            rejected=rejected + sum(each == "rejected" for each in decisions.values()),
            notes=(*run.reasons, *((cap,) if waiting > most else ())),
            usage=run.usage,
        )
