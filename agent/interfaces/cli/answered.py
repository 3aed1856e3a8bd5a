"""What a run came to: as a document for programs, and as a few lines for people below the answer."""

from agent.app.runs import Runs
from agent.errors import AgentError
from agent.loop.outcome import Ended, Outcome
from agent.memory.keeping import BEHIND
from agent.vault.history.commits import commits


def answered(agent: Runs, ended: Ended, *, again: bool = False) -> dict[str, object]:
    """What a run came to, for `--json`; `again`: it was taken up, and its commits are those from before, too."""
    spent, made = agent.account.spent(ended.run.partition(".")[0]), list(ended.commits)
    sources = dict.fromkeys((*ended.given, *ended.sources))
    if again:
        found = commits(agent.app.vault.git, agent.app.vault.place, run=ended.run)
        before = [commit for commit in found if commit.tool not in BEHIND]
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


def remarks(ended: Ended) -> list[str]:
    """What is said besides the answer: why it stopped, how to go on, what it changed, where it is kept."""
    lines: list[str] = []
    if ended.outcome not in {Outcome.FINISHED, Outcome.FAILED}:
        lines.append(f"{ended.outcome.value.replace('_', ' ')}: {ended.reason}")
        lines += [ended.hint] if ended.hint else []
    if ended.outcome.can_go_on:
        lines.append(f"go on with: vault-agent ask --resume {ended.session}")
    if ended.commits:
        count = len(ended.commits)
        many = f"{count} change{'' if count == 1 else 's'}"
        lines.append(f"{many}; take back with: vault-agent undo --run {ended.run}")
    lines += [f"waiting to be written: {ended.queued}"] if ended.queued else []
    return [*lines, f"session: {ended.session}"]


def failure(ended: Ended) -> Exception:
    """The error that stopped the run, with the way on in its hint."""
    error = ended.failure or AgentError(ended.reason)
    again = f"the run is kept in {ended.session}"
    if isinstance(error, AgentError):
        error.hint = f"{error.hint}; {again}" if error.hint else again
    return error
