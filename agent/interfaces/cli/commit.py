"""`vault-agent commit`: commits the person's own edits at once, in the person's name."""

import click

from agent.interfaces.cli.declare import in_vault
from agent.interfaces.cli.language import counted, row, said
from agent.interfaces.cli.output import Output
from agent.interfaces.cli.printing import as_lines
from agent.vault.change import Outcome
from agent.vault.waiting import commit_waiting
from agent.vault.worktree.survey import Dirty, DirtyKind
from agent.workspace.workspace import Workspace

_SHOWN = 10


@click.command()
@click.option("-y", "--yes", "confirmed", is_flag=True, help="Go on even if many notes would be deleted or emptied.")
@in_vault
def command(output: Output, workspace: Workspace, confirmed: bool) -> None:
    """Commit every note and file you changed by hand, in your name, as one commit.

    Changes that you have staged with `git add` are left for you to commit, and so are new files that are large or no
    text (`git.largest_megabytes`, `git.binaries`). A file that another program keeps open is
    left until it is closed, or committed as it is after some minutes. What the agent has written without being asked,
    and what waits for the evening, is committed too, apart and in the agent's name.
    """
    vault = workspace.vault
    commit_waiting(vault, apart=True)
    outcome = vault.commit_human(confirmed=confirmed, drafts=True)
    left = vault.changed_files()
    document = {
        "commit": outcome.human,
        "files": list(outcome.paths),
        "left": [{"path": item.path, "kind": item.kind.value} for item in left],
        "open": list(outcome.open),
        "unread": list(outcome.unread),
        "left_out": dict(outcome.left_out),
        "queued": outcome.queued,
    }
    output.emit(document, lambda: _format(outcome, left))


def _format(outcome: Outcome, left: list[Dirty]) -> str:
    if outcome.queued:
        return said("not committed yet: {queued}", queued=said(outcome.queued))
    lines = [said("nothing committed") if outcome.unread or outcome.open else said("nothing to commit")]
    if outcome.human:
        lines = [
            counted(
                len(outcome.paths),
                "commit {human}: 1 of your files",
                "commit {human}: {count} of your files",
                human=outcome.human[:12],
            ),
            *outcome.paths[:20],
        ]
    staged = sum(1 for item in left if item.kind is DirtyKind.STAGED)
    if staged:
        lines.append(said("{count} staged by you, left for your own `git commit`", count=staged))
    lines += [row("left", said("{path}: another program keeps it open", path=path)) for path in outcome.open]
    lines += [row("unknown", said("{path}: cannot be looked at", path=path)) for path in outcome.unread]
    adds = "{path}: {why}; `git add` takes it"
    out = [*outcome.left_out.items()]
    lines += [row("left", said(adds, path=path, why=said(why))) for path, why in out[:_SHOWN]]
    lines += [row("left", said("{count} more: see --json", count=len(out) - _SHOWN))] if out[_SHOWN:] else []
    named = {*outcome.open, *outcome.unread, *outcome.left_out}
    others = sum(1 for item in left if item.kind is not DirtyKind.STAGED and item.path not in named)
    if others:
        lines.append(said("{count} left alone (saved a moment ago, or handled by a git filter)", count=others))
    return as_lines(lines)
