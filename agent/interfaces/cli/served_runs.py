"""Runs that the daemon does for a command at a terminal or in a pipe, which shows them (`runs_in_daemon`).

A run ends when its reader leaves, as it would with the command's own process. What is said of it is in the language of
the reader.
"""

import threading
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from http import HTTPStatus

from agent.background.asked_runs import AskedRun, ModelText, RunFailed, RunNews
from agent.errors import Stopping
from agent.events.runs import Speaker, TaskStarted
from agent.interfaces.cli.callers import Callers
from agent.interfaces.cli.language import said, speaking
from agent.interfaces.cli.main import told
from agent.interfaces.cli.run_messages import RUN_PATH, SILENT, event_message
from agent.interfaces.cli.run_report import summary_of
from agent.interfaces.cli.run_summary import as_message, told_message
from agent.interfaces.http.command_line import RunCommand, RunMessage, TakenRun, Tell, run_stream
from agent.interfaces.http.operation import Operation
from agent.interfaces.http.problems import RequestRefused
from agent.interfaces.http.service import Service
from agent.loop.outcome import Ended
from agent.loop.records import RunRequest
from agent.loop.session import load_session
from agent.runs.crash_recovery import close_cut_off
from agent.runs.decisions import GivenDecision, record_decision
from agent.runs.report import RunReport
from agent.runs.run_io import RunIO
from agent.runs.service import RunService, do_nothing
from agent.skills.learning.offer_news import has_news
from agent.texts import Language


def run_route(callers: Callers) -> Operation:
    """The stream of a run for a command, whose work goes on in the daemon's pool."""

    def take(service: Service, asked: RunCommand, tell: Tell) -> TakenRun:
        callers.check(asked, draws=True)
        if service.index.index.chosen.notice:
            raise RequestRefused(HTTPStatus.CONFLICT, "another process has to say why search uses another model")
        told_in = callers.language(asked, is_document=asked.is_document)
        may_begin = threading.Event()
        run = _submit(service, asked, told_in, tell, may_begin)
        tell(("begun", {"run": run.id, "language": service.workspace.settings.vault.language}))
        leave = _pass_on(service, asked, run, told_in, tell)

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
            given = asked.given and GivenDecision(asked.given.asked, asked.given.yes, asked.given.words)
            record = partial(record_decision, runs.workspace, given) if given else do_nothing
            return runs.resume(asked.resume, line, record)
        speaker = Speaker(asked.channel, asked.sender, asked.group)
        session = asked.session
        if session and runs.is_stale(load_session(runs.workspace.vault, session)):
            tell(("note", {"text": speaking(language, partial(said, SILENT, session=session))}))
            session = ""
        return runs.ask(RunRequest(asked.task, speaker, asked.role), session, line, asked.untrusted)

    return service.runs.begin(asked.task, asked.session or asked.resume, work, resumed=bool(asked.resume))


def _pass_on(
    service: Service, asked: RunCommand, run: AskedRun, language: Language, tell: Tell
) -> Callable[[], object]:
    """Tell what is new of a run, all of it however slow its reader is; the result ends that."""
    of_vault, vault = service.workspace.settings.vault.language, service.workspace.vault
    last, lock = 0, threading.Lock()

    def take() -> None:
        nonlocal last
        with lock:
            over = run.news.closed
            for item in run.news.after(last):
                last = item.number
                tell(_message(item.event, language, of_vault))
            if over:
                tell(("closed", {"news": not asked.is_document and has_news(vault)}))
                tell(None)

    leave = run.news.listen(take)
    take()
    return leave


def _message(news: RunNews, language: Language, settings: Language) -> RunMessage:
    """The event of what is new, for a reader of this language; `settings` is that of the vault."""
    match news:
        case ModelText():
            return "text", {"text": news.text}
        case TaskStarted():
            return "started", {"session": news.session}
        case RunReport():
            summary = speaking(language, lambda: summary_of(news, settings))
            failure = summary.failure and speaking(language, partial(told, summary.failure))
            return "ended", as_message(replace(summary, failure=failure))
        case RunFailed():
            error = news.error or Stopping(news.reason)
            return "failed", told_message(speaking(language, partial(told, error)))
        case _:
            return event_message(news)
