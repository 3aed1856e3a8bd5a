"""The conversations of one editor: which session of the vault each is, and the runs in them. Slow to load: `door`
answers an editor before it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import field
from threading import Event
from typing import Literal, TypeAlias

from acp import update_agent_thought_text

from agent.app.agent import build_runs
from agent.asking.proposal import Proposal
from agent.asking.questions.question import Question, read_question
from agent.context.prompt import NOTICE
from agent.dataclass import dataclass
from agent.deeds.conversations import SessionInfo, conversations
from agent.errors import AgentError, UserError
from agent.events.bus import Injection
from agent.events.runs import (
    IterationStarted,
    ModelThought,
    PlanChanged,
    Speaker,
    TaskStarted,
    ToolCallFailed,
    ToolCallStarted,
    ToolCompleted,
)
from agent.interfaces.acp import messages
from agent.interfaces.acp.messages import Asked, Update
from agent.llm.messages import Message, Usage
from agent.llm.presets import ModelKind
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.loop.session_names import session_with
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.captured_files import has_picture, keep_files
from agent.runs.configured_models import configured_models
from agent.runs.crash_recovery import close_cut_off
from agent.runs.decisions import PersonDecision, also_asked, approvals, record_decision
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.texts import Language, Sentence, text, translated
from agent.tools.tool import Draft
from agent.vault.history.commits import read_commits
from agent.vault.history.find import commit_of_call
from agent.vault.history.versions import versions
from agent.vault.waiting import work_of_call
from agent.workspace.catch_up import catch_up, show_nothing
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace

Mode: TypeAlias = Literal["write", "ask"]
"""`ask`: what is asked for in this mode changes no note but its own conversation's."""


@dataclass(slots=True)
class OpenTalk:
    """One conversation in an editor. `path` is its session's note, empty before the first task; `question` the note in
    which the run has asked something, to which the next message is the answer; `show` sends an update to the editor."""

    id: str
    show: Callable[[Update], None]
    path: str = ""
    mode: Mode = "write"
    model: ModelKind = "main"
    question: str = ""
    stop: Event = field(default_factory=Event)
    calls: set[str] = field(default_factory=set)
    """The tool calls that were shown."""
    has_streamed: bool = False
    """True once text of the present step of the run was shown."""

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        if piece:
            self.has_streamed = True
            self.show(messages.agent_text(piece))


CHANNEL = "acp"
YOU = Speaker(CHANNEL)
_VisibleEvent = IterationStarted | ModelThought | PlanChanged | ToolCallStarted | ToolCompleted | ToolCallFailed


@dataclass(slots=True)
class OpenTalks:
    """The open conversations of one editor, on the runs of one vault. Its methods block; call them in threads."""

    runs: RunService
    _by_path: dict[str, OpenTalk] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bus = self.runs.bus
        begun = (IterationStarted, ModelThought, PlanChanged, ToolCallStarted)
        bus.subscribe(self._on_event, *begun, name="editor", priority=-50)
        bus.subscribe(self._on_event, ToolCompleted, ToolCallFailed, name="editor: results", priority=-50)
        bus.subscribe(_look_at_pictures, TaskStarted, name="editor: pictures", timeout=None)

    @property
    def workspace(self) -> Workspace:
        """The vault."""
        return self.runs.workspace

    @property
    def language(self) -> Language:
        """The vault's."""
        return self.workspace.settings.vault.language

    @property
    def models(self) -> Mapping[ModelKind, str]:
        """The names of the models that a conversation may have, each by the first kind of work that it does. Raises
        `ConfigError` for an incomplete configuration."""
        return {kinds[0]: model.name for model, kinds in configured_models(self.workspace).items()}

    def listed(self, most: int) -> Sequence[SessionInfo]:
        """The newest conversations, of all doors."""
        return conversations(self.workspace.vault, most)

    def find(self, id: str) -> str:
        """The path of the session with this id; raises `UserError` without one."""
        path = session_with(self.workspace.vault, id)
        if path is None:
            raise UserError("there is no conversation {id} in this vault", hint="begin a new one", id=id)
        return path

    def history(self, path: str) -> Sequence[Message]:
        """What was said in the session at a path."""
        return load_session(self.workspace.vault, path).history

    def ask(self, conversation: OpenTalk, asked: Asked) -> Ended:
        """The result of a task; to a question that the last run has asked, it is the answer."""
        writes = () if conversation.mode == "ask" else None
        line = self._line(conversation)
        subject = Sentence("messages(kept): {name}", name=f"{len(asked.pictures)} × picture")
        pictures = keep_files(self.workspace, asked.pictures, CHANNEL, subject) if asked.pictures else ()
        task = "\n\n".join(filter(None, (asked.task, *(f"![[{each}]]" for each in pictures))))
        if question := self.open_question(conversation):
            conversation.question = ""
            decision = PersonDecision(question.path, words=question.chosen(task))
            return self.runs.resume(conversation.path, line, lambda: record_decision(self.workspace, decision))
        request = RunRequest(task, YOU, writes=writes, model=conversation.model)
        foreign = f"{CHANNEL}:{asked.foreign}" if asked.foreign else ""
        return self.runs.ask(request, conversation.path, line, foreign, id=conversation.id)

    def go_on(self, conversation: OpenTalk, decided: Mapping[str, bool]) -> Ended:
        """The result of the run that waits, once the answers to the questions with these ids are recorded; without any
        it was decided elsewhere."""

        def record() -> None:
            for id, yes in decided.items():
                record_decision(self.workspace, PersonDecision(id, yes))

        return self.runs.resume(conversation.path, self._line(conversation), record)

    def open_question(self, conversation: OpenTalk) -> Question | None:
        """The question that the last run has asked; None without one."""
        path = conversation.question
        found = read_question(self.workspace.vault, path) if path else None
        return found if found is not None and not found.answer else None

    def asked(self, path: str) -> list[Proposal]:
        """The question in the note at a path, and those that its run asks together with it."""
        first = approvals(self.workspace).find(path)
        return [*filter(None, (first,)), *also_asked(self.workspace, path)]

    def is_open(self, path: str) -> bool:
        """True while nobody has decided what the note at `path` asks for."""
        found = approvals(self.workspace).find(path)
        return found is not None and found.status == "pending"

    def usage(self, ended: Ended) -> Usage:
        """The tokens of a run."""
        return load_session(self.workspace.vault, ended.session).usage_of(ended.run)

    def drafts(self, session: str, call: str) -> tuple[Draft, ...]:
        """The notes that a call which waits would change, before and after; empty where that cannot be shown."""
        found = load_session(self.workspace.vault, session)
        began, wanted = found.open_run, next((each for each in found.open_calls if each.id == call), None)
        if began is None or wanted is None:
            return ()
        context = RunRequest.of(began).context(began.run, session)
        try:
            return self.runs.agent.tools.preview(wanted, context)
        except AgentError:
            return ()

    def what_came(self, ended: Ended) -> Iterator[str]:
        """What the person has to know besides the answer."""
        yield from ended.remarks
        if ended.queued:
            yield translated(ended.queued, self.language)
        if ended.outcome in {RunOutcome.LIMIT, RunOutcome.FAILED}:
            yield translated(ended.reason, self.language)
            yield translated(ended.hint, self.language)

    def _line(self, conversation: OpenTalk) -> RunIO:
        """The connection of a run that begins now to its conversation."""
        conversation.has_streamed = False

        def begin(path: str) -> None:
            conversation.path = path
            self._by_path[path] = conversation

        if conversation.path:
            begin(conversation.path)
        return RunIO(conversation.show_text, conversation.stop.is_set, on_session=begin)

    def _on_event(self, event: _VisibleEvent) -> None:
        conversation = self._by_path.get(event.session)
        if conversation is None:
            return
        root = self.workspace.vault.place.root
        match event:
            case IterationStarted():
                conversation.has_streamed = False
            case ModelThought():
                conversation.show(update_agent_thought_text(event.text))
            case PlanChanged():
                conversation.show(messages.planned(event))
            case ToolCallStarted():
                conversation.show(messages.started(event, root, again=event.call in conversation.calls))
                conversation.calls.add(event.call)
            case ToolCompleted():
                conversation.show(messages.ended(event, self._changed(event), root))
            case ToolCallFailed():
                conversation.show(messages.ended(event, (), root))

    def _changed(self, event: ToolCompleted) -> tuple[Draft, ...]:
        """The notes that a call has changed, before and after."""
        vault = self.workspace.vault
        if held := work_of_call(vault, event.run, event.call):
            blobs = [vault.read_blobs([each.base])[0] if each.base else None for each in held]
            return tuple(Draft(each.path, before, each.data) for each, before in zip(held, blobs, strict=True))
        made = commit_of_call(vault, event.run, event.call)
        return tuple(changes_of(self.workspace, made[0])) if made is not None else ()


def _look_at_pictures(event: TaskStarted) -> tuple[Injection, ...]:
    is_seen = event.speaker.channel == CHANNEL and has_picture(event.task)
    return (Injection(text("messages.picture", "en"), NOTICE),) if is_seen else ()


def changes_of(workspace: Workspace, commit: str) -> Iterator[Draft]:
    """The notes that a commit (a full id) has changed, before and after."""
    vault = workspace.vault
    for file in read_commits(vault, [commit])[0].files:
        before, after = versions(vault, [(f"{commit}^", file.old_path or file.path), (commit, file.path)])
        yield Draft(file.path, before.data if before else None, after.data if after else None)


def open_talks(workspace: Workspace, parts: ExitStack) -> OpenTalks:
    """The talks of one editor; what they need is closed with `parts`."""
    index = parts.enter_context(closing(open_index(workspace)))
    close_cut_off(workspace)
    catch_up(workspace, index, show=show_nothing)
    arrivals_before_a_run(workspace)
    runs = build_runs(workspace, index)
    parts.callback(runs.close)
    return OpenTalks(runs)
