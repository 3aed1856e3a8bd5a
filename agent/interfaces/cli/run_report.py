"""The lines below the answer of a run, for people, and the exit code of its outcome."""

from agent.errors import AgentError
from agent.interfaces.cli.output import CheckFailed, exit_codes
from agent.loop.outcome import Ended, RunOutcome
from agent.runs.report import report
from agent.runs.service import RunService
from agent.texts import Language, text

EXIT_CODES = exit_codes("a limit stopped the run: its answer is not whole")
"""The closing lines in the help of a command that reports a run."""


def document(agent: RunService, ended: Ended, *, resumed: bool = False) -> dict[str, object]:
    """The report of a run for `--json`."""
    spent = agent.account.spent(ended.run.partition(".")[0])
    return report(ended, spent, agent.workspace.vault, resumed=resumed).as_document()


def remarks(ended: Ended, language: Language) -> list[str]:
    """The lines below an answer: the reason for a stop, how to continue, the changes made, and the session."""
    lines = why(ended, language) if ended.outcome not in {RunOutcome.FINISHED, RunOutcome.FAILED} else []
    lines += [text("run_report.resume", language, session=ended.session)] if ended.outcome.can_go_on else []
    if len(ended.commits) == 1:
        lines.append(text("run_report.change", language, run=ended.run))
    elif ended.commits:
        lines.append(text("run_report.changes", language, count=len(ended.commits), run=ended.run))
    return [*lines, *queued(ended, language), text("run_report.session", language, path=ended.session)]


def why(ended: Ended, language: Language) -> list[str]:
    """A line with the outcome and its reason, and one with the hint if there is one."""
    outcome = text(f"run_report.{ended.outcome.value}", language)
    line = text("run_report.ended", language, outcome=outcome, reason=ended.reason)
    return [line, ended.hint] if ended.hint else [line]


def queued(ended: Ended, language: Language) -> list[str]:
    """One line with the reason if changes of the run wait to be written; else none."""
    return [text("run_report.queued", language, reason=ended.queued)] if ended.queued else []


def check_whole(*runs: Ended) -> None:
    """Raise `CheckFailed` if a limit stopped one of the runs, repetition included; call it when all is printed.

    A script that asks has to know that the answer is not whole. A run that waits for its person, or was stopped by
    them, is as they want it: it can be resumed, and exits with 0.
    """
    if any(ended.outcome is RunOutcome.LIMIT for ended in runs):
        raise CheckFailed


def failure(ended: Ended) -> Exception:
    """The error that stopped the run; its hint names the session."""
    error = ended.failure or AgentError(ended.reason)
    kept = f"the run is kept in {ended.session}"
    if isinstance(error, AgentError):
        error.hint = f"{error.hint}; {kept}" if error.hint else kept
    return error
