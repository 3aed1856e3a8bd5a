"""Runs of one vault, for all interfaces and the daemon: started, resumed and delegated.

One process holds a session at a time, and reads it again once it holds it: the last holder may have added to it.
`registry` keeps the active and waiting runs, `decisions` reads what they wait for, `crash_recovery` closes runs after a
crash.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from shlex import quote
from typing import TypeAlias

from agent.context.assemble import Opening, assemble, opening
from agent.context.budget import BudgetRow as Row
from agent.context.budget import Window, window_of
from agent.context.compaction import Compacted
from agent.context.prompt import PROFILE, may_provide
from agent.context.source import Source
from agent.errors import Interrupted, NeedsApproval, NoteGone, QuestionAsked, ToolFailed, UserError
from agent.events.bus import Bus
from agent.events.runs import SessionEnded, SessionStarted, Speaker
from agent.llm.messages import Assistant, User
from agent.loop.agent import Agent
from agent.loop.compact import make_room
from agent.loop.limits import Breaker, Progress
from agent.loop.mailbox import Mailbox
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import Began, Closed, RunRequest, Spoken, Tainted
from agent.loop.run import Run
from agent.loop.session import Session, begin_session, latest_session, load_session, sessions
from agent.loop.session_names import release_name
from agent.memory.capture.writer import CaptureWorker
from agent.memory.profile.owner import MOST
from agent.memory.recall.authorship import Asker
from agent.metrics.collect import Collector
from agent.runs.accounts import Accounts
from agent.runs.active_skills import INDEX, ActiveSkills
from agent.runs.crash_recovery import doubt_calls, is_own, load_here
from agent.runs.owner import OwnerBlock, stated_entries
from agent.runs.recall_source import MemorySource, RecallResult, RecallSource
from agent.runs.registry import RunMark, RunRegistry, run_registry
from agent.runs.run_io import UNWATCHED, RunIO
from agent.tools.approvals import Approvals
from agent.tools.builtin.toolbox import Delegate
from agent.tools.text_origin import text_origin_of
from agent.tools.tool import RunContext, ToolOutput
from agent.workspace.workspace import Workspace

_NEWEST = 200
"""Newest sessions that are searched for a sub-run's when its parent resumes."""


OwnerSource: TypeAlias = Callable[[RunContext, Session], Source]
"""Makes a source of texts for the tasks of a run in its session."""


def do_nothing() -> None:
    """Do nothing; for runs that resume without a first step."""


class RunService:
    """The agent of one vault, ready to run tasks. Call `close` when all runs are over.

    `make_agent` builds the agent from the function with which a run delegates a part of its task; `owner_sources` are
    asked before the others, in the owner's own runs.
    """

    def __init__(
        self,
        workspace: Workspace,
        make_agent: Callable[[Delegate], Agent],
        account: Accounts,
        recall: RecallSource,
        following: ActiveSkills,
        approvals: Approvals,
        capturing: CaptureWorker,
        metrics: Collector,
        close_conversations: Callable[[], object],
        owner_sources: Sequence[OwnerSource],
    ) -> None:
        self.workspace = workspace
        self.account = account
        self.recall = recall
        self.following = following
        self.approvals = approvals
        self.capturing = capturing
        self.close_conversations = close_conversations
        self.owner_sources = owner_sources
        self.agent = make_agent(self.delegate)
        self._metrics = metrics

    @property
    def bus(self) -> Bus:
        """The bus for all events of runs."""
        return self.agent.bus

    @property
    def present(self) -> bool:
        """True if a model is configured."""
        return self.account.models.main.model.present

    @property
    def marks(self) -> RunRegistry:
        """The marks of active and waiting runs."""
        return run_registry(self.workspace.vault)

    def close(self) -> None:
        """Finish the pending memory writes, then save the metrics."""
        self.close_conversations()
        self.capturing.close()
        self.bus.close()
        self._metrics.save()
        self.recall.close()

    def ask(
        self, asked: RunRequest, session: str = "", line: RunIO = UNWATCHED, untrusted: str = "", id: str = ""
    ) -> Ended:
        """Run a task, in a new session or in the one at this path; `untrusted` is the source of text in the task that
        is not the person's own, `id` that of a new session where its caller has told it already.

        If that session waits for somebody else, the task gets a new session, named in `Ended.session`. Raises
        `NoteGone` if the path is no session, `LockHeld` if another process holds it.
        """
        run, asked = self.workspace.clock.new_id(), self._masked(asked)
        if session:
            with self.marks.held(load_here(self.workspace, session).id):
                found = load_here(self.workspace, session)
                if not self._waits_for_another(found, asked.speaker.sender):
                    return self._go(asked, run, _doubted(found, untrusted), line)
        begun = self.new_session(asked, id="" if session else id)
        line.on_session(begun.path)
        with self.marks.held(begun.id):
            return self._go(asked, run, _doubted(begun, untrusted), line)

    def new_session(self, asked: RunRequest, parent: str = "", id: str = "") -> Session:
        """A session for a task; its note is written when the task starts."""
        asked = self._masked(asked)
        session = begin_session(self.workspace.vault, asked.speaker.channel, asked.task, parent, id)
        self.bus.publish(SessionStarted(session.path, asked.speaker))
        return session

    def last_session(self, speaker: Speaker, among: Sequence[str] = ()) -> Session | None:
        """The latest session of the speaker, or of their group, of those at the paths `among` if there are any; None if
        there is none, or it arrived from elsewhere."""
        found = latest_session(self.workspace.vault, speaker, among)
        if found is None or self.workspace.vault.own_version(found.path) != self.workspace.vault.read(found.path):
            return None
        return found

    def is_stale(self, session: Session) -> bool:
        """True if the session was silent for longer than `run.stale_hours`; then publishes that it is over."""
        stale = session.is_stale(self.workspace.clock.now(), self.workspace.settings.run.stale_hours)
        if stale:
            self.close_session(session.path, "stale")
        return stale

    def close_session(self, path: str, reason: str) -> None:
        """Publish that a session is over."""
        self.bus.publish(SessionEnded(path, reason))

    def resume(self, path: str, line: RunIO = UNWATCHED, first: Callable[[], object] = do_nothing) -> Ended:
        """Resume the last run of a session where it stopped; `first` is called once no other process can resume it.

        Raises `UserError` if there is nothing to resume, `LockHeld` if another process holds the session.
        """
        with self.marks.held(load_here(self.workspace, path).id):
            session = load_here(self.workspace, path)
            began = session.open_run
            if began is None:
                raise UserError(
                    "the last run in {path} is over",
                    hint='ask something new in it: vault-agent ask --session {session} "…"',
                    path=path,
                    session=quote(path),
                )
            first()
            doubt_calls(self.workspace, session)
            return self._go(RunRequest.of(began), began.run, session, line, resumed=True)

    def delegate(self, task: str, background: str, context: RunContext) -> ToolOutput:
        """Run a sub-run with its own session and context, on its parent's account; for the tool `delegate`.

        If its parent was stopped meanwhile, the sub-run resumes where it stopped. Raises `NeedsApproval`,
        `QuestionAsked` or `Interrupted` if the sub-run ends with it: then the parent waits, too.
        """
        depth = context.run.count(".") + 1
        if depth > self.workspace.settings.run.depth:
            raise ToolFailed("this run is a sub-run already and may not delegate further; do it yourself")
        parent = f"{context.run}/{context.call}"
        asked = self._masked(RunRequest.delegated(f"{task}\n\n{background}".strip(), context))
        session = self._begun(parent) if context.resumed else None
        resumed = session is not None
        if session is not None and session.open_run is None:
            for source in session.untrusted:
                context.taint.mark(source)
            return _result(*_end_of(session), session.path)
        session = session or self.new_session(asked, parent)
        with self.marks.held(session.id):
            run = f"{context.run}.{context.call}"
            line = RunIO(cancelled=context.cancelled)
            ended = self._go(asked, run, session, line, parent=context, resumed=resumed)
        return _sub_run_output(ended)

    def compact(self, path: str, line: RunIO = UNWATCHED) -> Compacted | None:
        """Replace the older part of a session by a summary; returns None if that saves nothing."""
        with self.marks.held(load_here(self.workspace, path).id):
            work = self._work_in(load_here(self.workspace, path), line)
            work.describe_tools()
            return make_room(self.agent, work.scene(), wanted=True)

    def budget(self, path: str) -> tuple[Row, ...]:
        """The budget table of the text that a session would send to the model now."""
        return self._rows(self._work_in(load_session(self.workspace.vault, path), RunIO()))

    def passages(self, task: str, path: str = "") -> RecallResult:
        """The passages for a task of the owner now: in the session at this path, or in a new one."""
        if not path:
            return MemorySource(self.recall, Asker()).passages(task)
        context, session = RunContext("", path), load_session(self.workspace.vault, path)
        return self.recall.source(context, session, group=False).passages(task)

    def explain(self, asked: RunRequest) -> tuple[Opening, tuple[Row, ...], tuple[str, ...]]:
        """The input that a new session would send to the model for a task: the texts, the budget table, the tools'
        names.

        Writes nothing and publishes no event; so text that event handlers would add is not included.
        """
        asked = self._masked(asked)
        session = begin_session(self.workspace.vault, asked.speaker.channel, asked.task)
        context = asked.context("", session.path)
        work = self._work(asked, session, context, RunIO())
        try:
            start = opening(asked.task, work.agent.sources, (), work.window, self.agent.count)
            session.add(self.agent.system.new(asked.audience, work.fixed), Spoken(User(asked.task)))
            rows = self._rows(work)
        finally:
            self.following.drop(context.run)
            release_name(self.workspace.vault, session.path)
        return start, (*start.rows, *rows), tuple(spec.name for spec in work.described)

    def _rows(self, work: Run) -> tuple[Row, ...]:
        work.describe_tools()
        session, agent = work.session, self.agent
        return assemble(session.system, session.history, work.described, work.window, agent.count).rows

    def _work_in(self, session: Session, line: RunIO) -> Run:
        """A run in a session without a new task, for work between runs."""
        began = session.last_run
        last = began or Began("", "", session.channel)
        asked = RunRequest.of(last)
        context = asked.context(last.run, session.path)
        for source in session.untrusted:
            context.taint.mark(source)
        return self._work(asked, session, replace(context, cancelled=line.cancelled), line)

    def _work(self, asked: RunRequest, session: Session, context: RunContext, line: RunIO) -> Run:
        models = self.account.of_run(context.run.partition(".")[0], asked.job, asked.spend).doing(asked.work)
        memories = self.recall.source(context, session, group=asked.speaker.group)
        session.language = self.agent.language
        first = (source(context, session) for source in self.owner_sources)
        sources = (*first, self.following.source(context, session), memories, *self.agent.sources)
        allowed = tuple(source for source in sources if may_provide(source.name, asked.audience))
        return Run(
            replace(self.agent, sources=allowed),
            session,
            asked,
            context,
            line.mailbox or Mailbox(),
            line.on_text,
            models,
            Progress(self.agent.clock.monotonic()),
            Breaker(self.workspace.settings.spend.same_failure),
            fixed=lambda: self._fixed_texts(asked, window_of(models.main.model)),
        )

    def _fixed_texts(self, asked: RunRequest, window: Window) -> tuple[str, ...]:
        """What a conversation that begins with this request is told of the skills and of its owner: what changes often
        stands last, so that a provider's cache matches up to there."""
        texts: list[str] = []
        if may_provide(INDEX, asked.audience):
            task = "" if asked.job else asked.task
            texts.append(self.following.index(task, window.allowed(INDEX)))
        if may_provide(PROFILE, asked.audience):
            vault = self.workspace.vault
            block = OwnerBlock(vault, text_origin_of(vault), lambda: stated_entries(self.recall), self.agent.count)
            texts.append(block.text(min(window.allowed(PROFILE), MOST)))
        return tuple(texts)

    def _go(
        self,
        asked: RunRequest,
        run: str,
        session: Session,
        line: RunIO,
        *,
        resumed: bool = False,
        parent: RunContext | None = None,
    ) -> Ended:
        """Run a task until it ends or waits; the session must be held."""
        context = replace(asked.context(run, session.path), cancelled=line.cancelled)
        if parent is not None:  # a copy: what one sub-run reads does not concern those beside it
            context.taint.sources += parent.taint.sources
        mark = RunMark(session.id, session.path, run, parent=session.parent, job=asked.job)
        self.marks.put(mark)
        try:
            ended = self._work(asked, session, context, line).go(resumed)
        finally:
            if parent is not None:
                for source in context.taint.sources:
                    parent.taint.mark(source)
        if ended.outcome.waits:
            content = self.workspace.vault.current_id(session.path)
            self.marks.put(replace(mark, waits_for=ended.waits_for, content=content))
        else:
            self.marks.drop(session.id)
        return ended

    def _masked(self, asked: RunRequest) -> RunRequest:
        """The request without secrets in its task: the task goes into names, events and commits, and no model gets
        secrets in any case."""
        return replace(asked, task=self.workspace.vault.masked(asked.task))

    def _waits_for_another(self, session: Session, sender: str) -> bool:
        """True if somebody other than the sender has to decide or answer before the session's last run resumes; the
        mark is checked, too, as the end of a run may not be written yet."""
        began, mark = session.open_run, self.marks.get(session.id)
        waits = session.waits or (mark is not None and mark.waits_for != "")
        return waits and began is not None and began.sender != sender

    def _begun(self, parent: str) -> Session | None:
        """The session of the sub-run that this call started before; None if there is none that this machine wrote."""
        for path in sessions(self.workspace.vault)[:_NEWEST]:
            try:
                session = load_session(self.workspace.vault, path)
            except NoteGone:
                continue
            if session.parent == parent:
                return session if is_own(self.workspace, session) else None
        return None


def _doubted(session: Session, source: str) -> Session:
    """The session, marked as containing text from `source`; unchanged if `source` is empty or known."""
    if source and source not in session.untrusted:
        session.add(Tainted(source))
    return session


def _end_of(session: Session) -> tuple[RunOutcome, str, str]:
    """The outcome of the last run in a session that is over, the reason for it, and its last answer."""
    closed = [each.event for each in session.records if isinstance(each.event, Closed)]
    answers = [each.text for each in session.history if isinstance(each, Assistant) and each.text]
    outcome, reason = (RunOutcome(closed[-1].outcome), closed[-1].reason) if closed else (RunOutcome.FAILED, "")
    return outcome, reason, answers[-1] if answers else ""


def _sub_run_output(ended: Ended) -> ToolOutput:
    """The result of a sub-run for its parent; raises the matching error if it did not finish."""
    match ended.outcome:
        case RunOutcome.NEEDS_APPROVAL:
            raise NeedsApproval(ended.reason, path=ended.waits_for, hint=ended.hint)
        case RunOutcome.QUESTION_ASKED:
            raise QuestionAsked(ended.reason, path=ended.waits_for, hint=ended.hint)
        case RunOutcome.INTERRUPTED:
            raise Interrupted(ended.reason, hint=ended.hint)
        case _:
            made = _result(ended.outcome, ended.reason, ended.answer, ended.session)
            return replace(made, sources=ended.sources or ended.provided, is_changed=ended.is_changed)


def _result(outcome: RunOutcome, reason: str, answer: str, session: str) -> ToolOutput:
    """The answer of a sub-run that is over, marked as unfinished if a limit stopped it; raises `ToolFailed` without
    one."""
    if outcome is RunOutcome.FINISHED:
        return ToolOutput(answer)
    note = session.removesuffix(".md")
    early = f"the sub-run ended before it was done ({outcome}): {reason}; what it did is in [[{note}]]"
    if outcome is RunOutcome.LIMIT and answer:
        return ToolOutput(f"UNFINISHED: {early}\n\n{answer}")
    raise ToolFailed(early)
