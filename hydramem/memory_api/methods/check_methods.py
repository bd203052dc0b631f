"""Operations that verify relations, calibrate verification, and check, repair and measure the store."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from hydramem.core.argument_checks import check_choice, check_count
from hydramem.core.results.telemetry_results import TelemetryWiped
from hydramem.core.results.upkeep_results import Diagnosis, Drained, Reindexed, Stats
from hydramem.core.results.verdicts import Calibrated, Conflicts, Verified
from hydramem.core.row_types import Job, JobState
from hydramem.core.time import When
from hydramem.llm.choose import choose_next_embedder, still_to_configure
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.write_operation import write_operation
from hydramem.search.visible import listings
from hydramem.telemetry.recorder import DAYS_OF_TOTALS
from hydramem.text.dates.caller_dates import moment_or_none


class CheckMethods(Handle):
    """Verifies, calibrates, checks, repairs and measures."""

    def conflicts(
        self,
        entity: str | None = None,
        *,
        as_of: When | None = None,
        known_at: When | None = None,
        limit: int = 20,
        include_private: bool = True,
        project: str | None = None,
    ) -> Conflicts:
        """Find contradictions: relations and sentences that cannot both be true, with both sides.

        Relations conflict where their type has one object at a time (`verification.functional`, and types
        that the project's relations show to be so) and both hold at one time. Sentences conflict where a
        link says that one may supersede or contradicts the other, or where the pair classifier, which reads
        near ones, leans to it. A generator of the role `verify` reads what these find. Nothing is changed.

        Args:
            entity: Name or alias of an entity; the whole project by default.
            as_of: Only conflicts of what was true at this time; of any one time by default.
            known_at: Compare what the store believed at this time; now by default.
            limit: Most conflicts to return.
            include_private: Whether to compare sentences of private memories.
            project: Project to read; this handle's own by default.

        Raises:
            NotFoundError: No entity has this name.
        """
        from hydramem.verification.conflicts.conflicts import conflicts

        store, name, most = self._use(), self._name(project), arguments.row_limit(limit)
        at, known = moment_or_none(as_of, "as_of"), moment_or_none(known_at, "known_at")
        with store.reading() as space:

            def find() -> Conflicts:
                snapshot = store.snapshots.of(name)
                return conflicts(
                    None if entity is None else snapshot.entity_named(entity),
                    snapshot=snapshot,
                    graph=store.graph,
                    settings=store.config.verification,
                    generator=self._generator("verify"),
                    limit=most,
                    vectors=space.vectors.vectors,
                    judge=store.judge,
                    include_private=include_private,
                    states=arguments.states(as_of, known_at),
                    as_of=at,
                    known_at=known,
                )

            if self._given_generator is not None:
                return find()  # another handle may have been given another one
            asked = ("conflicts", name, entity, at, known, most, include_private)
            return store.kept.of((*asked, space.embedder.fingerprint), find)

    @write_operation
    def verify(
        self,
        subject: str | None = None,
        type: str | None = None,
        object: str | None = None,
        *,
        limit: int = 100,
        project: str | None = None,
        progress: Callable[[int, int], None] | None = None,
    ) -> Verified:
        """Judge relations by the graph and their evidence; a model reads those that this leaves open.

        It judges the relations of a subject, or without one those that are undecided, the oldest first.
        Decisions are stored, and rejected relations are archived. A claim that is not stored is judged by the
        passages that mention both of its ends, and nothing is written. Without a model, or over its limit,
        open relations stay deferred, and `reasons` says why.

        Args:
            subject: Name or alias of an entity; the undecided relations by default.
            type: Only relations of this type.
            object: Only relations to this entity.
            limit: Most relations to judge.
            project: Project to verify; this handle's own by default.
            progress: Called with the claims that a model has read and the total.

        Raises:
            InvalidInputError: A type or object without a subject, or a claim of one thing about itself.
            NotFoundError: No entity has one of the names.
        """
        from hydramem.verification.verify_stored import VerifyRequest, verify_request

        store, name = self._use(), self._name(project)
        request = VerifyRequest(subject=subject, type=type, object=object, limit=arguments.row_limit(limit))
        judge = self._judge(project)
        return verify_request(
            request, project=name, judge=judge, graph=store.graph, mirror=store.mirror, progress=progress
        )

    @write_operation
    def calibrate(
        self,
        labels: str | None = None,
        *,
        export: str | None = None,
        max_false_accept: float | None = None,
        dry_run: bool = False,
        revert: bool = False,
        consolidation: bool = False,
        project: str | None = None,
    ) -> Calibrated:
        """Fit verification to the project, from people's reviews and from models that have read evidence.

        Decisions of the first stage are never used as labels. New weights are measured on labels that they
        were not fitted to, and the old ones stay unless the new ones do better. Reviews are stored as
        verdicts: a relation called true is verified, one called false is archived.

        Args:
            labels: File of reviews to store first, JSON lines as `export` writes them, or with `subject`,
                `type` and `object`, `label` (true or false), `reviewer`, `at` and `note`.
            export: New file for the relations whose review helps most; nothing else is done.
            max_false_accept: Largest share of false relations among those accepted without a model, such as
                0.05; it sets the accept threshold. The last value by default.
            dry_run: Return what would be done, and write nothing.
            revert: Restore what was in use before the last calibration, in the end the shipped weights.
            consolidation: Fit instead, for all projects, the cosine from which new memories are compared to
                the store's embedder; with `revert`, restore the configured one.
            project: Project to calibrate; this handle's own by default.

        Raises:
            InvalidInputError: A line of the file is wrong, the new file exists, or there is nothing to
                revert; nothing is written.
            ModelError: The embedder failed while its threshold was fitted.
            StorageError: The calibration cannot be read or written; the one before stays in use.
        """
        from hydramem.verification.calibration.calibrate import (
            CalibrationRequest,
            CalibrationTarget,
            run_calibration,
        )
        from hydramem.verification.calibration.consolidation_threshold import calibrate_consolidation

        request = arguments.gathered(CalibrationRequest, locals())
        store, written = self._use(), self._target(project)
        target = CalibrationTarget(
            target=written,
            snapshot=store.snapshots.of(written.project),
            calibrations=store.calibrations,
            settings=store.config.verification,
        )
        if not consolidation:
            return run_calibration(target, request)
        configured = store.config.memory.consolidation_threshold
        return calibrate_consolidation(
            target, request, bounds=store.bounds, embedder=store.embedder, configured=configured
        )

    def stats(self, *, days: int | None = None) -> Stats:
        """Return what the store holds, its engine and models, its size on disk, and what it was used for.

        Args:
            days: Also return what telemetry recorded in the last days, today included: calls, latency, hits,
                tokens, verdicts and nights, of all projects. At most 400.
        """
        store = self._use()
        most = None if days is None else check_count(days, name="days", most=DAYS_OF_TOTALS)
        store.mirror.tidy()
        generator = self._generator("extract")
        counted = listings.stats(
            store.path,
            store.graph,
            store.embedder,
            generator=None if generator is None else generator.name,
            limits=store.config.limits,
        )
        recorded = None if most is None else store.telemetry.report(most)
        return replace(counted, jobs=store.jobs.counts(), telemetry=recorded)

    def wipe_telemetry(self) -> TelemetryWiped:
        """Delete all that telemetry recorded, and nothing else; what is called from now on is recorded anew.

        It is an operation, so that the process that holds the store does it, and not one beside it.

        Raises:
            StorageError: A file cannot be deleted.
        """
        self._use().require_writable()
        return self._use().telemetry.wipe()

    def jobs(
        self, state: JobState | None = None, *, limit: int = 50, offset: int = 0, project: str | None = None
    ) -> tuple[Job, ...]:
        """List pending jobs, oldest first; a finished job is removed.

        A job that fails is tried again. After several attempts it is `failed`, and `error` says why.

        Args:
            state: Only jobs that are waiting, running or failed.
            limit: Most jobs to return.
            offset: Jobs to skip.
            project: Project to read; all by default.
        """
        states = () if state is None else (check_choice(state, get_args(JobState), name="state"),)
        name = None if project is None else self._name(project)
        return self._use().graph.jobs(arguments.page(limit, offset), states=states, project=name)

    def drain(
        self,
        timeout: float | None = None,
        *,
        retry: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Drained:
        """Run the pending jobs now, such as vectors and links, and wait until each was tried.

        A job that fails is tried again later, and given up after several attempts.

        Args:
            timeout: Most seconds to wait; no limit by default.
            retry: Also run the jobs that were given up.
            progress: Called with the jobs done and the total.

        Raises:
            InvalidInputError: The timeout is not a positive number.
        """
        most = arguments.seconds(timeout, "timeout")
        self._use().require_writable()
        return self._use().jobs.drain(most, retry=retry, progress=progress)

    def doctor(
        self,
        *,
        fix: bool = False,
        salvage: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Diagnosis:
        """Check row by row that the vectors agree with the graph; `fix` repairs rows that differ.

        The graph is right, but for damaged words: the words of a passage or a memory are in its id, so the
        side that fits the id is right. Rows that only the vectors hold were lost by the graph: they are
        written to a file of the store and kept.

        Args:
            fix: Repair what differs; a damaged folder of vectors is moved aside, never deleted.
            salvage: Accept that writes are lost: repair, and delete lost rows from the vectors once they are
                in the file. The command also opens a store whose log is damaged or whose graph is gone.
            progress: Called with the rows rebuilt and the total.

        Raises:
            StorageError: A store failed, or lost rows cannot be written to a file.
        """
        return self._use().diagnose(fix=fix, salvage=salvage, progress=progress)

    def reindex(
        self, model: str | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> Reindexed:
        """Move the store to the vectors of another embedder; the old ones stay in use until it is done.

        An interrupted call continues when it is called again with the same model; a call with the store's own
        model cancels it. Memories written meanwhile are included.

        Args:
            model: Name of the model, also as NAME/DIMENSION, ollama:NAME or openai:NAME; the one that
                `embedding` configures by default, for `auto` the best one on this machine.
            progress: Called with the rows done and the total.

        Raises:
            ConfigError: There is no such model.
            ModelError: The model is not on this machine, or it failed; the old vectors stay in use.
            StorageError: A store failed, or the model is the store's own and the vectors are damaged.
        """
        store = self._use()
        configured = store.config.embedding
        done = store.reindex(choose_next_embedder(configured, model), progress=progress)
        return replace(done, notes=still_to_configure(configured, done.after))
