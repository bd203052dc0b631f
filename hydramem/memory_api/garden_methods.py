"""Operations of the gardener: a night, the plan of one, and what the last one did."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import get_args

from hydramem.core.argument_checks import check_choices
from hydramem.core.errors import InvalidInputError, StorageError, StoreBusyError
from hydramem.core.results.garden_results import Answer, Gardened, Reviewed, Trained
from hydramem.core.row_types import Phase
from hydramem.core.time import now
from hydramem.garden.edges import edge_scoring
from hydramem.garden.night.apply import WriteAccess
from hydramem.garden.night.interpreter_tuning import tuned_interpreter
from hydramem.garden.night.report import last_report, save_report
from hydramem.garden.night.run_phases import GardenRun, apply_file, interrupted, plan, run_phases
from hydramem.garden.phases.maintain import maintain
from hydramem.garden.proposals.exclusions import undecided_pairs
from hydramem.garden.proposals.phase_context import Budget, PhaseContext, PhaseOutcome
from hydramem.garden.proposals.plan_file import key_in
from hydramem.garden.review import question_files
from hydramem.garden.review.answers import Answering, act, checked
from hydramem.garden.review.questions import Case, cases, with_evidence
from hydramem.ingest.documents.ingest import Progress
from hydramem.ingest.memories.forget import re_extract, revive
from hydramem.memory_api import handle
from hydramem.memory_api.handle import Handle
from hydramem.memory_api.job_handlers import upkeep
from hydramem.storage.changes import in_one_run
from hydramem.storage.quotas import cutoffs
from hydramem.storage.undo.undo import is_undone

_REPORTS = "reports"


class GardenMethods(Handle):
    """What makes the memory better while nobody waits."""

    def garden(
        self,
        *,
        plan: bool = False,
        out: str | None = None,
        apply: str | None = None,
        phases: Sequence[Phase] = (),
        status: bool = False,
        all_projects: bool = False,
        project: str | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> tuple[Gardened, ...]:
        """Tend the memory for a night: infer, verify, supersede, merge, reuse, prune, review, maintain.

        Every phase looks at the memory as it is when the night begins; what it would change is written down,
        then made in small batches, each change with its reason, under one run: `undo` takes a night back.
        What a person asserted or confirmed, what is verified, and what is reused stays. Nothing is destroyed
        but what was archived longer than `limits` keeps it. Without a model, rules and statistics do the
        work; a model that fails makes its phase partial or failed, never completed.

        Args:
            plan: Say what would be changed, with reasons, and change nothing.
            out: Where to write the plan, for `apply`; a new file, or one that holds a plan.
            apply: A plan's file: make exactly that; what rests on rows that changed since is refused.
            phases: Only these; as `garden.phases` says where not given.
            status: Return the report of the last night, and do nothing.
            all_projects: Tend every project, one after the other.
            project: Namespace to tend; the handle's own where not given.
            progress: Called as a phase begins and as changes are made.

        Raises:
            InvalidInputError: Options that do not go together, or a file that is no plan of this project.
            StoreBusyError: Another night is going on.
        """
        store = self._use()
        if (apply is not None) + plan + status > 1 or (out is not None and not plan):
            raise InvalidInputError("garden: one of plan, apply and status at a time; out goes with plan")
        if all_projects and (apply is not None or out is not None):
            raise InvalidInputError("garden: a plan's file is of one project; leave all_projects out")
        chosen = check_choices(phases, get_args(Phase), name="phases") or store.config.garden.phases
        names = self._every_project() if all_projects else [self._name(project)]
        if status:
            found = [self._status(name, chosen) for name in names]
            return tuple(report for report in found if report is not None)
        store.recalls.flush()  # what was of use until now counts tonight
        with self._one_night():
            return tuple(
                self._night(name, chosen, plan, out, apply, progress, backs_up=name == names[-1])
                for name in names
            )

    def _every_project(self) -> list[str]:
        """Return every project, also one of which nothing is left but changes that are kept no longer."""
        store = self._use()
        before = cutoffs(store.config.limits, now()).changes
        emptied = () if before is None else store.graph.changed_before(before)
        return sorted({*(each.name for each in store.graph.projects()), *emptied})

    def _status(self, name: str, phases: Sequence[Phase]) -> Gardened | None:
        """Return what the last night did, or what there is to say of one that was cut short since."""
        cut_short = interrupted(self._given(name, phases, None))
        report = last_report(self._garden_folder(name) / _REPORTS) if cut_short is None else cut_short
        if report is None or report.run is None:
            return report
        return replace(report, taken_back=is_undone(report.run, self._use().graph))

    @in_one_run()
    def review(
        self,
        answers: Sequence[Answer] = (),
        *,
        export: str | None = None,
        import_: str | None = None,
        limit: int = 50,
        project: str | None = None,
    ) -> Reviewed:
        """Ask a person what nothing else can decide, and act on the answers.

        It asks whether relations that verification left open are true, whether entities that are spelled
        alike, or of which a night was not sure, are one thing, whether memories that are near say the same,
        and whether memories that were held back may be recalled. Yes makes a relation verified, merges the
        two, or lets the memory in; no archives the relation, keeps the two apart, or keeps the memory out. Of
        two relations that cannot both hold it asks which does: 1 withdraws the second, 2 lets the first end
        when the second begins, both keeps them. What was answered is not asked again; `undo` takes it back,
        and `calibrate` and `train` learn from verdicts. On a terminal the command walks through the
        questions.

        Args:
            answers: Answers to questions, by their ids.
            export: A new file to write the questions to, a JSON line each, with an empty `answer`.
            import_: Such a file, with one of its choices as `answer`; lines without are left.
            limit: Most questions to return.
            project: Namespace to ask about; the handle's own where not given.

        Raises:
            InvalidInputError: An answer or a line of the file is wrong, two contradict each other, the
                export's file exists or goes with answers, or an agent answers; nothing is written.
        """
        store, name, most = self._use(), self._name(project), handle.limited(limit)
        if export is not None and (import_ is not None or answers):
            raise InvalidInputError("review: export what is asked, or answer; one at a time")
        lines = () if import_ is None else question_files.read(Path(import_).expanduser())
        given = checked((*answers, *lines))
        taken, left = act(given, self._cases(name) if given else (), self._answering(name))
        waiting = self._cases(name)[: store.config.garden.review_limit]
        if export is not None:
            question_files.write(Path(export).expanduser(), with_evidence(waiting, store.graph))
        return Reviewed(
            answered=taken,
            not_taken=left,
            waiting=len(waiting),
            questions=with_evidence(waiting[:most], store.graph),
            exported=0 if export is None else len(waiting),
        )

    def _cases(self, name: str) -> list[Case]:
        store = self._use()
        return cases(
            store.graph,
            store.snapshots.of(name),
            undecided_pairs(self._garden_folder(name)),
            functional=store.config.verification.functional,
        )

    def _answering(self, name: str) -> Answering:
        store, target = self._use(), self._target(name)

        def release(ids: Sequence[str]) -> None:
            revive(
                ids,
                graph=store.graph,
                mirror=store.mirror,
                re_extract=lambda rows: re_extract(rows, target=target, operation="review"),
            )

        return Answering(
            target=target,
            snapshot=store.snapshots.of(name),
            settings=store.config.memory,
            release=release,
        )

    def _night(
        self,
        name: str,
        phases: Sequence[Phase],
        only_plan: bool,
        out: str | None,
        file: str | None,
        progress: Callable[[Progress], None] | None,
        *,
        backs_up: bool,
    ) -> Gardened:
        # A backup is of the whole store: one is enough for a night, after the last project.
        night = replace(self._given(name, phases, progress), upkeep=self._upkeep(name, backs_up))
        if only_plan:
            return plan(night, out=None if out is None else Path(out).expanduser())
        report = run_phases(night) if file is None else apply_file(night, Path(file).expanduser())
        try:
            save_report(report, self._garden_folder(name) / _REPORTS)
        except StorageError as error:
            # What was made is made, and its run is known from here alone.
            return replace(report, notes=(*report.notes, f"{error}."))
        return report

    def _upkeep(self, name: str, backs_up: bool) -> Callable[[PhaseContext], PhaseOutcome]:
        return partial(maintain, upkeep=upkeep(self._use(), name, backs_up=backs_up))

    def _given(
        self, name: str, phases: Sequence[Phase], progress: Callable[[Progress], None] | None
    ) -> GardenRun:
        store, at = self._use(), now()
        settings, folder = store.config.garden, self._garden_folder(name)

        def told(what: str) -> Callable[[int, int], None]:
            if progress is None:
                return lambda done, whole: None
            return lambda done, whole: progress(Progress(done=done, total=whole, what=what))

        def context(phase: Phase) -> PhaseContext:
            space = store.space
            return PhaseContext(
                project=name,
                graph=store.graph,
                vectors=space.vectors,
                snapshot=store.snapshots.of(name),
                embed=space.embedder.embed_documents,
                generator=self._generator,
                judge=self._judge(name),
                settings=store.config,
                now=at,
                folder=folder,
                budget=Budget(
                    seconds=settings.phase_seconds,
                    calls=settings.phase_calls,
                    tokens=settings.phase_tokens,
                ),
                progress=told(phase),
            )

        return GardenRun(
            project=name,
            phases=phases,
            context=context,
            access=WriteAccess(
                graph=store.graph,
                commit=store.mirror.commit,
                deliver=store.mirror.deliver_deferred,
                revision=lambda: store.mirror.writes,
                places=lambda: store.snapshots.of(name).nodes.index,
                keeping=partial(store.snapshots.keeping, name),
                one_writer=store.mirror.one_writer,
                progress=told("apply"),
            ),
            folder=folder,
            now=at,
            key=lambda: key_in(folder.parent),
            began=lambda phase: told(phase)(0, 1),
        )

    @contextmanager
    def _one_night(self) -> Iterator[None]:
        if not self._use().one_night.acquire(blocking=False):
            raise StoreBusyError(f"{self.folder}: another night is going on in this process; wait for it")
        try:
            with tuned_interpreter():
                yield
        finally:
            self._use().one_night.release()


class TrainMethods(Handle):
    """What teaches the gardener a project's graph."""

    def train(
        self, *, project: str | None = None, progress: Callable[[int, int], None] | None = None
    ) -> Trained:
        """Train the gardener's scorer of relations now, and say how well it tells wrong ones from right ones.

        The scorer with torch (the extra `gnn`) learns from the project's own relations, against wrong ones
        that are drawn, from what the names of entities mean, and from what people said of relations, once
        they judged twenty. It is measured on relations held out from training. The gardener uses it until
        more than a tenth of the relations, or of what people said, is new or gone, or the embedder is
        another, and then trains again by itself.

        Args:
            project: Namespace to learn; the handle's own where not given.
            progress: Called with training steps done and the most that there are.

        Raises:
            ModelUnavailableError: Torch is not installed.
            InvalidInputError: The project has too few relations to learn from.
        """
        store, name = self._use(), self._name(project)
        folder = self._garden_folder(name)
        return edge_scoring.train(
            edge_scoring.material(store.snapshots.of(name), store.graph, store.space.vectors, folder),
            seconds=store.config.garden.phase_seconds,
            progress=progress or (lambda done, whole: None),
        )
