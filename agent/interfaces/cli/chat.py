"""`vault-agent chat`: a conversation with the agent in one session, from a terminal or a pipe.

Sessions and runs are left to `app.runs`, the slash commands to `chat_commands`.

The last exchanges of a session, shortened: for a person who takes up a conversation.

The messages of a chat: from a terminal, with editing and history, or from a pipe; on a terminal also during a run.

A message typed during a run goes to the run's mailbox; a slash command waits until the end of the run. A pipe is read
one line at a time, between runs, so the order of messages does not depend on speed. Editing is left to
`terminal.editor`.
"""

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from agent.app.agent import build_runs
from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.events.runs import Speaker
from agent.interfaces.cli.chat_commands import COMMANDS, ChatState
from agent.interfaces.cli.decide import resume_after, settle
from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.foreground import foreground, stopped_by_ctrl_c, update_index
from agent.interfaces.cli.language import tr
from agent.interfaces.cli.news import NoticeNews, open_news, show_skill_news
from agent.interfaces.cli.output import CommandFailed, Output, say, to_json
from agent.interfaces.cli.printing import can_draw, show
from agent.interfaces.cli.prompt import keyboard
from agent.interfaces.cli.run_messages import EXIT_CODES, check_whole
from agent.interfaces.cli.run_report import failure, queued, refused, run_document, until_then, why
from agent.interfaces.cli.screen import Screen
from agent.llm.messages import Assistant, User
from agent.loop.mailbox import Mailbox
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.records import Began, RunRequest, Spoken
from agent.loop.session import Session, load_session
from agent.runs.arrivals import arrivals_before_a_run
from agent.runs.crash_recovery import close_cut_off
from agent.runs.decisions import PersonDecision
from agent.runs.run_io import RunIO
from agent.runs.service import RunService
from agent.texts import text
from agent.vault.layout import CHAT_HISTORY
from agent.workspace.search_index import SearchIndex, open_index
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.interfaces.cli.terminal.editor import LineEditor

SHOWN = 2
"""Exchanges: enough to know where the talk was, on half a screen."""
_ASKED, _ANSWERED = 200, 500
"""The most characters of a message and of its answer."""


def last_exchanges(session: Session) -> list[tuple[str, str]]:
    """The last messages of people with the answers, oldest first; an answer is empty if there was none. Not the tasks
    of jobs that went on in the session.

    A message that got no answer and was sent again is there once.
    """
    found: list[tuple[str, str]] = []
    is_of_job = False
    for record in session.records:
        match record.event:
            case Began(job=job):
                is_of_job = bool(job)
            case _ if is_of_job:
                pass
            case Spoken(User(text=asked)):
                exchange = (beginning(" ".join(asked.split()), _ASKED), "")
                found += [exchange] if found[-1:] != [exchange] else []
            case Spoken(Assistant(text=answered)) if answered.strip() and found:
                found[-1] = (found[-1][0], beginning(answered.strip(), _ANSWERED))
            case _:
                pass
    return found[-SHOWN:]


def beginning(text: str, most: int) -> str:
    """The text, or its beginning up to a word's end if it is longer; `most` counts characters."""
    if len(text) <= most:
        return text
    words = text[:most].rpartition(" ")[0]
    return f"{words if len(words) > most // 2 else text[:most]} …"


@dataclass(slots=True)
class ChatInput:
    """Standard input, message by message. The file `history` keeps those of a terminal; a pipe has no history.

    `commands` are the slash commands, for completion.
    """

    terminal: bool
    history: Path
    commands: Sequence[str] = ()
    _waiting: deque[str] = field(default_factory=deque)
    _editor: "LineEditor | None" = None

    def open(self) -> None:
        """Load the history and enable editing, on a terminal that can be drawn on."""
        if self.terminal and can_draw():
            module = import_module("agent.interfaces.cli.terminal.editor")  # prompt_toolkit is slow to load
            self._editor = cast("LineEditor", module.LineEditor(self.history, self.commands))

    def line(self, prompt: str, tell: Callable[[], Callable[[], object] | None] | None = None) -> str:
        """The next message; on a terminal, `tell` is asked meanwhile whether there is news, and returns what prints it.
        Raises `EOFError` at the end, `KeyboardInterrupt` on Ctrl-C."""
        if self._waiting:
            return self._waiting.popleft()
        if self._editor is None:
            if self.terminal:
                show(prompt, end="")
            raw = sys.stdin.buffer.readline()
            if not raw:
                raise EOFError
            return raw.decode("utf-8", "replace").rstrip("\r\n")
        return self._editor.line(prompt, tell)

    @contextmanager
    def listening(
        self, mailbox: Mailbox, seen: Callable[[str], object], sent: Callable[[str], object]
    ) -> Iterator[None]:
        """Send messages typed meanwhile to `mailbox` and to `sent`, and the one that is being typed to `seen`.

        Messages that the run has not used become the next ones, and an unfinished one the beginning of the next.
        """
        if self._editor is None:
            yield
            return

        def take(text: str) -> None:
            if text.startswith("/"):
                self._waiting.append(text)
            else:
                mailbox.put(User(text))
            sent(text)

        try:
            with self._editor.typed_meanwhile(take, seen):
                yield
        finally:
            seen("")
            while (left := mailbox.first()) is not None:
                self._waiting.append(left.text)


YOU = Speaker("cli")
_LAST = "the last one"


@click.command(epilog=EXIT_CODES)
@click.option(
    "--resume",
    is_flag=False,
    flag_value=_LAST,
    default="",
    metavar="[PATH]",
    help="Go on in the last session, or in the one at PATH.",
)
@in_vault
def command(output: Output, workspace: Workspace, resume: str) -> None:
    """Talk with the agent in one session. /help lists the commands of the chat itself.

    Ctrl-C stops the current run and keeps the session; a second one, Ctrl-D or /quit ends the chat. What you type
    during a run reaches the agent at its next step; a pasted block is one message. From a pipe each line is a message;
    the first run that fails ends the chat, and a run that a limit stopped makes it exit with 1.
    """
    with closing(open_index(workspace)) as index:
        close_cut_off(workspace)
        if arrived := arrivals_before_a_run(workspace):
            output.note(arrived)
        agent = build_runs(workspace, index)
        here = foreground(agent, output)
        lines = ChatInput(here.asks, workspace.vault.private_folder / CHAT_HISTORY, [*COMMANDS, "/continue", "/quit"])
        chat = Chat(workspace, agent, index, output, lines, here.screen)
        with here.closing():
            chat.begin(resume)
            chat.talk()
    show_skill_news(workspace, output)


@dataclass(slots=True)
class Chat:
    """One chat. `state.session` is the session's path, empty before the first message of a new one."""

    workspace: Workspace
    agent: RunService
    index: SearchIndex
    output: Output
    lines: ChatInput
    screen: Screen
    state: ChatState = field(init=False)
    news: NoticeNews | None = None
    """What is sent while the chat is open; None for a chat from a pipe."""
    over: bool = False
    index_lag: str | None = None
    """Why the index is behind, None if it is not."""
    interrupted: bool = False
    """True after a Ctrl-C, until the next message."""
    ended: list[Ended] = field(default_factory=list)
    """The runs of a chat from a pipe."""

    def __post_init__(self) -> None:
        self.state = ChatState(self.workspace, self.agent)

    def begin(self, resume: str) -> None:
        """Greet, and resume the requested session unless it is stale."""
        self.lines.open()
        self.news = open_news(self.workspace) if self.lines.terminal else None
        language = self.state.language
        model = self.agent.account.models.main.model
        status = text("chat.model", language, name=model.name) if model.present else text("chat.no_model", language)
        if resume:
            session = load_session(self.workspace.vault, resume) if resume != _LAST else self.agent.last_session(YOU)
            if session is None:
                status += text("chat.no_session", language)
            elif self.agent.is_stale(session):
                status += text("chat.resumed_stale", language, path=session.path)
            else:
                self.state.session = session.path
                status += text("chat.resumed", language, path=session.path)
        if self.lines.terminal or resume:
            self.output.note(text("chat.start", language, status=status))
        if self.lines.terminal and self.state.session:
            say("")
            for asked, answered in last_exchanges(load_session(self.workspace.vault, self.state.session)):
                self.screen.show_exchange(asked, answered)
        began = load_session(self.workspace.vault, self.state.session).open_run if self.state.session else None
        if began is not None:
            self.output.note(text("chat.unfinished", language, task=began.task[:80]))

    def talk(self) -> None:
        """Process one line after the other until the end of the chat.

        A second Ctrl-C without a message between ends it, also one that comes while the hint is shown.
        """
        hint = False
        while not self.over:
            try:
                if hint:
                    hint = False
                    say(text("chat.how_to_end", self.state.language))
                show_skill_news(self.workspace, self.output)
                line = self.lines.line("\n> ", self.news.look if self.news else None).strip()
            except EOFError:
                if self.lines.terminal:
                    say("")  # the prompt's line is not ended yet
                break
            except KeyboardInterrupt:
                self.over, self.interrupted, hint = self.interrupted, True, True
                continue
            if line:
                self.interrupted = False
                self._take(line)
        if self.state.session:
            self.agent.close_session(self.state.session, "closed")
            self.output.note(text("chat.session", self.state.language, path=self.state.session))
        check_whole(*self.ended)

    def _take(self, line: str) -> None:
        """Carry out a slash command or send a message; on a terminal an error is shown and the chat goes on."""
        try:
            if line.startswith("/"):
                self._command(line)
            else:
                self.send(line)
        except AgentError as error:
            if not self.lines.terminal:
                raise
            say(text("chat.error", self.state.language, error=tr(error.message)))
            if error.hint:
                say(text("chat.hint", self.state.language, hint=tr(error.hint)))
        except KeyboardInterrupt:
            close_cut_off(self.workspace)
            say(text("chat.stopped", self.state.language))
            self.over = True

    def send(self, message: str) -> None:
        """Send a person's message to the agent."""
        path = self.state.session
        if path and self.agent.is_stale(load_session(self.workspace.vault, path)):
            self.output.note(text("chat.stale", self.state.language, path=path))
            path = ""
        self._update_index()
        self._finish(self._run(lambda line: self.agent.ask(RunRequest(message, YOU), path, line)))

    def _update_index(self) -> None:
        """Update the index; why it stays behind is said once."""
        self.index_lag = update_index(self.workspace, self.index, self.output, self.index_lag)

    def _command(self, line: str) -> None:
        name, _, rest = line.partition(" ")
        name = name.lower()
        if name in ("/quit", "/exit"):
            self.over = True
        elif name == "/continue":
            self._resume()
        elif name in COMMANDS:
            if name == "/recall":
                self._update_index()
            self._show(COMMANDS[name](self.state, rest.strip()))
        else:
            self._show(text("chat.no_command", self.state.language, name=name))

    def _resume(self) -> None:
        if not self.state.session or load_session(self.workspace.vault, self.state.session).open_run is None:
            self._show(text("chat.nothing_to_resume", self.state.language))
            return
        self._finish(self._run(lambda line: self.agent.resume(self.state.session, line)))

    def _run(self, begin: Callable[[RunIO], Ended]) -> Ended:
        """The result of one run; the person may type messages and press Ctrl-C meanwhile."""
        mailbox = Mailbox()
        with (
            stopped_by_ctrl_c() as stop,
            self.screen.running(stop),
            self.lines.listening(mailbox, self.screen.show_typed, self.screen.show_sent),
        ):
            ended = begin(RunIO(self.screen.show_text, stop, mailbox))
            self.screen.show_rest(ended.answer)
        self.over, self.interrupted = self.over or stop.ends_program, stop()
        self.state.session = ended.session
        return ended

    def _finish(self, ended: Ended) -> None:
        """Ask the person for the decision that a run waits for, then show how the run ended."""
        if self.lines.terminal and not self.over:

            def go_on(session: str, decision: PersonDecision) -> Ended:
                return self._run(lambda line: resume_after(self.agent, session, decision, line))

            ended = settle(self.workspace, ended, keyboard, go_on)
        if ended.outcome is RunOutcome.FAILED and not self.lines.terminal:
            if ended.is_quoted and not self.output.json:
                show(ended.answer)
            raise CommandFailed(failure(ended), run_document(self.agent, ended))
        if not self.lines.terminal:
            self.ended.append(ended)
        if self.output.json:
            show(to_json({"ok": True, **run_document(self.agent, ended)}))
            return
        if not self.screen.live:
            show(ended.answer)
        remarks = self._remarks(ended)
        if remarks and self.screen.live:
            say("")
        for line in remarks:
            self.output.note(line)

    def _show(self, words: str) -> None:
        if self.output.json:
            show(to_json({"ok": True, "text": words}))
        else:
            self.output.emit({}, words)

    def _remarks(self, ended: Ended) -> list[str]:
        """The lines below an answer: the changes made, what was refused, and the reason for a stop."""
        language = self.state.language
        lines = [text("chat.change", language)] if ended.is_changed else []
        lines += [*queued(ended, language), *ended.remarks, *refused(ended, language), *until_then(ended, language)]
        lines += why(ended, self.workspace) if ended.outcome is not RunOutcome.FINISHED else []
        return [*lines, text("chat.can_resume", language)] if ended.outcome.can_go_on else lines
