"""The conversations of one editor: which session of the vault each is, and the runs in them."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from threading import Event
from typing import Literal, TypeAlias

from agent.asking.questions.question import Question, read_question
from agent.dataclass import dataclass
from agent.errors import AgentError, UserError
from agent.events.runs import IterationStarted, Speaker, ToolCallFailed, ToolCallStarted, ToolCompleted
from agent.interfaces.acp import messages
from agent.interfaces.acp.messages import Asked, Update
from agent.llm.messages import Message, Usage
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.loop.session_names import session_with
from agent.runs.decisions import GivenDecision, approvals, record_decision
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.texts import Language, translated
from agent.tools.tool import Draft
from agent.vault.history.commits import read_commits
from agent.vault.history.find import commit_of_call
from agent.vault.history.versions import versions
from agent.workspace.workspace import Workspace

CHANNEL = "acp"
YOU = Speaker(CHANNEL)
Mode: TypeAlias = Literal["write", "ask"]
"""`ask`: what is asked for in this mode changes no note but its own conversation's."""
_Shown = IterationStarted | ToolCallStarted | ToolCompleted | ToolCallFailed


@dataclass(slots=True)
class OpenTalk:
    """One conversation in an editor. `path` is its session's note, empty before the first task; `question` the note in
    which the run has asked something, to which the next message is the answer; `show` sends an update to the editor."""

    id: str
    show: Callable[[Update], None]
    path: str = ""
    mode: Mode = "write"
    question: str = ""
    stop: Event = field(default_factory=Event)
    is_shown: bool = False
    """True once text of the present step of the run was shown."""

    def show_text(self, piece: str) -> None:
        """Show the next piece of the model's text."""
        if piece:
            self.is_shown = True
            self.show(messages.agent_text(piece))


@dataclass(slots=True)
class OpenTalks:
    """The open conversations of one editor, on the runs of one vault. Its methods block; call them in threads."""

    runs: RunService
    _by_path: dict[str, OpenTalk] = field(default_factory=dict)

    def __post_init__(self) -> None:
        bus = self.runs.bus
        bus.subscribe(self._on_event, IterationStarted, ToolCallStarted, name="editor", priority=-50)
        bus.subscribe(self._on_event, ToolCompleted, ToolCallFailed, name="editor: results", priority=-50)

    @property
    def workspace(self) -> Workspace:
        """The vault."""
        return self.runs.workspace

    @property
    def language(self) -> Language:
        """The vault's."""
        return self.workspace.settings.vault.language

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
        if question := self.open_question(conversation):
            conversation.question = ""
            given = GivenDecision(question.path, words=_chosen(question, asked.task))
            return self.runs.resume(conversation.path, line, lambda: record_decision(self.workspace, given))
        request = RunRequest(asked.task, YOU, writes=writes)
        foreign = f"{CHANNEL}:{asked.foreign}" if asked.foreign else ""
        return self.runs.ask(request, conversation.path, line, foreign, id=conversation.id)

    def go_on(self, conversation: OpenTalk, decided: Sequence[GivenDecision]) -> Ended:
        """The result of the run that waits, once these decisions are recorded; without any it was decided elsewhere."""

        def record() -> None:
            for each in decided:
                record_decision(self.workspace, each)

        return self.runs.resume(conversation.path, self._line(conversation), record)

    def open_question(self, conversation: OpenTalk) -> Question | None:
        """The question that the last run has asked; None without one."""
        path = conversation.question
        found = read_question(self.workspace.vault, path) if path else None
        return found if found is not None and not found.answer else None

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
        conversation.stop.clear()
        conversation.is_shown = False

        def begin(path: str) -> None:
            conversation.path = path
            self._by_path[path] = conversation

        if conversation.path:
            begin(conversation.path)
        return RunIO(conversation.show_text, conversation.stop.is_set, on_session=begin)

    def _on_event(self, event: _Shown) -> None:
        conversation = self._by_path.get(event.session)
        if conversation is None:
            return
        root = self.workspace.vault.place.root
        match event:
            case IterationStarted():
                conversation.is_shown = False
            case ToolCallStarted():
                conversation.show(messages.started(event, root))
            case ToolCompleted():
                conversation.show(messages.ended(event, self._changed(event), root))
            case ToolCallFailed():
                conversation.show(messages.ended(event, (), root))

    def _changed(self, event: ToolCompleted) -> tuple[Draft, ...]:
        """The notes that a call has changed, before and after."""
        vault = self.workspace.vault
        made = commit_of_call(vault, event.run, event.call)
        if made is None:
            return ()
        return tuple(changes_of(self.workspace, made[0]))


def changes_of(workspace: Workspace, commit: str) -> Iterator[Draft]:
    """The notes that a commit (a full id) has changed, before and after."""
    vault = workspace.vault
    for file in read_commits(vault, [commit])[0].files:
        before, after = versions(vault, [(f"{commit}^", file.old_path or file.path), (commit, file.path)])
        yield Draft(file.path, before.data if before else None, after.data if after else None)


def _chosen(question: Question, words: str) -> str:
    """The option that a number stands for; else the words."""
    by_number = dict(enumerate(question.options, 1))
    return by_number.get(int(words), words) if words.isdecimal() else words
