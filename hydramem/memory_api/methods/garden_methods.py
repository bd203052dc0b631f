"""Operations of the gardener: a run, its plan and report, the review, and the training of its edge scorer."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, get_args

import numpy as np

from hydramem.core import version
from hydramem.core.argument_checks import check_choices, check_name
from hydramem.core.errors import InvalidInputError, StorageError, StoreBusyError
from hydramem.core.inputs import Progress
from hydramem.core.project_bounds import unbounded
from hydramem.core.results.garden_results import Answer, Gardened, Reviewed, Trained
from hydramem.core.results.upkeep_results import BackedUp
from hydramem.core.row_types import Phase
from hydramem.core.time import clock, not_ahead, now
from hydramem.memory_api import arguments
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.write_operation import write_operation
from hydramem.storage.quotas import cutoffs
from hydramem.storage.repair.compare_stores import Sampled, sample
from hydramem.storage.store import GraphStore

if TYPE_CHECKING:
    from hydramem.garden.night.run_phases import GardenRun
    from hydramem.garden.phases.maintain import Upkeep
    from hydramem.garden.proposals.phase_context import PhaseContext
    from hydramem.garden.review.answers import Answering
    from hydramem.garden.review.questions import Case

log = logging.getLogger(__name__)
_REPORTS = "reports"
_TREND_NIGHTS = 14
_MOST_LOG_BYTES = 2 << 20
"""Bytes of the graph's log from which a run checkpoints: for a log of 29 MiB the engine held 400 MiB."""


class GardenMethods(Handle):
    """Improves the memory in the background."""

    def garden(
        self,
        *,
        plan: bool = False,
        out: str | None = None,
        apply: str | None = None,
        keep: bool = False,
        apply_kept: str | None = None,
        leave_out: Sequence[str] = (),
        phases: Sequence[Phase] = (),
        status: bool = False,
        limit: int = 1,
        all_projects: bool = False,
        project: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[Gardened, ...]:
        """Run the gardener: distill, verify, supersede, merge, reuse, prune, review, maintain.

        First, a model distills sessions, as `distill` does. Every other phase reads the memory as it is then
        and proposes changes. They are made in small batches, each with its reason, in one run that `undo`
        can reverse. What a person stated or confirmed, what is verified and what is reused is kept. Nothing
        is deleted but archived rows older than `limits` allows. Without a model, rules and statistics are
        used; a model that fails makes its phase partial or failed, never completed.

        Args:
            plan: Return what would change, with reasons, and change nothing.
            out: File for the plan, for `apply`; a new file, or one that holds a plan.
            apply: File of a plan to apply exactly; changes whose rows have changed since are refused.
            keep: Keep the plan in the store too, for `apply_kept`; of a project the last five.
            apply_kept: Id of a kept plan (`plan` of its report) to apply exactly, as with `apply`.
            leave_out: Ids of changes of the plan that are not made.
            phases: Only these phases; `garden.phases` by default, which leaves `infer` out.
            status: Return the report of the last run, with the store's health after each of the last 14 runs
                (`trend`), and do nothing.
            limit: Most reports of `status` for a project, the newest first.
            all_projects: Run for every project, one after the other.
            project: Project to run for; this handle's own by default.
            progress: Called when a phase begins and when changes are made.

        Raises:
            InvalidInputError: Options exclude each other, the file is not a plan of this project, or the plan
                has no change that `leave_out` names.
            NotFoundError: The project keeps no plan of this id.
            StoreBusyError: Another run is in progress.
            StorageError: A store failed before all changes were made: the report of `status` says how far the
                run came, and the next run makes the rest.
        """
        store = self._use()
        if keep or not (plan or status):
            store.require_writable()
        applies = apply is not None or apply_kept is not None
        if (apply is not None) + (apply_kept is not None) + plan + status > 1:
            raise InvalidInputError("garden: one of plan, apply, apply_kept and status at a time")
        if ((keep or out is not None) and not plan) or (leave_out and not applies):
            raise InvalidInputError("garden: out and keep need plan; leave_out needs apply or apply_kept")
        if all_projects and (applies or out is not None):
            raise InvalidInputError("garden: a plan is for one project; leave all_projects out")
        chosen = check_choices(phases, get_args(Phase), name="phases") or store.config.garden.phases
        names = self._every_project() if all_projects else [self._name(project)]
        if status:
            most = arguments.row_limit(limit)
            return tuple(report for name in names for report in self._status(name, chosen, most))
        store.recalls.flush()  # recalls until now count in this run
        with self._exclusive_run(names):
            if plan:
                return tuple(self._plan_garden(name, chosen, out, progress, keep=keep) for name in names)
            file = self._plan_file(names[0], apply, apply_kept)
            done = [
                self._run_garden(name, chosen, file, leave_out, progress, backs_up=name == names[-1])
                for name in names
            ]
        return tuple(replace(report, plan=apply_kept) for report in done)

    def _plan_file(self, name: str, apply: str | None, apply_kept: str | None) -> Path | None:
        """Return the file of the plan that is to be applied; None for a run of its own."""
        from hydramem.garden.night.kept_plans import kept_plan_file

        if apply_kept is not None:
            return kept_plan_file(check_name(apply_kept, name="apply_kept"), self._garden_folder(name))
        return None if apply is None else Path(apply).expanduser()

    def _every_project(self) -> list[str]:
        """Return every project, also one that holds only changes older than the limits allow."""
        store = self._use()
        before = cutoffs(store.config.limits, clock()).changes
        emptied = () if before is None else store.graph.changed_before(before)
        return sorted({*(each.name for each in store.graph.projects()), *emptied})

    def _status(self, name: str, phases: Sequence[Phase], most: int) -> tuple[Gardened, ...]:
        """Return the reports of the last runs, the newest first, also of one that was interrupted."""
        from hydramem.garden.night.report import last_reports, trend_of
        from hydramem.garden.night.run_phases import interrupted
        from hydramem.storage.undo.undo import is_undone

        graph = self._use().graph
        left = interrupted(self._garden_run(name, phases, None))
        reports = last_reports(self._garden_folder(name) / _REPORTS, max(most, _TREND_NIGHTS))
        last = next(iter(reports), None)
        reported = (
            last is not None and last.state == "interrupted" and left is not None and last.run == left.run
        )
        found = reports if left is None or reported else (left, *reports)
        shown = [
            report if report.run is None else replace(report, taken_back=is_undone(report.run, graph))
            for report in found[:most]
        ]
        # The newest report has the trend, which covers more nights than are asked for.
        trend = trend_of(reports[:_TREND_NIGHTS])
        return (replace(shown[0], trend=trend), *shown[1:]) if shown else ()

    @write_operation
    def review(
        self,
        answers: Sequence[Answer] = (),
        *,
        export: str | None = None,
        import_: str | None = None,
        limit: int = 50,
        project: str | None = None,
    ) -> Reviewed:
        """Return the questions that only a person can decide, and apply the answers.

        It asks whether open relations are true, whether two entities or two memories are the same, and
        whether quarantined memories may be recalled. Yes verifies the relation, merges the two, or releases
        the memory; no archives the relation, keeps the two apart, or keeps the memory in quarantine. Of two
        relations that cannot both hold it asks which does: 1 withdraws the second, 2 ends the first when the
        second begins, both keeps them, neither withdraws them. Of a memory that may supersede an older one it
        asks whether it does: replaces ends the older one, both keeps them, older withdraws the newer one,
        neither withdraws both. A conflict that `conflicts` lists is answered by its id too. An answered
        question is not asked again; `undo` takes an answer back, and `calibrate` and `train` learn from
        answers. On a terminal the command asks one by one.

        Args:
            answers: Answers to questions, by id.
            export: New file for the questions, a JSON line each, with an empty `answer`.
            import_: Such a file, with one of the choices as `answer`; lines without an answer are skipped.
            limit: Most questions to return.
            project: Project of the questions; this handle's own by default.

        Raises:
            InvalidInputError: An answer or a line of the file is wrong, two contradict each other, the file
                for export exists or comes with answers, or an agent answers; nothing is written.
        """
        from hydramem.garden.review import question_files
        from hydramem.garden.review.answers import act, checked
        from hydramem.garden.review.questions import with_evidence

        store, name, most = self._use(), self._name(project), arguments.row_limit(limit)
        if export is not None and (import_ is not None or answers):
            raise InvalidInputError("review: export the questions or give answers, not both")
        lines = () if import_ is None else question_files.read(Path(import_).expanduser())
        valid = checked((*answers, *lines))
        applied, rejected = act(valid, self._cases(name) if valid else (), self._answering(name))
        waiting = self._cases(name)[: store.config.garden.review_limit]
        if export is not None:
            question_files.write(Path(export).expanduser(), with_evidence(waiting, store.graph))
        return Reviewed(
            answered=applied,
            not_taken=rejected,
            waiting=len(waiting),
            questions=with_evidence(waiting[:most], store.graph),
            exported=0 if export is None else len(waiting),
        )

    def _cases(self, name: str) -> "list[Case]":
        from hydramem.garden.proposals.exclusions import undecided_pairs
        from hydramem.garden.review.questions import cases

        store = self._use()
        return cases(
            store.graph,
            store.snapshots.of(name),
            undecided_pairs(self._garden_folder(name)),
            functional=store.config.verification.functional,
        )

    def _answering(self, name: str) -> "Answering":
        from hydramem.garden.review.answers import Answering
        from hydramem.ingest.memories.forget import re_extract, revive

        store, target = self._use(), self._target(name)

        def release(ids: Sequence[str]) -> None:
            revive(
                ids,
                graph=store.graph,
                mirror=store.mirror,
                re_extract=lambda rows: re_extract(rows, target=target, operation="review"),
            )

        return Answering(
            target=target, snapshot=store.snapshots.of(name), settings=store.config.memory, release=release
        )

    def _plan_garden(
        self,
        name: str,
        phases: Sequence[Phase],
        out: str | None,
        progress: Callable[[Progress], None] | None,
        *,
        keep: bool,
    ) -> Gardened:
        from hydramem.garden.night.run_phases import plan

        run = self._prepared_run(name, phases, progress, only_plan=True, backs_up=False)
        return plan(run, out=None if out is None else Path(out).expanduser(), keep=keep)

    def _run_garden(
        self,
        name: str,
        phases: Sequence[Phase],
        file: Path | None,
        leave_out: Sequence[str],
        progress: Callable[[Progress], None] | None,
        *,
        backs_up: bool,
    ) -> Gardened:
        from hydramem.garden.night.report import save_report
        from hydramem.garden.night.run_phases import apply_file, run_phases

        run = self._prepared_run(name, phases, progress, only_plan=False, backs_up=backs_up)
        run.access.checkpoint()
        report = run_phases(run) if file is None else apply_file(run, file, leave_out=leave_out)
        try:
            save_report(report, self._garden_folder(name) / _REPORTS)
        except StorageError as error:
            # The changes are made, and only this report names their run.
            return replace(report, notes=(*report.notes, f"{error}."))
        return report

    def _prepared_run(
        self,
        name: str,
        phases: Sequence[Phase],
        progress: Callable[[Progress], None] | None,
        *,
        only_plan: bool,
        backs_up: bool,
    ) -> "GardenRun":
        """Return what a run of the gardener works with, with its upkeep and the phase that distills."""
        from hydramem.garden.night.run_phases import STEPS
        from hydramem.garden.phases.distill_sessions import distill_sessions
        from hydramem.garden.phases.maintain import maintain
        from hydramem.garden.proposals.phase_context import PhaseStep
        from hydramem.verification.verify_stored import WriteVerifier

        # A backup holds the whole store: one is enough, after the last project.
        upkeep = partial(maintain, upkeep=_upkeep(self, name, backs_up=backs_up))
        target = self._target(name, WriteVerifier(self._judge(name)))  # what is open is left to `verify`
        distilling = partial(
            distill_sessions, prepare=lambda: self._distillation(target), only_plan=only_plan
        )
        steps: dict[Phase, PhaseStep] = {"distill": distilling, **STEPS}
        return replace(self._garden_run(name, phases, progress), upkeep=upkeep, steps=steps)

    def _garden_run(
        self, name: str, phases: Sequence[Phase], progress: Callable[[Progress], None] | None
    ) -> "GardenRun":
        """Return what a run of the gardener works with, without the upkeep."""
        from hydramem.garden.night.apply import WriteAccess
        from hydramem.garden.night.run_phases import GardenRun
        from hydramem.garden.proposals.plan_file import key_in
        from hydramem.llm.held_model import give_back, not_loaded

        store, at, folder = self._use(), now(), self._garden_folder(name)

        def reporter(what: str) -> Callable[[int, int], None]:
            if progress is None:
                return lambda done, total: None
            return lambda done, total: progress(Progress(done=done, total=total, what=what))

        return GardenRun(
            project=name,
            phases=phases,
            context=lambda phase: self._phase_context(name, at, reporter(phase)),
            access=WriteAccess(
                graph=store.graph,
                commit=store.mirror.commit,
                deliver=store.mirror.replicate_deferred,
                revision=lambda: store.mirror.writes,
                places=lambda: store.snapshots.of(name).nodes.index,
                checkpoint=_checkpoints(store.graph),
                keeping=partial(store.snapshots.keeping, name),
                one_writer=store.mirror.one_writer.of([name]),
                progress=reporter("apply"),
            ),
            folder=folder,
            now=at,
            key=lambda: key_in(folder.parent),
            began=lambda phase: reporter(phase)(0, 1),
            planned=partial(give_back, not_loaded((store.embedder, store.judge))),
            interrupted=partial(_save_interrupted, folder=folder / _REPORTS),
        )

    def _phase_context(self, name: str, at: datetime, progress: Callable[[int, int], None]) -> "PhaseContext":
        """Return what a phase reads, with a budget of its own."""
        from hydramem.garden.proposals.phase_context import Budget, PhaseContext

        store, space = self._use(), self._use().space
        settings = store.config.garden
        return PhaseContext(
            project=name,
            graph=store.graph,
            vectors=space.vectors,
            snapshot=store.snapshots.of(name),
            embed=space.embedder.embed_documents,
            generator=self._generator,
            judge=self._judge(name),
            judge_pairs=store.judge.judge_pairs,
            settings=store.config,
            now=at,
            ahead=at - not_ahead(at),
            folder=self._garden_folder(name),
            budget=Budget(
                seconds=settings.phase_seconds, calls=settings.phase_calls, tokens=settings.phase_tokens
            ),
            progress=progress,
        )

    @contextmanager
    def _exclusive_run(self, projects: Sequence[str]) -> Iterator[None]:
        """Allow one run of the gardener in this process, and one a project in all that share the graph."""
        from hydramem.core.runtime.interpreter_tuning import tuned_interpreter
        from hydramem.llm.held_model import sparing_models

        if not self._use().one_garden_run.acquire(blocking=False):
            raise StoreBusyError(f"{self.folder}: another run of the gardener is in progress; wait for it")
        try:
            with tuned_interpreter(), sparing_models(), self._use().graph.tending(projects) as alone:
                if not alone:
                    raise StoreBusyError(
                        f"{', '.join(projects)}: the gardener of another machine is at it; wait for it"
                    )
                yield
        finally:
            self._use().one_garden_run.release()

    def train(
        self, *, project: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Trained:
        """Train the gardener's edge scorer, and measure how well it finds wrong relations.

        The scorer needs torch (the extra `gnn`). It learns from the project's relations against random wrong
        ones, from the meaning of entity names, and from people's verdicts once there are twenty. It is
        measured on held-out relations. The gardener uses it until more than a tenth of the relations or
        verdicts has changed, or the embedder is another, and then trains again.

        Args:
            project: Project to learn from; this handle's own by default.
            progress: Called with the training steps done and their largest number.

        Raises:
            ModelUnavailableError: Torch is not installed.
            InvalidInputError: The project has too few relations to learn from.
        """
        from hydramem.garden.edges import edge_scoring

        store, name = self._use(), self._name(project)
        store.require_writable()
        folder = self._garden_folder(name)
        return edge_scoring.train(
            edge_scoring.material(store.snapshots.of(name), store.graph, store.space.vectors, folder),
            seconds=store.config.garden.phase_seconds,
            progress=progress or (lambda done, whole: None),
        )


def _save_interrupted(report: Gardened, *, folder: Path) -> None:
    from hydramem.garden.night.report import save_report

    try:
        save_report(report, folder)
    except StorageError as error:
        log.warning("%s", error)  # the error that interrupted the run is raised


def _checkpoints(graph: GraphStore) -> Callable[[], None]:
    """Return what checkpoints a graph where its log is long: longer each time, and no more once it failed."""
    most: int | None = _MOST_LOG_BYTES

    def checkpoint() -> None:
        nonlocal most
        try:
            if most is not None and graph.checkpoint(least=most):
                most *= 2
        except StorageError as error:
            most = None
            log.warning("%s; the gardener goes on with the log as it is", error)

    return checkpoint


_MOST_COMPARED = 5000
"""Most chunks whose vectors are compared with the graph in a run."""


def _upkeep(handle: Handle, project: str, *, backs_up: bool) -> "Upkeep":
    """Return the upkeep of a store in the run of a project, whose chunks are compared with their vectors."""

    from hydramem.garden.phases.maintain import Upkeep
    from hydramem.ingest.items.remove_expired import remove_expired_items

    store = handle._use()

    @unbounded()  # what has expired in other projects goes too, as in every run
    def expire() -> int:
        return remove_expired_items(store.graph, store.items, handle._target)

    def compact() -> None:
        with store.reading() as space:
            space.vectors.maintain(after_bulk=True)
        store.embedder_change.remove_leftovers()

    def compare() -> Sampled:
        snapshot = store.snapshots.of(project)
        chunks = np.flatnonzero(snapshot.nodes.is_chunk[: snapshot.size])
        ids = [snapshot.nodes.ids[node] for node in chunks.tolist()]
        return sample(store.graph, store.vectors, store.mirror, ids=ids, most=_MOST_COMPARED)

    def backup() -> BackedUp:
        return store.back_up(None, created_by=f"hydramem {version.__version__}")

    kept = backs_up and store.config.garden.backups > 0 and store.has_graph_file
    return Upkeep(
        drain=store.jobs.drain,
        expire=expire,
        compact=compact,
        compare=compare,
        checkpoint=store.graph.checkpoint,
        backup=backup if kept else None,
    )
