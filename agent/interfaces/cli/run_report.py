"""The lines below the answer of a run, for people, and the exit code of its outcome.

What the person has to know or do comes last, next to the prompt: what was refused, what stopped the run, and the
command that goes on.
"""

from shlex import quote
from typing import TYPE_CHECKING

from agent.asking.codes import codes_by_path
from agent.errors import AgentError
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.run_messages import RunSummary
from agent.lazy import later
from agent.loop.outcome import Ended, RunOutcome
from agent.runs.report import RunReport, report
from agent.texts import Language, Sentence, text
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.deeds.runs import run_result
    from agent.runs.service import RunService
else:
    run_result = later("agent.deeds.runs", "run_result")

_DECIDE = {RunOutcome.NEEDS_APPROVAL: "run_report.decide", RunOutcome.QUESTION_ASKED: "run_report.answer"}


def run_document(agent: "RunService", ended: Ended, *, resumed: bool = False) -> dict[str, object]:
    """The report of a run for `--json`."""
    return run_result(report_of(agent, ended, resumed=resumed)).document()


def report_of(agent: "RunService", ended: Ended, *, resumed: bool = False) -> RunReport:
    """The report of a run of this agent."""
    spent = agent.account.spent(ended.run.partition(".")[0])
    return report(ended, spent, agent.workspace.vault, agent.capturing.wait_for, resumed=resumed)


def remarks(ended: Ended, workspace: Workspace) -> list[str]:
    """The lines below an answer: the changes made, the session, what was refused, why the run stopped, and the command
    that goes on."""
    language, lines = workspace.settings.vault.language, list[str]()
    if ended.is_changed:
        lines.append(text("run_report.change", language, run=ended.run))
    lines += [*queued(ended, language), text("run_report.session", language, path=ended.session)]
    lines += [*ended.remarks, *refused(ended, language), *until_then(ended, language)]
    if ended.outcome not in {RunOutcome.FINISHED, RunOutcome.FAILED}:
        lines += why(ended, workspace)
    if ended.outcome is RunOutcome.INTERRUPTED:
        lines.append(text("run_report.resume", language, session=quote(ended.session)))
    return lines


def why(ended: Ended, workspace: Workspace) -> list[str]:
    """A line with the outcome and its reason, and one with what to do if there is something."""
    language = workspace.settings.vault.language
    outcome = text(f"run_report.{ended.outcome.value}", language)
    reason = tr(ended.failure.message) if isinstance(ended.failure, AgentError) else ended.reason
    lines = [text("run_report.ended", language, outcome=outcome, reason=reason)]
    if ended.outcome in _DECIDE and ended.waits_for:
        name = codes_by_path(workspace.vault).get(ended.waits_for) or quote(ended.waits_for)
        return [*lines, text(_DECIDE[ended.outcome], language, name=name)]
    hint = tr(ended.failure.hint) if isinstance(ended.failure, AgentError) else ended.hint
    return [*lines, hint] if hint else lines


def refused(ended: Ended, language: Language) -> list[str]:
    """One line with the tools that the policy denied to the model; none if it asked for none of them."""
    return [text("run_report.refused", language, tools=listed(ended.refused))] if ended.refused else []


def until_then(ended: Ended, language: Language) -> list[str]:
    """One line with the tools that a run had used before its model failed; none if it had done nothing."""
    if ended.outcome is not RunOutcome.FAILED or ended.is_quoted or not ended.tools:
        return []
    used = (f"{name} × {ended.tools.count(name)}" for name in dict.fromkeys(ended.tools))
    return [text("run_report.until_then", language, tools=listed(used))]


def queued(ended: Ended, language: Language) -> list[str]:
    """One line with the reason if changes of the run wait to be written; else none."""
    return [text("run_report.queued", language, reason=tr(ended.queued))] if ended.queued else []


def summary_of(found: RunReport, workspace: Workspace) -> RunSummary:
    """What a command shows of a run: errors in the language of this context, the rest in that of the vault."""
    ended = found.ended
    below = "\n".join(remarks(ended, workspace))
    why = failure(ended) if ended.outcome is RunOutcome.FAILED else None
    return RunSummary(
        ended.answer, ended.outcome, ended.session, ended.waits_for, below, run_result(found).document(), why
    )


def failure(ended: Ended) -> Exception:
    """The error that stopped the run; its hint names the session."""
    error = ended.failure or AgentError(ended.reason)
    hint = Sentence("the run is kept in {session}", session=ended.session)
    if isinstance(error, AgentError):
        error.hint = Sentence("{hint}; {kept}", hint=error.hint, kept=hint) if error.hint else hint
    return error
