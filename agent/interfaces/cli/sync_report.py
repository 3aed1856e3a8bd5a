"""What a round of sync did, for a person and for `--json`."""

from collections.abc import Iterator, Sequence
from shlex import quote

from agent.interfaces.cli.language import counted, listed, said
from agent.vault.sync.round import RoundEnd, RoundReport

SHOWN = 10


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
