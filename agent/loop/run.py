"""The run of an agent, readable in one sitting: `step` is `execute(query())`, repeated until something stops it.

Every step is in the session's note before the next one begins, and a call that changes something before it is carried
out, so a killed run resumes at the end of its note. Limits, spend, a rejection and an answer are errors that stop it.
"""

import logging
from collections.abc import Collection, Sequence
from dataclasses import field, replace
from itertools import groupby

from agent.context.anchor import Anchor, Failure
from agent.context.assemble import assemble, choose_tools, injected_messages, opening, size
from agent.context.budget import Window, window_of
from agent.context.prompt import may_provide, moment, reader_for
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted, LimitReached, NeedsApproval, QuestionAsked
from agent.events.bus import Injection
from agent.events.runs import IterationStarted, ProfileSelected, TaskStarted, session_subject
from agent.llm.messages import OnText, Reply, Request, ToolCall, ToolResult, ToolSpec, User
from agent.loop.agent import (
    NO_ANSWER,
    PARALLEL,
    Agent,
    FixedTexts,
    Models,
    all_differ,
    asked_with,
    call_ended,
    call_started,
    call_together,
    no_texts,
    refused_calls,
    results_with_calls,
    unfinished_result,
    with_stand_in,
)
from agent.loop.asking import ModelCall
from agent.loop.compact import Scene, make_room
from agent.loop.conclusion import conclude
from agent.loop.limits import (
    Breaker,
    Progress,
    is_due,
    out_of_time,
    spend_notice,
    stop_hint,
    stop_reason,
    what_to_mind,
    whats_left,
)
from agent.loop.mailbox import Mailbox, answer_of, answers_in
from agent.loop.outcome import Ended, Finished, RunOutcome, end_of, outcome_of
from agent.loop.planning import tools_for, what_else, with_plan
from agent.loop.receipts import pin_receipts, spoken_text, used_notes
from agent.loop.record_format import called_line
from agent.loop.records import QUOTED, AtLimit, Closed, RunRequest, Spoken, ToolsChosen, chosen_tools, new_taints
from agent.loop.results import cut_result, shared_rooms
from agent.loop.session import Session
from agent.loop.thinking_store import keep_thinking, restore_thinking
from agent.texts import Sentence, text, translated
from agent.tools.registry import Called
from agent.tools.tool import Cited, RunContext
from agent.tools.tool_names import is_served, resolved, whole_tool

_TRAIL = 5
"""Failures in the model's reminder."""

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class Run:
    """One run in a session. `go` returns its outcome; no error of a model or a tool makes it raise."""

    agent: Agent
    session: Session
    request: RunRequest
    context: RunContext
    mailbox: Mailbox
    on_text: OnText
    models: Models
    progress: Progress
    breaker: Breaker
    described: tuple[ToolSpec, ...] = ()
    is_changed: bool = False
    sources: list[Cited] = field(default_factory=list)
    provided: list[Cited] = field(default_factory=list)
    used: list[str] = field(default_factory=list)
    done: list[str] = field(default_factory=list)
    failures: list[Failure] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    remarks: list[Sentence] = field(default_factory=list)
    fixed: FixedTexts = no_texts

    @property
    def window(self) -> Window:
        """The context window of this run's model, with the tokens reserved for the answer."""
        return window_of(self.models.main.model)

    def go(self, resumed: bool = False) -> Ended:
        """Begin or resume, ask the model and carry out its calls until something stops it, and return the result."""
        try:
            restore_thinking(self.session)
            (self.resume if resumed else self.begin)()
            while True:
                self.execute(self.query())
        except Interrupted as stop:
            return self.end(stop if self.context.cancelled() or not self.is_late() else out_of_time(self.agent.limits))
        except (AgentError, OSError) as stop:
            return self.end(stop)

    def is_late(self) -> bool:
        """True if the run has used up its time."""
        return self.progress.is_late(self.agent.limits, self.agent.clock.monotonic())

    @property
    def call_context(self) -> RunContext:
        """The context for models and tools: cancelled by the person, or after the time of the run is used up."""
        by_person = self.context.cancelled
        return replace(self.context, cancelled=lambda: by_person() or self.is_late())

    def check_call(self) -> None:
        """Raise `Interrupted` or `LimitReached` if the run may not make another call."""
        if self.context.cancelled():
            raise Interrupted("stopped by you")
        self.progress.check_call(self.agent.limits, self.agent.clock.monotonic())

    def begin(self) -> None:
        """Add the task to the session, with the texts of sources and hooks for it."""
        session, run, request = self.session, self.context.run, self.request
        task, speaker = request.task, request.speaker
        self.context.taint.mark(*session.untrusted_for(request.role))
        session.add(*(Spoken(unfinished_result(call)) for call in session.open_calls))
        self.agent.system.provide(session, request.audience, self.fixed)
        session.add(request.began(run))
        self.publish(ProfileSelected(run, session.path, self.agent.tools.profile(self.context)))
        tools = tuple(each.name for each in self.agent.tools.visible(self.context))
        about = (request.job, request.purpose, request.role, bool(self.context.taint), tools)
        injections = self.publish(TaskStarted(run, session.path, task, speaker, *about))
        start = opening(task, self.agent.sources, injections, self.window, self.agent.count)
        session.add(Spoken(moment(self.agent.clock.now(), request.job, request.place)))
        for each in start.messages:
            session.add(spoken_text(self.agent.vault, each, start.receipts_of(each), self.agent.language))
        self.provided += (Cited(receipt.path, receipt.lines) for receipt in start.receipts)
        self.context.taint.mark(*start.untrusted)
        self.record_taint()
        session.add(Spoken(User(task, speaker.sender if speaker.group else "")))
        self.describe_tools()
        session.save(Sentence("session: begin: {task}", task=task), hold=True)

    def resume(self) -> None:
        """Continue at the end of the note; its open calls may have been carried out before the run stopped."""
        self.context.taint.mark(*self.session.untrusted_for(self.request.role))
        self.record_taint()
        self.agent.system.provide(self.session, self.request.audience, self.fixed)
        events = list(self.session.of_run(self.context.run))
        results = list(results_with_calls(events))
        self.used += (resolved(call).name for call, _ in results)
        self.done += (resolved(call).name for call, result in results if not result.failed)
        self.progress = Progress.of(events, self.agent.clock.monotonic())
        self.breaker.replay(results)
        self.describe_tools()
        for limit in (each for each in events if isinstance(each, AtLimit)):
            raise LimitReached(limit.reason, limit="", hint=limit.hint)
        if calls := self.session.open_calls:
            self.run_calls(calls, resumed=True)
            self.session.save(Sentence("session: took up again"), hold=True)

    def describe_tools(self) -> None:
        """Describe to the model the tools of this conversation, chosen when it began, whether they are there or not."""
        agent = self.agent
        agent.tools.update()
        chosen = chosen_tools((record.event for record in self.session.records), self.request.role)
        self.described = agent.tools.described(chosen)
        if not chosen:
            usual = agent.tools.specs(self.context, seldom=False)
            own, served = ([spec for spec in usual if is_served(spec.name) is which] for which in (False, True))
            self.describe([spec.name for spec in choose_tools(own, self.window.tokens, agent.count, served)])

    def describe(self, names: Collection[str]) -> None:
        """Describe the tools with these names, too, from the next request on, in this and all later runs."""
        known = {spec.name for spec in self.described}
        usable = (tool.name for tool in self.agent.tools.visible(self.context))
        fresh = tuple(name for name in usable if whole_tool(name) in names and whole_tool(name) not in known)
        if fresh:
            self.session.add(ToolsChosen(fresh))
            self.described += self.agent.tools.described(fresh)

    def query(self) -> Reply:
        """Add the sender's new messages, and ask the model."""
        agent, session, run = self.agent, self.session, self.context.run
        self.progress.check_step(agent.limits, agent.clock.monotonic())
        if self.context.cancelled():
            raise Interrupted("stopped by you")
        session.add(*(Spoken(message) for message in self.mailbox.take(self.request.speaker.sender)))
        agent.tools.update()
        self.progress.steps += 1
        event = IterationStarted(run, session.path, self.progress.steps, self.request.task, tuple(self.used))
        self.inject(self.publish(event))
        make_room(agent, self.scene())
        self.remind()
        self.context.described.update(spec.name for spec in self.described)
        prompt = assemble(session.system, session.history, self.described, self.window, agent.count)
        reply = self.ask(prompt.request)
        session.add(Spoken(reply.message, reply.usage))
        session.add(*map(Spoken, refused_calls(reply.message.calls, agent.limits.calls_per_reply)))
        return reply

    def ask(self, request: Request) -> Reply:
        """Ask the model, or what stands in for it if it does not answer."""
        by_person, cancelled = self.context.cancelled, self.call_context.cancelled
        read = reader_for(self.request.audience, self.agent.vault.own_version_of)
        asking = ModelCall(self.agent, self.session, self.on_text, cancelled, by_person, read)
        try:
            reply = asking.reply(self.models.main, request, lambda: self.window)
        except NO_ANSWER as error:
            if asking.heard:
                raise
            self.models = with_stand_in(self.models, error, self.request, self.session, self.context.run)
            reply = self.models.main.chat(request, self.on_text, cancelled)
        self.remarks += (each for each in reply.remarks if each not in self.remarks)
        keep_thinking(self.session, reply.message, self.context.run, self.publish)
        return reply

    def execute(self, reply: Reply) -> None:
        """Carry out the calls of an answer, up to `run.calls_per_reply`; an answer without calls ends the run."""
        calls = reply.message.calls[: self.agent.limits.calls_per_reply]
        if not calls:
            if self.mailbox.has_from(self.request.speaker.sender):
                return
            raise end_of(reply)
        if not all(self.agent.tools.is_readonly(call) for call in calls):
            names = ", ".join(dict.fromkeys(call.name for call in calls))
            self.session.save(Sentence("session: asks for {tools}", tools=names), hold=True)
        try:
            self.run_calls(calls)
        finally:
            self.session.save(Sentence("session: step {number}", number=self.progress.steps), hold=True)

    def run_calls(self, calls: tuple[ToolCall, ...], *, resumed: bool = False) -> None:
        """Carry out the calls of one reply; one that needs a yes stops the run, and all that do are asked about."""
        try:
            self.carry_out(calls, replace(self.call_context, resumed=resumed))
        except NeedsApproval as stop:
            context = replace(self.call_context, asks_only=True)
            raise asked_with(stop, self.agent, self.session.open_calls, context) from None

    def carry_out(self, calls: tuple[ToolCall, ...], context: RunContext) -> None:
        """Carry out calls in their order; neighbours run at the same time if they only read, or are sub-runs."""
        share = self.window.result_room(len(calls))
        for together, group in groupby(calls, key=self.agent.tools.runs_with):
            batch = list(group)
            if together and all_differ(batch):
                for start in range(0, len(batch), PARALLEL):
                    self.run_calls_together(batch[start : start + PARALLEL], context, share)
            else:
                for call in batch:
                    self.check_call()
                    self.breaker.check(call.name, call.arguments)
                    self.publish(call_started(call, self.described, context))
                    self.record_result(call, self.agent.tools.call(call, context.at(call.id)), share)

    def run_calls_together(self, calls: Sequence[ToolCall], context: RunContext, share: int) -> None:
        """Carry out calls at the same time, as many of them as the run's limits allow."""
        self.check_call()
        allowed = calls[: self.agent.limits.tool_calls - self.progress.tool_calls]
        for call in allowed:
            self.breaker.check(call.name, call.arguments)
        for call in allowed:
            self.publish(call_started(call, self.described, context))
        done, stop = call_together(lambda call: self.agent.tools.call(call, context.at(call.id)), allowed)
        sizes = [self.agent.count(called.result.text) for _, called in done]
        for (call, called), room in zip(done, shared_rooms(sizes, share), strict=True):
            self.record_result(call, called, room)
        if stop is not None:
            raise stop
        if len(allowed) < len(calls):
            self.check_call()

    def record_result(self, call: ToolCall, called: Called, room: int) -> None:
        """Add a result in at most `room` tokens to the session, and publish it."""
        result = self.fitted_result(call, called, room)
        self.progress.tool_calls += 1
        self.used.append(called.tool)
        self.done += [] if result.failed else [called.tool]
        self.refused += [called.tool] if called.denied else []
        if called.output:
            self.is_changed |= called.output.is_changed
            self.sources += called.output.sources
            if called.output.tools:
                self.describe(called.output.tools)
        line = called_line(call, called, self.agent.language)
        quoted = QUOTED if called.output and called.output.sources and not answer_of(result) else ""
        self.session.add(Spoken(result, digest=quoted, line=line, seconds=called.seconds))
        self.session.forget(called.output.forgotten if called.output else None)
        self.record_taint()
        self.inject(self.publish(call_ended(result, called, self.context)))
        for event in what_else(call, result, called, self.context, self.agent.clock.now()):
            self.inject(self.publish(event))

    def publish(self, event: object) -> tuple[Injection, ...]:
        """Publish an event; returns the texts that subscribers add for the run's audience, with receipts."""
        added = (each for each in self.agent.bus.publish(event) if may_provide(each.source, self.request.audience))
        return pin_receipts(self.agent.vault, tuple(added))

    def inject(self, injections: Sequence[Injection]) -> None:
        """Add the texts of subscribers to the session, while there is room."""
        for each in injected_messages(injections, self.agent.count):
            self.session.add(spoken_text(self.agent.vault, each.message, each.receipts, self.agent.language))
            self.provided += (Cited(receipt.path, receipt.lines) for receipt in each.receipts)

    def record_taint(self) -> None:
        """Record in the session every untrusted source that this run has read, including those of a parent's run."""
        self.session.add(*new_taints(self.session.records, self.context.taint.sources))

    def fitted_result(self, call: ToolCall, called: Called, room: int) -> ToolResult:
        """The result shortened to its room, with a warning when the call fails again and again."""
        result, sources, warning = called.result, called.output.sources if called.output else (), ""
        text = cut_result(result.text, sources, room, self.agent.count)
        for each in sources if text != result.text else ():
            self.context.seen.forget(each.path)  # it has not been read whole
        if result.failed:
            self.failures.append(Failure(result.name, text))
            warning = self.breaker.failed(call.name, call.arguments, result.text)
        else:
            self.breaker.succeeded(call.name, call.arguments, text)
        return replace(result, text=f"{text}\n{warning}" if warning else text)

    def scene(self) -> Scene:
        """The values of this run for compaction."""
        return Scene(self.session, self.models, self.window, self.call_context, self.request.speaker, self.described)

    def remind(self) -> None:
        """Remind the model of its task, if that is due."""
        self.describe(tools_for(self.progress.steps))
        anchor, session = self.anchor(), self.session
        if is_due(anchor, session.of_run(self.context.run), session.history):
            session.add(Spoken(anchor.message(self.window, self.agent.count)))

    def anchor(self) -> Anchor:
        """The reminder of the task as it is now."""
        agent, session, task = self.agent, self.session, self.request.task
        step = text("anchor.step", agent.language, number=self.progress.steps, most=agent.limits.steps)
        left = whats_left(self.progress, agent.limits, agent.clock.monotonic(), self.models.left, agent.language)
        full = size(session.system, session.history, self.described, agent.count) / max(self.window.budget, 1)
        warnings = what_to_mind(self.breaker, full, bool(self.context.taint), agent.language)
        answers, failures = answers_in(session, self.context.run), tuple(self.failures[-_TRAIL:])
        anchor = Anchor(task, tuple(self.done), step, left, warnings, failures, agent.language, answers=answers)
        return with_plan(anchor, session.of_run(self.context.run), self.described)

    def end(self, stop: Exception) -> Ended:
        """Let the model conclude, if a limit stopped the run, and close it."""
        stop = (self.models.failure or stop) if isinstance(stop, Finished) else stop
        if isinstance(stop, LimitReached):
            conclude(self.agent, replace(self.scene(), context=self.context), self.anchor(), stop, self.on_text)
        return self.close(stop)

    def close(self, stop: Exception) -> Ended:
        """Record the outcome of the run, and publish it."""
        outcome, run, session = outcome_of(stop), self.context.run, self.session
        message = self.agent.vault.masked(stop_reason(stop, self.agent.language, self.request.speaker.channel))
        self.record_taint()
        is_answered = outcome is RunOutcome.FINISHED and not self.request.job
        remarks = tuple(translated(each, self.agent.language) for each in self.remarks)
        remark = "\n\n".join(filter(None, (*remarks, self.agent.endnote(run) if is_answered else "")))
        session.add(Closed(run, outcome, "" if outcome is RunOutcome.FINISHED else message, remark))
        try:
            session.save(session_subject(outcome, self.request.task), hold=True)
        except (AgentError, OSError) as error:
            logger.warning("the end of run %s is not in %s: %s", run, session.path, error)
            if outcome is RunOutcome.FINISHED:
                outcome, message = RunOutcome.FAILED, f"answered, but the session could not be saved: {error}"
        provided, sources = tuple(dict.fromkeys(self.provided)), tuple(dict.fromkeys(self.sources))
        answer = next((each.text for each in reversed(session.model_messages(run))), "")
        ended = Ended(
            *(run, session.path, outcome, answer),
            reason="" if outcome is RunOutcome.FINISHED else message,
            hint=stop_hint(stop, self.agent.language),
            waits_for=stop.path if isinstance(stop, NeedsApproval | QuestionAsked) else "",
            queued=session.queued,
            is_changed=self.is_changed,
            sources=sources,
            provided=provided,
            used=used_notes(answer, (*sources, *provided)),
            steps=self.progress.steps,
            tools=tuple(self.used),
            refused=tuple(dict.fromkeys(self.refused)),
            failure=stop if outcome is RunOutcome.FAILED else None,
            is_quoted=stop is self.models.failure and bool(answer),
            remarks=remarks,
            home=session.vault.home,
        )
        if (notice := spend_notice(stop, self.request, self.agent.language)) is not None:
            self.agent.bus.publish(notice)
        asked, at, seconds = self.request, self.agent.clock.now(), self.agent.clock.monotonic() - self.progress.since
        self.agent.bus.publish(ended.as_event(asked.task, asked.speaker, seconds, session.usage_of(run), at, asked.job))
        return ended
