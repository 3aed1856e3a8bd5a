"""What a run came to: as a document for programs, and as a few lines for people below the answer."""

from collections.abc import Mapping

from agent.app.runs import Runs
from agent.errors import AgentError
from agent.loop.outcome import Ended, Outcome
from agent.memory.capture.writer import AFTER_RUN_TOOLS
from agent.vault.history.commits import commits

_OUTCOMES: Mapping[str, Mapping[Outcome, str]] = {
    "en": {},
    "zh": {
        Outcome.LIMIT: "到达上限",
        Outcome.NEEDS_APPROVAL: "等待批准",
        Outcome.QUESTION_ASKED: "等待回答",
        Outcome.INTERRUPTED: "已中断",
        Outcome.FAILED: "失败",
    },
}
_SAID = {
    "en": {
        "ended": "{}: {}",
        "go on": "go on with: vault-agent ask --resume {}",
        "changes": "{} change{}; take back with: vault-agent undo --run {}",
        "queued": "waiting to be written: {}",
        "session": "session: {}",
    },
    "zh": {
        "ended": "{}：{}",
        "go on": "接着做：vault-agent ask --resume {}",
        "changes": "{0} 处改动；撤回：vault-agent undo --run {2}",
        "queued": "等着写入：{}",
        "session": "会话：{}",
    },
}


def answered(agent: Runs, ended: Ended, *, again: bool = False) -> dict[str, object]:
    """What a run came to, for `--json`; `again`: it was taken up, and its commits are those from before, too."""
    spent, made = agent.account.spent(ended.run.partition(".")[0]), list(ended.commits)
    sources = dict.fromkeys((*ended.given, *ended.sources))
    if again:
        found = commits(agent.app.vault, run=ended.run)
        before = [commit for commit in found if commit.tool not in AFTER_RUN_TOOLS]
        made = list(dict.fromkeys([*(commit.id for commit in reversed(before)), *made]))
    return {
        "answer": ended.answer,
        "outcome": ended.outcome.value,
        "reason": ended.reason or None,
        "hint": ended.hint or None,
        "waits_for": ended.waits_for or None,
        "queued": ended.queued or None,
        "run": ended.run,
        "session": ended.session,
        "commits": made,
        "sources": [{"path": source.path, "lines": list(source.lines)} for source in sources],
        "spend": {
            "calls": spent.calls,
            "input_tokens": spent.usage.input,
            "output_tokens": spent.usage.output,
            "money": round(spent.money, 6),
        },
    }


def remarks(ended: Ended, language: str) -> list[str]:
    """What is said besides the answer: why it stopped, how to go on, what it changed, where it is kept."""
    said, count = _SAID[language], len(ended.commits)
    lines = why(ended, language) if ended.outcome not in {Outcome.FINISHED, Outcome.FAILED} else []
    lines += [said["go on"].format(ended.session)] if ended.outcome.can_go_on else []
    lines += [said["changes"].format(count, "" if count == 1 else "s", ended.run)] if count else []
    return [*lines, *queued(ended, language), said["session"].format(ended.session)]


def why(ended: Ended, language: str) -> list[str]:
    """How a run ended, and what can be done about it."""
    outcome = ended.outcome.value.replace("_", " ")
    return [_SAID[language]["ended"].format(_OUTCOMES[language].get(ended.outcome, outcome), ended.reason),
            *([ended.hint] if ended.hint else [])]  # fmt: skip


def queued(ended: Ended, language: str) -> list[str]:
    """That what was said waits to be written, and why."""
    return [_SAID[language]["queued"].format(ended.queued)] if ended.queued else []


def failure(ended: Ended) -> Exception:
    """The error that stopped the run, with the way on in its hint."""
    error = ended.failure or AgentError(ended.reason)
    again = f"the run is kept in {ended.session}"
    if isinstance(error, AgentError):
        error.hint = f"{error.hint}; {again}" if error.hint else again
    return error
