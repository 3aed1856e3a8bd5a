"""The agent's run, readable in one sitting: `step` is `execute(query())`, repeated until something stops it.

Every step is in the session's note before the next one begins, and what changes something is in the note as asked for
before it is done: a run that was killed goes on where its note ends. Limits, spend, a person's no and a finished
answer are all errors that stop it (`outcome`).
"""

import logging
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from itertools import groupby

from agent.context.anchor import Anchor, Failure
from agent.context.assemble import assemble, injected, opening
from agent.context.budget import Window
from agent.context.shorten import shorten
from agent.context.tool_choice import choose_tools
from agent.errors import AgentError, Interrupted, LimitReached, NeedsApproval, Permanent, QuestionAsked, UserError
from agent.events.runs import IterationStarted, Speaker, TaskCompleted, TaskStarted, ToolCompleted, ToolFailed
from agent.events.subscriber import Injection
from agent.llm.messages import Assistant, Reply, Request, System, ToolCall, ToolResult, ToolSpec, Usage, User
from agent.llm.provider import OnText
from agent.loop.agent import Agent, Models
from agent.loop.calls import all_differ, not_done, refused_calls, results_of
from agent.loop.compact import Scene, make_room
from agent.loop.limits import Progress, out_of_time
from agent.loop.mailbox import Mailbox
from agent.loop.outcome import Ended, Finished, RunOutcome, outcome_of
from agent.loop.receipts import pin_receipts
from agent.loop.records import Began, Closed, Spoken, Tainted, ToolsChosen
from agent.loop.repetition import Breaker
from agent.loop.session import Session
from agent.loop.stop_messages import stop_hint, stop_reason
from agent.texts import Language, text
from agent.tools.registry import Called
from agent.tools.tool import Cited, RunContext

TOGETHER = 4
"""Calls that only read and may run at the same time."""
_ANSWER_SHARE = 4
"""The part of a small window that is kept for the answer at most."""
_TRAIL = 5
"""Failures that the model is reminded of."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RunRequest:
    """A task: what was asked, by whom, on behalf of which job; `role` is `owner` or `guest`.

    A guest has a name: without one `UserError` is raised, as their words would be kept for the owner's.
    """

    task: str
    speaker: Speaker
    role: str = "owner"
    job: str = ""

    def __post_init__(self) -> None:
        if self.role != "owner" and not self.speaker.sender:
            raise UserError(
                f"somebody asks through {self.speaker.channel} who is not you and has no name",
                hint="have the channel say who sends each message",
            )


@dataclass(slots=True)
class Run:
    """One run in a session. `go` returns how it ended; nothing that a model or a tool does makes it raise."""

    agent: Agent
    session: Session
    request: RunRequest
    context: RunContext
    mailbox: Mailbox
    on_text: OnText
    models: Models
    progress: Progress
    breaker: Breaker
    chosen: tuple[ToolSpec, ...] = ()
    commits: list[str] = field(default_factory=list)
    sources: list[Cited] = field(default_factory=list)
    given: list[Cited] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)

    @property
    def window(self) -> Window:
        """What fits before the model of this run."""
        model = self.models.main.model
        return Window(model.window, min(model.max_output, model.window // _ANSWER_SHARE))

    def go(self, resumed: bool = False) -> Ended:
        """Begin, or take up again, and repeat `step` until something stops it."""
        try:
            if resumed:
                self.take_up()
            else:
                self.begin()
            while True:
                self.step()
        except Interrupted as stop:
            return self.close(
                stop if self.context.cancelled() or not self.is_late() else out_of_time(self.agent.limits)
            )
        except (AgentError, OSError) as stop:
            return self.close(stop)

    def is_late(self) -> bool:
        """Whether the time of the run is used up."""
        return self.progress.is_late(self.agent.limits, self.agent.clock.monotonic())

    @property
    def under_way(self) -> RunContext:
        """The run as models and tools see it: cancelled by whoever asked, or because its time is used up."""
        by_person = self.context.cancelled
        return replace(self.context, cancelled=lambda: by_person() or self.is_late())

    def check_call(self) -> None:
        """Before each use of a tool: raises `Interrupted` or `LimitReached` where there may be no more."""
        if self.context.cancelled():
            raise Interrupted("stopped by you")
        self.progress.check_call(self.agent.limits, self.agent.clock.monotonic())

    def step(self) -> None:
        """Ask the model, do what it asks for."""
        self.execute(self.query())

    def begin(self) -> None:
        """Put the task and what belongs to it into the session."""
        session, run = self.session, self.context.run
        for source in session.untrusted:  # what the model still has before it
            self.context.taint.mark(source)
        session.add(*(Spoken(not_done(call)) for call in session.open_calls))
        if not session.system:
            session.add(Spoken(System(self.agent.system())))
        speaker = self.request.speaker
        asked = self.request
        session.add(Began(run, asked.task, speaker.channel, speaker.sender, speaker.group, asked.role, asked.job))
        told = self.tell(TaskStarted(run, session.path, self.request.task, speaker))
        start = opening(self.request.task, self.agent.sources, told, self.window, self.agent.count)
        session.add(*(Spoken(message, remark=start.remark(message, self.agent.language)) for message in start.messages))
        self.given += (Cited(receipt.path, receipt.lines) for receipt in start.receipts)
        for source in start.untrusted:
            self.context.taint.mark(source)
        self.note_taint()
        session.add(Spoken(User(self.request.task, speaker.sender if speaker.group else "")))
        self.choose()
        for problem in start.problems:
            logger.warning("%s", problem)
        session.save(f"begin: {self.request.task}")

    def take_up(self) -> None:
        """Go on where the note ends; calls that were open may have been carried out before the run stopped."""
        for source in self.session.untrusted:  # of earlier runs, too: the model still has it before it
            self.context.taint.mark(source)
        self.note_taint()
        events = list(self.session.of_run(self.context.run))
        self.used += (e.message.name for e in events if isinstance(e, Spoken) and isinstance(e.message, ToolResult))
        self.progress = Progress.of(events, self.agent.clock.monotonic())
        self.breaker.take_up(results_of(events))
        self.choose()
        calls = self.session.open_calls
        if calls:
            self.perform(calls, resumed=True)
            self.session.save("took up again")

    def choose(self) -> None:
        """Describe to the model the tools that the session has used so far, and those that fit the task."""
        known = {spec.name: spec for spec in self.agent.tools.specs(self.context)}
        before = [
            name
            for record in self.session.records
            if isinstance(record.event, ToolsChosen)
            for name in record.event.tools
        ]
        chosen = [known[name] for name in dict.fromkeys(before) if name in known]
        agent = self.agent
        fitting = choose_tools(self.request.task, tuple(known.values()), agent.relevance, agent.context.tools)
        fresh = tuple(spec for spec in fitting if spec not in chosen)
        if fresh:
            self.session.add(ToolsChosen(tuple(spec.name for spec in fresh)))
        self.chosen = (*chosen, *fresh)

    def query(self) -> Reply:
        """Take up what people have said meanwhile, and ask the model."""
        agent, session, run = self.agent, self.session, self.context.run
        self.progress.check_step(agent.limits, agent.clock.monotonic())
        if self.context.cancelled():
            raise Interrupted("stopped by you")
        session.add(*(Spoken(message) for message in self.mailbox.take(self.request.speaker.sender)))
        self.progress.steps += 1
        event = IterationStarted(run, session.path, self.progress.steps, self.request.task, tuple(self.used))
        self.put(self.tell(event))
        make_room(agent, self.scene())
        prompt = assemble(session.system, session.history, self.anchor(), self.chosen, self.window, agent.count)
        reply = self.ask(prompt.request)
        session.add(Spoken(reply.message, reply.usage))
        session.add(*map(Spoken, refused_calls(reply.message.calls, agent.limits.calls_per_reply)))
        return reply

    def ask(self, request: Request) -> Reply:
        """Ask the model; when the time of the run ends meanwhile, the session keeps what has come of the answer."""
        came: list[str] = []

        def hear(text: str) -> None:
            came.append(text)
            self.on_text(text)

        try:
            return self.models.main.chat(request, hear, self.under_way.cancelled)
        except Interrupted:
            if came and not self.context.cancelled():
                self.session.add(Spoken(Assistant("".join(came))))
            raise

    def execute(self, reply: Reply) -> None:
        """Do what the answer asks for, up to `run.calls_per_reply`; an answer that asks for nothing ends the run."""
        calls = reply.message.calls[: self.agent.limits.calls_per_reply]
        if not calls:
            if self.mailbox.has_from(self.request.speaker.sender):
                return
            raise _finished(reply)
        if not all(self.agent.tools.is_readonly(call.name) for call in calls):
            self.session.save(f"asks for {', '.join(dict.fromkeys(call.name for call in calls))}")
        try:
            self.perform(calls)
        finally:
            self.session.save(f"step {self.progress.steps}")

    def perform(self, calls: tuple[ToolCall, ...], *, resumed: bool = False) -> None:
        """Carry out calls in their order, neighbours that only read at the same time."""
        for together, group in groupby(calls, key=lambda call: self.agent.tools.is_readonly(call.name)):
            batch = list(group)
            context = replace(self.under_way, resumed=resumed)
            if together and all_differ(batch):
                for start in range(0, len(batch), TOGETHER):
                    self.perform_together(batch[start : start + TOGETHER], context, len(calls))
            else:
                for call in batch:
                    self.check_call()
                    self.breaker.check(call.name, call.arguments)
                    self.take_in(call, self.agent.tools.call(call, context.at(call.id)), len(calls))

    def perform_together(self, calls: Sequence[ToolCall], context: RunContext, beside: int) -> None:
        """Carry out calls at the same time, as many of them as the run may still use."""
        self.check_call()
        allowed = calls[: self.agent.limits.tool_calls - self.progress.tool_calls]
        for call in allowed:
            self.breaker.check(call.name, call.arguments)
        contexts = [context.at(call.id) for call in allowed]
        with ThreadPoolExecutor(TOGETHER, "vault-agent-tool") as pool:
            for call, called in zip(allowed, pool.map(self.agent.tools.call, allowed, contexts), strict=True):
                self.take_in(call, called, beside)
        if len(allowed) < len(calls):
            self.check_call()

    def take_in(self, call: ToolCall, called: Called, beside: int) -> None:
        """Put one of `beside` results before the model and into the note, and tell everybody."""
        run, path = self.context.run, self.session.path
        result = self.judged(call, called.result, beside)
        self.progress.tool_calls += 1
        self.used.append(result.name)
        self.commits += called.given.commits if called.given else ()
        self.sources += called.given.sources if called.given else ()
        self.session.add(Spoken(result, remark=_remark(called, self.agent.language)))
        self.note_taint()
        if result.failed:
            told = self.tell(ToolFailed(run, path, result.call, result.name, called.seconds, result.text))
        else:
            told = self.tell(ToolCompleted(run, path, result.call, result.name, called.seconds, len(result.text)))
        self.put(told)

    def tell(self, event: object) -> tuple[Injection, ...]:
        """Tell everybody; what they want before the model, with receipts that say where it stands."""
        return pin_receipts(self.agent.vault, self.agent.bus.publish(event))

    def put(self, told: Sequence[Injection]) -> None:
        """Put what hooks want before the model and into the note, as far as there is room."""
        for each in injected(told, self.agent.count):
            self.session.add(Spoken(each.message, remark=each.remark(self.agent.language)))
            self.given += (Cited(receipt.path, receipt.lines) for receipt in each.receipts)

    def note_taint(self) -> None:
        """Put into the session where untrusted text comes from that this run knows of, a parent's run included."""
        known = self.session.untrusted
        self.session.add(*(Tainted(source) for source in self.context.taint.sources if source not in known))

    def judged(self, call: ToolCall, result: ToolResult, beside: int) -> ToolResult:
        """A result as the model gets it: in a size that leaves room, with a warning when it fails or repeats itself."""
        text = shorten(result.text, self.window.result_room(beside), self.agent.count)
        if result.failed:
            self.failures.append(Failure(result.name, text))
            warning = self.breaker.failed(call.name, call.arguments, result.text)
        else:
            warning = self.breaker.succeeded(call.name, call.arguments, text)
        return replace(result, text=f"{text}\n{warning}" if warning else text)

    def scene(self) -> Scene:
        """The run as compaction sees it."""
        speaker = self.request.speaker
        return Scene(self.session, self.models, self.window, self.under_way, speaker, self.anchor(), self.chosen)

    def anchor(self) -> Anchor:
        """What the model is reminded of at the end of every request."""
        step = f"step {self.progress.steps} of at most {self.agent.limits.steps}"
        failures = tuple(self.failures[-_TRAIL:])
        return Anchor(self.request.task, tuple(self.used), step, errors=failures, language=self.agent.language)

    def close(self, stop: Exception) -> Ended:
        """Say in the note how it ended, and tell everybody."""
        outcome = outcome_of(stop)
        message = stop_reason(stop, self.agent.language)
        run, session = self.context.run, self.session
        self.note_taint()
        remark = "" if outcome.can_go_on else self.agent.endnote(run)
        session.add(Closed(run, outcome, "" if outcome is RunOutcome.FINISHED else message, remark))
        try:
            session.save(f"{outcome}: {self.request.task}")
        except (AgentError, OSError) as error:
            logger.warning("the end of run %s is not in %s: %s", run, session.path, error)
            if outcome is RunOutcome.FINISHED:
                outcome, message = RunOutcome.FAILED, f"answered, but the session could not be saved: {error}"
        ended = Ended(
            run,
            session.path,
            outcome,
            self.answer(),
            reason="" if outcome is RunOutcome.FINISHED else message,
            hint=stop_hint(stop, self.agent.language),
            waits_for=stop.path if isinstance(stop, NeedsApproval | QuestionAsked) else "",
            queued=session.queued,
            commits=tuple(self.commits),
            sources=tuple(dict.fromkeys(self.sources)),
            given=tuple(dict.fromkeys(self.given)),
            steps=self.progress.steps,
            tools=tuple(self.used),
            failure=stop if outcome is RunOutcome.FAILED else None,
        )
        seconds = self.agent.clock.monotonic() - self.progress.since
        speaker, tools = self.request.speaker, ended.tools
        used = self.usage()
        self.agent.bus.publish(
            TaskCompleted(
                run,
                session.path,
                self.request.task,
                speaker,
                outcome.value,  # plain data: what hears of it may write it into a header
                ended.answer,
                tools,
                seconds,
                ended.steps,
                used.input,
                used.output,
                self.agent.clock.now(),
            )
        )
        return ended

    def usage(self) -> Usage:
        """The tokens of the model's answers in this run."""
        of_run = self.session.of_run(self.context.run)
        return sum((event.usage for event in of_run if isinstance(event, Spoken) and event.usage), Usage())

    def answer(self) -> str:
        """The last thing that the model said in this run."""
        said = [event.message for event in self.session.of_run(self.context.run) if isinstance(event, Spoken)]
        return next((message.text for message in reversed(said) if isinstance(message, Assistant)), "")


def _finished(reply: Reply) -> AgentError:
    """The end of a run that the model has brought about."""
    if reply.stop == "length":
        return LimitReached(
            "the answer was cut off at the longest that one may be",
            limit="llm.max_output",
            hint="vault-agent config set llm.max_output 8192",
        )
    if not reply.message.text.strip():
        refused = reply.stop == "refused"
        return Permanent("the model refused to answer" if refused else "the model gave an empty answer")
    return Finished(reply.message.text)


def _remark(called: Called, language: Language) -> str:
    """For people: the commits that a call made."""
    commits = called.given.commits if called.given else ()
    return "\n".join(f"- {text('session_note.commit', language)} `{commit[:12]}`" for commit in commits)
