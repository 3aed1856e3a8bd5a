"""`vault-agent commit`: commits the person's own edits at once, in the person's name."""

import click

from agent.app.open import open_workspace
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.vault.change import Outcome
from agent.vault.worktree.survey import Dirty, DirtyKind


@click.command(short_help="Commit your own edits now, in your name.")
@click.option("-y", "--yes", "confirmed", is_flag=True, help="Go on even if many notes would be deleted or emptied.")
@click.pass_obj
def command(output: Output, confirmed: bool) -> None:
    """Commit every note and file you changed by hand, in your name, as one commit.

    Changes that you have staged with `git add` are left for you to commit. A file that another program keeps open is
    left until it is closed, or committed as it is after some minutes.
    """
    vault = open_workspace(output.vault()).vault
    outcome = vault.commit_human(confirmed=confirmed)
    left = vault.changed_files()
    document = {
        "commit": outcome.human,
        "files": list(outcome.paths),
        "left": [{"path": item.path, "kind": item.kind.value} for item in left],
        "open": list(outcome.open),
        "unread": list(outcome.unread),
        "queued": outcome.queued,
    }
    output.emit(document, lambda: _format(outcome, left))


def _format(outcome: Outcome, left: list[Dirty]) -> str:
    if outcome.queued:
        return f"not committed yet: {outcome.queued}"
    lines = ["nothing committed" if outcome.unread or outcome.open else "nothing to commit"]
    if outcome.human:
        lines = [f"commit {outcome.human[:12]}: {len(outcome.paths)} of your files", *outcome.paths[:20]]
    staged = sum(1 for item in left if item.kind is DirtyKind.STAGED)
    if staged:
        lines.append(f"{staged} staged by you, left for your own `git commit`")
    lines += [f"left     {path}: another program keeps it open" for path in outcome.open]
    lines += [f"unknown  {path}: cannot be looked at" for path in outcome.unread]
    named = {*outcome.open, *outcome.unread}
    others = sum(1 for item in left if item.kind is not DirtyKind.STAGED and item.path not in named)
    if others:
        lines.append(f"{others} left alone (saved a moment ago, or handled by a git filter)")
    return as_lines(lines)
