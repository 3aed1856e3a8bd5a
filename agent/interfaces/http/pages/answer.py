"""An answer as pages show it: its text, the tools as they are used, what it rests on, and what became of it.

What became of a run that waited for its person: nobody followed the part after the yes, so its note tells.
"""

from collections.abc import Iterator
from dataclasses import field
from datetime import datetime

from markupsafe import Markup

from agent.background.asked_runs import AskedRun, ModelText, RunFailed, RunNews
from agent.dataclass import dataclass
from agent.errors import NoteGone
from agent.events.runs import ModelRetry, PlanChanged, TaskStarted, ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.interfaces.http.pages.markdown import html_of
from agent.interfaces.http.pages.page import PageRequest
from agent.llm.messages import Assistant, Message, ToolResult
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import Began, Closed, Spoken
from agent.loop.session import Session, load_session
from agent.memory.capture.writer import is_work
from agent.runs.decisions import is_ready
from agent.runs.registry import run_registry
from agent.runs.report import RunReport
from agent.vault.folders import QUESTIONS
from agent.vault.history.find import commits
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Aftermath:
    """The messages since a run first waited, the note that it waits for now (empty: for none), whether it has ended,
    and all commits of it."""

    messages: tuple[Message, ...]
    waits_for: str
    is_over: bool
    commits: tuple[str, ...]


def aftermath(workspace: Workspace, ended: Ended) -> Aftermath | None:
    """What became of a run that ended so; None for one that did not wait, waits still, or whose note is gone."""
    if not ended.outcome.waits:
        return None
    try:
        session = load_session(workspace.vault, ended.session)
    except NoteGone:
        return None
    events = [*session.of_run(ended.run)]
    ends = [at for at, event in enumerate(events) if isinstance(event, Closed)]
    waits_for = _waits_for(workspace, session)
    if not ends or (len(ends) == 1 and waits_for):
        return None
    last = events[ends[-1]]
    is_over = len(ends) > 1 and isinstance(last, Closed) and not RunOutcome(last.outcome).waits
    messages = tuple(event.message for event in events[ends[0] :] if isinstance(event, Spoken))
    made = [each.id for each in commits(workspace.vault, run=ended.run) if is_work(each)]
    return Aftermath(messages, waits_for, is_over, tuple(reversed(made)))


def _waits_for(workspace: Workspace, session: Session) -> str:
    """The note in which the person still has to decide; empty if they have, and the run goes on or is over."""
    marks = run_registry(workspace.vault)
    mark = marks.get(session.id)
    if mark is None or not mark.waits_for or marks.is_held(session.id) or is_ready(workspace, mark):
        return ""
    return mark.waits_for


@dataclass(slots=True)
class AnswerStep:
    """A piece of the answer, or a tool that is or was used: `state` is text, running, done or failed."""

    state: str
    text: str
    call: str = ""
    subject: str = ""
    html: Markup = Markup()


@dataclass(slots=True)
class AnswerOnPage:
    """What is shown of a run, from its news."""

    steps: list[AnswerStep] = field(default_factory=list)
    retry: str = ""
    plan: PlanChanged | None = None
    result: RunReport | RunFailed | None = None

    def take(self, news: RunNews) -> None:
        """Add one piece of news."""
        self.retry = ""
        match news:
            case ModelText(piece):
                if not self.steps or self.steps[-1].state != "text":
                    self.steps.append(AnswerStep("text", ""))
                self.steps[-1].text += piece
            case ToolCallStarted():
                self.steps.append(AnswerStep("running", news.tool, news.call, " ".join(news.subject.split())[:120]))
            case ToolCompleted():
                self._end(news.call, news.tool, "done", "")
            case ToolCallFailed():
                self._end(news.call, news.tool, "failed", news.error[:300])
            case PlanChanged():
                self.plan = news
            case ModelRetry():
                self.retry = news.reason
            case RunReport() | RunFailed():
                self.result = news
            case TaskStarted():
                pass

    def hear(self, message: Message) -> None:
        """Add what was said in a part of the run that nobody followed."""
        match message:
            case Assistant(text, calls):
                if text.strip():
                    self.steps.append(AnswerStep("text", text))
                self.steps += [AnswerStep("running", call.name, call.id) for call in calls]
            case ToolResult():
                self._end(message.call, message.name, "failed" if message.failed else "done", "")
            case _:
                pass

    def _end(self, call: str, tool: str, state: str, why: str) -> None:
        found = next((each for each in self.steps if each.call == call), None)
        if found is None:
            found = AnswerStep(state, tool, call)
            self.steps.append(found)
        found.state, found.subject = state, why or found.subject


@dataclass(slots=True)
class TurnOnPage:
    """What was asked in a conversation and the answer, as its note has them. `sender` asked, in a group or for a job;
    `ended` is how its run ended, if not well, and `reason` why."""

    asked: str
    at: datetime
    sender: str = ""
    answer: AnswerOnPage = field(default_factory=AnswerOnPage)
    ended: str = ""
    reason: str = ""


def turns_of(request: PageRequest, session: Session, but: str = "") -> Iterator[TurnOnPage]:
    """What was asked in a conversation, the first question first, without that of the run `but`."""
    turn: TurnOnPage | None = None
    for record in session.records:
        match record.event:
            case Began(run=run, task=task, sender=sender):
                if turn is not None:
                    yield _in_html(request, session.path, turn)
                turn = None if run == but else TurnOnPage(task, record.at, sender)
            case Spoken(message=message) if turn is not None:
                turn.answer.hear(message)
            case Closed(outcome=outcome, reason=reason) if turn is not None:
                ended = RunOutcome(outcome)
                turn.ended = "" if ended is RunOutcome.FINISHED else outcome
                turn.reason = "" if ended is RunOutcome.FINISHED or ended.waits else reason
    if turn is not None:
        yield _in_html(request, session.path, turn)


def _in_html(request: PageRequest, path: str, turn: TurnOnPage) -> TurnOnPage:
    for step in turn.answer.steps:
        if step.state == "text":
            step.html = html_of(request, path, step.text)
    return turn


def run_of(run: AskedRun) -> str:
    """The id of the run that was asked for; empty before it has begun."""
    if isinstance(run.result, RunReport):
        return run.result.ended.run.partition(".")[0]
    return next((each.event.run for each in run.news.after(0) if isinstance(each.event, TaskStarted)), "")


def answer_values(request: PageRequest, run: AskedRun, page: AnswerOnPage) -> dict[str, object]:
    """What the template of an answer is given."""
    result = page.result
    ended = result.ended if isinstance(result, RunReport) else None
    since = aftermath(request.workspace, ended) if ended else None
    steps = list(page.steps)
    if ended and ended.answer:
        if steps and steps[-1].state == "text":  # the whole answer, also of a run with more news than are kept
            steps.pop()
        steps.append(AnswerStep("text", ended.remarked))
    whole = AnswerOnPage(steps)
    for message in since.messages if since else ():
        whole.hear(message)
    for step in whole.steps:
        if step.state == "text":
            step.html = html_of(request, run.session, step.text)
    home = request.workspace.vault.home
    waits_for = since.waits_for if since else ended.waits_for if ended else ""
    used, looked = _sources(ended, " ".join(each.text for each in whole.steps)) if ended else ((), ())
    return {
        "steps": whole.steps,
        "retry": page.retry,
        "plan": page.plan if result is None else None,
        "result": result,
        "ended": ended,
        "reason": result.reason if isinstance(result, RunFailed) else ended.reason if ended else "",
        "sources": used,
        "looked": looked,
        "waits_for": waits_for,
        "is_question": bool(waits_for and home.holds(waits_for, QUESTIONS)),
        "is_resumed": since is not None and not since.is_over and not since.waits_for,
        "goes_on": bool(ended and ended.outcome.waits and not (since and since.is_over)),
        "is_over": bool(ended and (since.is_over if since else not ended.outcome.waits)),
        "commits": since.commits if since else result.commits if isinstance(result, RunReport) else (),
    }


def _sources(ended: Ended, text: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The notes that the answer rests on: those that it used, names, or had read; and the others that were looked at.

    Each is named once.
    """
    cited = [each.path for each in (*ended.used, *ended.sources, *ended.provided) if each.path.endswith(".md")]
    found, used = dict.fromkeys(cited), {each.path for each in ended.used}
    best = tuple(path for path in found if path in used or f"[[{path.removesuffix('.md')}" in text)
    return best, tuple(path for path in found if path not in best)
