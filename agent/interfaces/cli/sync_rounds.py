"""Rounds of sync at a terminal: what goes on is shown, what moved is printed, and the exit code says how they ended."""

from collections.abc import Iterator, Mapping, Sequence
from shlex import quote

from agent.errors import LockHeld
from agent.interfaces.cli.language import counted, listed, said
from agent.interfaces.cli.output import CheckFailed, Output, progress
from agent.interfaces.cli.printing import as_lines
from agent.interfaces.cli.progress_bar import progress_bar
from agent.runs.arrivals import arrival_state
from agent.runs.sync_rounds import rounds_with_questions
from agent.vault.health.status import status
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
    left_out = status(workspace.vault.whole).left_out
    lines += left_out_lines(left_out)
    document = {
        **beside,
        "left_out": dict(left_out),
        "synced": synced,
        "rounds": [report_document(each) for each in reports],
    }
    output.emit({"ok": synced, **document}, as_lines([*lines, *(after if synced else ())]))
    if not synced:
        raise CheckFailed


def left_out_lines(found: Mapping[str, str]) -> Iterator[str]:
    """A line with the person's files that no commit has, and so no other machine; none if there are none."""
    named = [said("{path} ({reason})", path=path, reason=said(why)) for path, why in found.items()]
    if named:
        one, more = "1 file stays on this machine: {files}", "{count} files stay on this machine: {files}"
        yield counted(len(named), one, more, files=listed(named, _NAMED))


SHOWN, _NAMED = 10, 3


def report_document(report: RoundReport) -> dict[str, object]:
    """One round for `--json`."""
    wait = report.wait
    return {
        "remote": report.remote,
        "end": report.end.value,
        "received": list(report.received),
        "sent": list(report.sent),
        "conflicts": [{"note": path, "copy": copy or None} for path, copy in report.conflicts.items()],
        "kept": list(report.kept),
        "numbered": dict(report.numbered),
        "held": list(report.held),
        "rescued": report.rescued or None,
        "problem": str(report.trouble) or None,
        "hint": str(report.hint) or None,
        "wait": {"kind": wait.kind.value, "notes": list(wait.paths)} if wait is not None else None,
    }


def report_lines(report: RoundReport) -> Iterator[str]:
    """One round, line by line."""
    name = report.remote
    received = counted(len(report.received), "received 1 file", "received {count} files")
    sent = counted(len(report.sent), "sent 1 file", "sent {count} files")
    moved = [*([received] if report.received else []), *([sent] if report.sent else [])]
    if report.end is RoundEnd.SYNCED and not moved:
        yield said("{name}: it has all that is here", name=name)
    elif moved:
        yield said("{name}: {moved}", name=name, moved=listed(moved))
    yield from _named("<", report.received)
    yield from _named(">", report.sent)
    for path, copy in report.conflicts.items():
        if copy:
            one = "  two versions of {path}: the other is in {copy}; vault-agent sync resolve {note}"
            yield said(one, path=path, copy=copy, note=quote(path))
        else:
            yield said("  look at {path}, written because you saved meanwhile", path=path)
    yield from (said("  kept {path}: one side deleted it, the other changed it", path=path) for path in report.kept)
    for wanted, path in report.numbered.items():
        yield said("  both made {wanted}: one is {path} now", wanted=wanted, path=path)
    if report.held:
        one = "  held back 1 file until you have looked at it: vault-agent trust"
        yield counted(
            len(report.held), one, "  held back {count} files until you have looked at them: vault-agent trust"
        )
        yield from _named("!", report.held)
    if report.rescued:
        yield said("  what was here before is kept: git log {ref}", ref=report.rescued)
    if report.trouble:
        yield said("{name}: not synced: {reason}", name=name, reason=said(report.trouble))
        yield said("  hint: {hint}", hint=said(report.hint))
    paths = report.wait.paths if report.wait is not None else ()
    yield from (f"  {path}" for path in paths[:SHOWN])
    if len(paths) > SHOWN:
        yield "  " + said("and {count} more", count=len(paths) - SHOWN)


def _named(mark: str, paths: Sequence[str]) -> Iterator[str]:
    yield from (f"  {mark} {path}" for path in paths[:SHOWN])
    if len(paths) > SHOWN:
        yield f"  {mark} " + said("and {count} more", count=len(paths) - SHOWN)
