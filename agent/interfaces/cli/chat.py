"""`vault-agent chat`: a conversation with the agent in one session, from a terminal or a pipe.

What a session is and how a run goes belongs to `app.runs`; the words with a slash are in `chat_words`.
"""

from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, field

import click

from agent.app.arrivals import arrivals_before_a_run
from agent.app.build import App, build
from agent.app.cut_off import close_cut_off
from agent.app.library import Library, library
from agent.app.runs import Line, Runs, runs
from agent.errors import AgentError
from agent.events.runs import Speaker
from agent.interfaces.cli.answered import answered, failure, queued, why
from agent.interfaces.cli.chat_words import WORDS, Place
from agent.interfaces.cli.decide import settle
from agent.interfaces.cli.interrupt import stopped_by_ctrl_c
from agent.interfaces.cli.keys import Keys
from agent.interfaces.cli.output import Failed, Output, say, to_json
from agent.interfaces.cli.printing import show
from agent.interfaces.cli.prompt import keyboard
from agent.interfaces.cli.screen import Screen, is_terminal
from agent.interfaces.cli.search import catch_up
from agent.loop.mailbox import Mailbox
from agent.loop.outcome import Ended, RunOutcome
from agent.loop.run import RunRequest
from agent.loop.session import load_session

YOU = Speaker("cli")
_LAST = "the last one"


@click.command(short_help="Talk with the agent.")
@click.option(
    "--resume",
    is_flag=False,
    flag_value=_LAST,
    default="",
    metavar="[PATH]",
    help="Go on in the last session, or in the one at PATH.",
)
@click.pass_obj
def command(output: Output, resume: str) -> None:
    """Talk with the agent in one session. /help lists the words that are for the chat itself.

    Ctrl-C stops what the agent is doing and keeps the session; Ctrl-D or /quit ends. Lines that you type while it works
    reach it at its next step. From a pipe each line is a message; the first run that fails ends the chat.
    """
    app = build(output.vault())
    with closing(library(app)) as index:
        close_cut_off(app)
        if arrived := arrivals_before_a_run(app):
            output.note(arrived)
        with closing(runs(app, index)) as agent:
            live = is_terminal() and not output.json
            keys = Keys(live, app.directories.state / "chat_history")
            chat = Chat(app, agent, index, output, keys, Screen(live))
            chat.screen.watch(agent.bus)
            chat.begin(resume)
            chat.talk()


@dataclass(slots=True)
class Chat:
    """One chat. `place.session` is the session's path, empty before the first message of a new one."""

    app: App
    agent: Runs
    index: Library
    output: Output
    keys: Keys
    screen: Screen
    place: Place = field(init=False)
    over: bool = False

    def __post_init__(self) -> None:
        self.place = Place(self.app, self.agent)

    def begin(self, resume: str) -> None:
        """Say where we are; take up the session that is wanted unless it is stale."""
        self.keys.open()
        model = self.agent.account.models.main.model
        tell = self.place.said
        said = tell("model", name=model.name) if self.agent.present else tell("no model")
        if resume:
            session = load_session(self.app.vault, resume) if resume != _LAST else self.agent.last_session(YOU)
            if session is None:
                said += tell("no session")
            elif self.agent.is_stale(session):
                said += tell("was silent", path=session.path)
            else:
                self.place.session = session.path
                said += tell("going on", path=session.path)
        if self.keys.terminal or resume:
            self.output.note(tell("how", said=said))
        if self.place.session:
            self._take_up_what_waits()

    def talk(self) -> None:
        """Take one line after the other until the end."""
        while not self.over:
            try:
                text = self.keys.line("> ").strip()
            except EOFError:
                if self.keys.terminal:
                    say("")  # the prompt's line is still open
                break
            except KeyboardInterrupt:
                say(f"\n{self.place.said('ends')}")
                continue
            if text:
                self._take(text)
        if self.place.session:
            self.agent.close_session(self.place.session, "closed")
            self.output.note(self.place.said("session", path=self.place.session))

    def _take(self, text: str) -> None:
        """A word for the chat or a message; on a terminal, what goes wrong is said and the chat goes on."""
        try:
            if text.startswith("/"):
                self._word(text)
            else:
                self.say(text)
        except AgentError as error:
            if not self.keys.terminal:
                raise
            say(self.place.said("error", error=error.message))
            if error.hint:
                say(self.place.said("hint", hint=error.hint))
        except KeyboardInterrupt:
            close_cut_off(self.app)
            say(self.place.said("stopped"))

    def say(self, text: str) -> None:
        """A message from the person."""
        path = self.place.session
        if path and self.agent.is_stale(load_session(self.app.vault, path)):
            self.output.note(self.place.said("silent", path=path))
            path = ""
        late = catch_up(self.app, self.index)
        if late:
            self.output.note(self.place.said("search", why=late))
        self._tell(self._going(lambda line: self.agent.ask(RunRequest(text, YOU), path, line)))

    def _word(self, text: str) -> None:
        name, _, rest = text.partition(" ")
        name = name.lower()
        if name in ("/quit", "/exit"):
            self.over = True
        elif name == "/continue":
            self._resume()
        elif name in WORDS:
            if name == "/recall":
                catch_up(self.app, self.index)
            self._show(WORDS[name](self.place, rest.strip()))
        else:
            self._show(self.place.said("no word", name=name))

    def _resume(self) -> None:
        if not self.place.session or load_session(self.app.vault, self.place.session).open_run is None:
            self._show(self.place.said("nothing to go on"))
            return
        self._tell(self._going(lambda line: self.agent.resume(self.place.session, line)))

    def _take_up_what_waits(self) -> None:
        began = load_session(self.app.vault, self.place.session).open_run
        if began is not None:
            self.output.note(self.place.said("not finished", task=began.task[:80]))

    def _going(self, begin: Callable[[Line], Ended]) -> Ended:
        """Let a run go while the person may type and press Ctrl-C."""
        mailbox = Mailbox()
        with self.keys.listening(mailbox), stopped_by_ctrl_c() as stop:
            ended = begin(Line(self.screen.text, stop, mailbox))
        self.over = self.over or stop.for_good
        self.screen.whole(ended.answer)
        self.place.session, self.place.run = ended.session, ended.run
        return ended

    def _tell(self, ended: Ended) -> None:
        """What is to be said when a run has stopped, having asked for what it waits for."""
        if self.keys.terminal and not self.over:
            resume = self.agent.resume
            ended = settle(
                self.agent,
                ended,
                keyboard,
                lambda path, first: self._going(lambda line: resume(path, line, first)),
            )
        if ended.outcome is RunOutcome.FAILED and not self.keys.terminal:
            raise Failed(failure(ended), answered(self.agent, ended))
        if self.output.json:
            show(to_json({"ok": True, **answered(self.agent, ended)}))
            return
        if not self.screen.live:
            show(ended.answer)
        for line in self._short(ended):
            self.output.note(line)

    def _show(self, text: str) -> None:
        if self.output.json:
            show(to_json({"ok": True, "text": text}))
        else:
            self.output.emit({}, text)

    def _short(self, ended: Ended) -> list[str]:
        """What there is to say besides the answer."""
        tell, count = self.place.said, len(ended.commits)
        lines = why(ended, self.app.settings.vault.language) if ended.outcome is not RunOutcome.FINISHED else []
        lines += [tell("continue")] if ended.outcome.can_go_on else []
        lines += [tell("changes", count=count, s="" if count == 1 else "s")] if count else []
        return [*lines, *queued(ended, self.app.settings.vault.language)]
