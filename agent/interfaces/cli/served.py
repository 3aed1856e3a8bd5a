"""What the daemon does for the command line on its Unix socket: it answers commands for `entry` by their own code,
printed into memory instead of on a terminal, carries out runs that a command shows (`runs_in_daemon`), and searches for
the servers of other programs (`mcp`), in the index that it has open already.

It refuses where the command's own process would answer otherwise: another version, other settings, other variables. A
run ends when its reader leaves, as it would with the command's own process.
"""

import base64
import json
import os
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import copy_context
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from io import StringIO
from pathlib import Path

from agent.background.asked_runs import AskedRun, ModelText, RunFailed, RunNews
from agent.config.directories import VAULT_FILE
from agent.config.private import make_folder
from agent.config.private import replace as replace_file
from agent.daemon import Live
from agent.dataclass import dataclass
from agent.errors import AgentError, Stopping
from agent.events.runs import Speaker, TaskStarted
from agent.index.query import SearchResult
from agent.interfaces.cli.entry import DRAWING, PATH, pointer, relevant, served_command, version
from agent.interfaces.cli.host import Host, run_in
from agent.interfaces.cli.language import asks_json, speak_here, speaking, terminal_language, tr
from agent.interfaces.cli.main import relayed_error, run_command
from agent.interfaces.cli.printing import print_on
from agent.interfaces.cli.run_messages import RUN_PATH, SILENT, as_message, error_message, event_message
from agent.interfaces.cli.run_report import summary_of
from agent.interfaces.http.command_line import (
    Caller,
    CommandLine,
    Printed,
    RunCommand,
    RunMessage,
    SearchAsked,
    SearchFound,
    TakenRun,
    Tell,
    command_operation,
    run_stream,
    search_operation,
)
from agent.interfaces.http.operation import Operation
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service
from agent.interfaces.mcp.search_process import Found, find_in
from agent.interfaces.mcp.searches import DAEMON_PATH, SearchFailure, SearchQuestion, settings_of
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.runs.crash_recovery import close_cut_off
from agent.runs.decisions import PersonDecision, record_decision
from agent.runs.recall_source import RecallSource, recall_source
from agent.runs.report import RunReport
from agent.runs.run_io import RunIO
from agent.runs.service import RunService, do_nothing
from agent.skills.learning.offer_news import has_news
from agent.texts import Language
from agent.vault.find import files_named
from agent.workspace.catch_up import catch_up
from agent.workspace.daemon_socket import program_identity
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class Callers:
    """The commands that this daemon answers as their own process would: those that agree with it as it was started, in
    `version`, `settings` and `environ`."""

    workspace: Workspace
    version: list[str | int]
    settings: list[tuple[int, int]]
    environ: Mapping[str, str]

    @classmethod
    def of(cls, workspace: Workspace) -> "Callers":
        """Those that agree with this process as it is now."""
        return cls(workspace, version(), _settings(workspace), relevant(os.environ))

    def check(self, caller: Caller, *, draws: bool = False) -> None:
        """Raise `RequestRefused` for one that would answer otherwise; one that `draws` may have another terminal."""
        unseen = DRAWING if draws else ()
        has, wants = (
            {name: value for name, value in each.items() if name not in unseen}
            for each in (self.environ, caller.environ)
        )
        is_same = (has, self.version, self.settings) == (wants, caller.version, _settings(self.workspace))
        if not is_same or caller.root != os.path.realpath(self.workspace.vault.place.root):
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to answer this command")

    @property
    def has_same_settings(self) -> bool:
        """True if no file of settings has changed since the daemon was started."""
        return self.settings == _settings(self.workspace)

    def language(self, caller: Caller, *, is_document: bool) -> Language:
        """The language in which the caller is told what there is to tell."""
        found = terminal_language(["--vault", caller.root], {**caller.environ, **caller.locale})
        return "en" if is_document else found


def _settings(workspace: Workspace) -> list[tuple[int, int]]:
    """What differs when the settings are changed: when each of their files was, and its size."""
    places = workspace.directories
    vault = workspace.vault
    files = (vault.place.root / VAULT_FILE, places.settings_file, places.settings_of(vault.id), places.keys)
    return [_stamp(each) for each in files]


def _stamp(path: Path) -> tuple[int, int]:
    try:
        found = path.stat()
    except OSError:
        return (0, 0)
    return (found.st_mtime_ns, found.st_size)


def run_route(callers: Callers) -> Operation:
    """The stream of a run for a command, whose work goes on in the daemon's pool."""

    def take(service: Service, asked: RunCommand, tell: Tell) -> TakenRun:
        callers.check(asked, draws=True)
        if service.index.index.chosen.notice:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to say why search uses another model")
        language = callers.language(asked, is_document=asked.is_document)
        may_begin = threading.Event()
        run = _submit(service, asked, language, tell, may_begin)
        tell(("begun", {"run": run.id, "language": service.workspace.settings.vault.language}))
        leave = _pass_on(service, asked, run, language, tell)

        def gone() -> None:
            leave()
            run.stop()
            may_begin.set()

        return TakenRun(may_begin.set, gone)

    return run_stream(RUN_PATH, take)


def _submit(
    service: Service, asked: RunCommand, language: Language, tell: Tell, may_begin: threading.Event
) -> AskedRun:
    """Have the pool do the run, from when it `may_begin`; raises `UserError` if too many go on."""

    def work(runs: RunService, line: RunIO) -> Ended:
        model = runs.account.models.main.model
        may_begin.wait()
        if line.cancelled():
            raise Stopping("nobody has waited for it")
        tell(("model", {"name": model.name if model.present else ""}))
        close_cut_off(runs.workspace)
        if asked.resume:
            decision = asked.given and PersonDecision(asked.given.asked, asked.given.yes, asked.given.words)
            record = partial(record_decision, runs.workspace, decision) if decision else do_nothing
            return runs.resume(asked.resume, line, record)
        speaker = Speaker(asked.channel, asked.sender, asked.group)
        session = asked.session
        if session and runs.is_stale(load_session(runs.workspace.vault, session)):
            tell(("note", {"text": speaking(language, partial(tr, SILENT, session=session))}))
            session = ""
        return runs.ask(RunRequest(asked.task, speaker, asked.role), session, line, asked.untrusted)

    return service.runs.begin(asked.task, asked.session or asked.resume, work, resumed=bool(asked.resume))


def _pass_on(
    service: Service, asked: RunCommand, run: AskedRun, language: Language, tell: Tell
) -> Callable[[], object]:
    """Tell what is new of a run, all of it however slow its reader is; the result ends that."""
    vault = service.workspace.vault
    last, lock = 0, threading.Lock()

    def take() -> None:
        nonlocal last
        with lock:
            over = run.news.closed
            for item in run.news.after(last):
                last = item.number
                tell(_message(item.event, language, service.workspace))
            if over:
                tell(("closed", {"news": not asked.is_document and has_news(vault)}))
                tell(None)

    leave = run.news.listen(take)
    take()
    return leave


def _message(news: RunNews, language: Language, workspace: Workspace) -> RunMessage:
    """The event of what is new, for a reader of this language."""
    match news:
        case ModelText():
            return "text", {"text": news.text}
        case TaskStarted():
            return "started", {"session": news.session}
        case RunReport():
            summary = speaking(language, lambda: summary_of(news, workspace))
            failure = summary.failure and speaking(language, partial(relayed_error, summary.failure))
            return "ended", as_message(replace(summary, failure=failure))
        case RunFailed():
            error = news.error or Stopping(news.reason)
            return "failed", error_message(speaking(language, partial(relayed_error, error)))
        case _:
            return event_message(news)


def search_route(callers: Callers, known_files: Callable[[], Iterable[str]]) -> Operation:
    """The operation of a daemon that searches with the settings that it was started with, and knows all files."""
    started = (program_identity(), settings_of(os.environ))
    opened: list[RecallSource] = []

    def answer(service: Service, asked: SearchAsked) -> SearchFound:
        if (asked.version, asked.environ) != started or not callers.has_same_settings:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to search")
        question = SearchQuestion(asked.text, asked.limit, asked.memories, asked.channel, asked.run)
        with service.index.held() as index:
            if not opened:
                opened.append(recall_source(service.workspace, index))
            found: Found | SearchFailure
            try:
                late = catch_up(service.workspace, index)
                found = find_in(service.workspace, opened[0], question, late)
                if isinstance(found, SearchResult) and late is None:
                    named = files_named(service.workspace.vault, question.text, known_files())
                    found = replace(found, files=tuple(named))
            except AgentError as error:
                found = SearchFailure(str(error.message), str(error.hint))
        return SearchFound(base64.b64encode(pickle.dumps(found)).decode())

    return search_operation(DAEMON_PATH, answer)


class CapturedStream(StringIO):
    """A stream that is printed on elsewhere: on a terminal of this size, or on none."""

    def __init__(self, size: list[int]) -> None:
        super().__init__()
        self.terminal_size = os.terminal_size((size[0], size[1])) if len(size) == 2 else None

    @property
    def encoding(self) -> str:  # type: ignore[override]  # the base class has a plain attribute
        return "utf-8"

    def isatty(self) -> bool:
        return self.terminal_size is not None


def own_routes(live: Live) -> tuple[Operation, ...]:
    """What a daemon answers for the command line, with the settings that it has now."""
    callers = Callers.of(live.workspace)
    return command_route(callers), run_route(callers), search_route(callers, live.lookout.paths)


def command_route(callers: Callers) -> Operation:
    """The operation that answers commands at once."""

    def answer(service: Service, asked: CommandLine) -> Printed:
        callers.check(asked)
        if served_command(asked.args) is None:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to answer this command")
        out, err = CapturedStream(asked.terminals[0]), CapturedStream(asked.terminals[1])

        def run() -> int:
            print_on(out, err)
            speak_here(callers.language(asked, is_document=asks_json(asked.args)))
            run_in(Host(service.workspace, service.index.index, service.index.held))
            return run_command(asked.args)

        code = copy_context().run(run)
        return Printed(out.getvalue(), err.getvalue(), code)

    return command_operation(PATH, answer)


@contextmanager
def answering(workspace: Workspace) -> Iterator[None]:
    """Let `entry` find this vault's daemon, in this block."""
    root = os.path.realpath(workspace.vault.place.root)
    file = Path(pointer(str(workspace.directories.state), root))
    make_folder(file.parent)
    replace_file(file, json.dumps({"root": root, "folder": str(workspace.vault.private_folder)}))
    try:
        yield
    finally:
        file.unlink(missing_ok=True)
