"""Rounds of sync at a terminal: what goes on is shown, what moved is printed, and the exit code says how they ended."""

from collections.abc import Mapping, Sequence

from agent.errors import LockHeld
from agent.interfaces.cli.language import said
from agent.interfaces.cli.output import CheckFailed, Output, progress
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.interfaces.cli.sync_report import report_document, report_lines
from agent.runs.arrivals import arrival_state
from agent.runs.sync_rounds import rounds_with_questions
from agent.vault.sync.permission import RemotePermission
from agent.vault.sync.round import RoundEnd, RoundReport
from agent.vault.sync.state import SyncedRemote
from agent.workspace.workspace import Workspace

_STEPS = {
    "fetch": "asking the remote …",
    "merge": "putting both together …",
    "write": "writing what has come …",
    "push": "sending …",
}


def go_round(
    output: Output, workspace: Workspace, remotes: Sequence[SyncedRemote], allowed: RemotePermission
) -> list[RoundReport]:
    """One round with each remote; raises `LockHeld` while another process syncs this vault."""
    with progress_bar(output, said("files")) as moved:
        found = []
        for report in rounds_with_questions(workspace, remotes, allowed, _show, moved):
            if report.end is RoundEnd.TAKEN:
                raise LockHeld(report.trouble, hint=report.hint)
            found.append(report)
    return found


def _show(step: str) -> None:
    progress(_STEPS[step])


def finish(
    output: Output,
    workspace: Workspace,
    reports: Sequence[RoundReport],
    beside: Mapping[str, object],
    after: Sequence[str] = (),
) -> None:
    """Print the rounds; raises `CheckFailed` unless all remotes have all that is here. `after` follows if they have."""
    synced = all(each.end is RoundEnd.SYNCED for each in {each.remote: each for each in reports}.values())
    steering = arrival_state(workspace).steering if any(each.received for each in reports) else ()
    lines = [line for each in reports for line in report_lines(each)]
    lines += [said("  {path} steers me when you have looked: vault-agent trust", path=path) for path in steering]
    document = {**beside, "synced": synced, "rounds": [report_document(each) for each in reports]}
    output.emit({"ok": synced, **document}, as_lines([*lines, *(after if synced else ())]))
    if not synced:
        raise CheckFailed
