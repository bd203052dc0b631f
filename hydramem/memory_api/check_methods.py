"""Operations that check the memory and keep it in order."""

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

from hydramem.core.argument_checks import check_choice, check_count
from hydramem.core.results.upkeep_results import Diagnosis, Drained, Reindexed, Stats
from hydramem.core.results.verdicts import Calibrated, Conflicts, Verified
from hydramem.core.row_types import Job, JobState
from hydramem.llm.choose import choose_next_embedder, still_to_configure
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.search.visible import listings
from hydramem.storage.changes import in_one_run
from hydramem.verification.calibration.calibrate import CalibrationRequest, CalibrationTarget, run_calibration
from hydramem.verification.calibration.consolidation_threshold import calibrate_consolidation
from hydramem.verification.conflicts.conflicts import conflicts
from hydramem.verification.verify_stored import VerifyRequest, verify_request


class CheckMethods(Handle):
    """What verifies, repairs and measures."""

    def conflicts(
        self,
        entity: str | None = None,
        *,
        limit: int = 20,
        include_private: bool = True,
        project: str | None = None,
    ) -> Conflicts:
        """Find what contradicts what: relations and sentences that cannot both be true, with both sides.

        Relations clash where their type has one object at a time (`verification.functional`, and types
        that the project's own relations show to be so) and both hold at one moment. Sentences clash where
        they differ in one number, date, name or negation that tells of the same thing. Where a generator of
        the role `verify` is configured, it reads what these rules found. Nothing is changed.

        Args:
            entity: Name or alias that it is about; the whole project where not given.
            limit: Most conflicts to return.
            include_private: Whether sentences of private memories are compared.
            project: Namespace to read; the handle's own where not given.

        Raises:
            NotFoundError: No entity has that name.
        """
        store = self._use()
        snapshot = store.snapshots.of(self._name(project))
        return conflicts(
            None if entity is None else snapshot.entity_named(entity),
            snapshot=snapshot,
            graph=store.graph,
            settings=store.config.verification,
            generator=self._generator("verify"),
            limit=check_count(limit, name="limit", most=handle.MAX_PAGE),
            include_private=include_private,
        )

    @in_one_run()
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
        """Judge relations by the graph around them and their evidence; a model reads what that leaves open.

        With a subject, its relations, or those of a type or with an object; without, the relations that
        wait for a decision, those that wait longest first. What is decided is stored, and what is
        rejected goes to the archive. A claim that is not stored is judged by the passages that mention
        both of its ends, and nothing is written. Without a model, or over its cap, what is open stays
        deferred, and `reasons` says why.

        Args:
            subject: Name or alias of an entity; the waiting relations where not given.
            type: Only relations of this type.
            object: Only relations to this entity.
            limit: Most relations to judge.
            project: Namespace to verify in; the handle's own where not given.
            progress: Called with claims that a model has read and those that it is to read.

        Raises:
            InvalidInputError: A type or object without a subject, or a claim of one thing about itself.
            NotFoundError: No entity has one of the names.
        """
        store, name = self._use(), self._name(project)
        return verify_request(
            VerifyRequest(subject=subject, type=type, object=object, limit=handle.limited(limit)),
            project=name,
            judge=self._judge(project),
            graph=store.graph,
            mirror=store.mirror,
            progress=progress,
        )

    @in_one_run()
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
        """Fit verification to the project: learn from people's reviews and from models that read evidence.

        What the first stage decided itself is never learned from. The weights that serve are measured on
        labels that they were not fitted to, and stay where others do no better. Reviews are stored as
        verdicts: what a person called true is verified, what a person called false is archived.

        Args:
            labels: A file of reviews to store first, JSON lines such as `export` writes, or with `subject`,
                `type` and `object`, `label` (true or false), `reviewer`, `at` and `note`.
            export: Write the relations whose review tells most to this new file, and do nothing else.
            max_false_accept: Largest share of false relations among those accepted without a model, such as
                0.05; sets the accept threshold. Where not given, what was asked for last.
            dry_run: Say what would be done, and write nothing.
            revert: Go back to what served before the last calibration, in the end to what is shipped.
            consolidation: Fit the cosine from which a new memory is set against one that is there to the
                store's embedder, for all projects, and nothing else; with `revert`, the configured one
                serves again.
            project: Namespace to calibrate; the handle's own where not given.

        Raises:
            InvalidInputError: A line of the file is wrong, the export's file exists, or there is nothing to
                go back from; nothing is written.
            ModelError: The embedder failed, where its threshold was to be fitted.
            StorageError: The calibration cannot be read or written; what served before serves.
        """
        store, target = self._use(), self._target(project)
        place = CalibrationTarget(
            target=target,
            snapshot=store.snapshots.of(target.project),
            calibrations=store.calibrations,
            settings=store.config.verification,
        )
        wanted = CalibrationRequest(
            labels=labels, export=export, max_false_accept=max_false_accept, dry_run=dry_run, revert=revert
        )
        if not consolidation:
            return run_calibration(place, wanted)
        return calibrate_consolidation(
            place,
            wanted,
            bounds=store.bounds,
            embedder=store.embedder,
            configured=store.config.memory.consolidation_threshold,
        )

    def stats(self) -> Stats:
        """Say what the store holds, with which engine and models, and how much disk it takes."""
        store = self._use()
        store.mirror.tidy()
        generator = self._generator("extract")
        counted = listings.stats(
            store.path,
            store.graph,
            store.embedder,
            generator=None if generator is None else generator.name,
            limits=store.config.limits,
        )
        return replace(counted, jobs=store.jobs.counts())

    def jobs(
        self,
        state: JobState | None = None,
        *,
        limit: int = 50,
        offset: int = 0,
        project: str | None = None,
    ) -> tuple[Job, ...]:
        """List what was left to be done later and is not done yet, the oldest first.

        A job that is done is gone. One that fails waits to be tried again, and has `failed` after several
        attempts; `error` says why.

        Args:
            state: Only those that are waiting, running or failed.
            limit: Most jobs to return.
            offset: Jobs to skip.
            project: Namespace to look in; all of them where not given.
        """
        states = () if state is None else (check_choice(state, get_args(JobState), name="state"),)
        name = None if project is None else self._name(project)
        return self._use().graph.jobs(handle.page(limit, offset), states=states, project=name)

    def drain(
        self,
        timeout: float | None = None,
        *,
        retry: bool = False,
        progress: Callable[[int, int], None] | None = None,
    ) -> Drained:
        """Do now what was left for later, such as vectors and links, and wait until all of it was tried.

        What fails is tried once more some time later, and given up after several attempts.

        Args:
            timeout: Most seconds to wait; without limit where not given.
            retry: Try what was given up, too.
            progress: Called with jobs done and jobs to do.

        Raises:
            InvalidInputError: The time is no positive number.
        """
        return self._use().jobs.drain(handle.seconds(timeout, "timeout"), retry=retry, progress=progress)

    def doctor(self, *, fix: bool = False, progress: Callable[[int, int], None] | None = None) -> Diagnosis:
        """Prove that graph and vectors agree, row by row; where they do not, rebuild from the graph.

        Args:
            fix: Repair what is found; a damaged vectors folder is put aside, never deleted.
            progress: Called with rows rebuilt and rows to rebuild.
        """
        return self._use().diagnose(fix=fix, progress=progress)

    def reindex(
        self, model: str | None = None, *, progress: Callable[[int, int], None] | None = None
    ) -> Reindexed:
        """Move the store to the vectors of another embedder, in place; the old ones serve until it is done.

        What is interrupted goes on where it stopped when it is called again with the same model; with the
        store's own model it is given up. Memories written meanwhile are there afterwards.

        Args:
            model: Name of the model, also as NAME/DIMENSION, ollama:NAME or openai:NAME; where not given,
                what `embedding` configures, and for `auto` the best on this machine.
            progress: Called with rows done and rows to do.

        Raises:
            ConfigError: There is no such model.
            ModelError: The model is not on this machine, or it failed; the old vectors serve.
            StorageError: A store failed, or the vectors are damaged and the model is the store's own.
        """
        store = self._use()
        configured = store.config.embedding
        done = store.reindex(choose_next_embedder(configured, model), progress=progress)
        return replace(done, notes=still_to_configure(configured, done.after))
