"""`vault-agent status`: how the vault stands, without touching anything."""

import click

from agent.app import build
from agent.interfaces.cli.output import Output
from agent.vault.health.status import Status, status
from agent.vault.write.humans import Kind

_SHOWN = 10


@click.command(short_help="Show what is saved, what waits, and what needs you.")
@click.pass_obj
def command(output: Output) -> None:
    """Show the last commit, what is not committed yet, what waits and why, and conflicts."""
    app = build(output.vault())
    found = status(app.vault)
    output.emit({**_document(found), "warnings": list(app.loaded.warnings)}, lambda: _text(found))
    for warning in () if output.json else app.loaded.warnings:
        output.warn(warning)


def _document(found: Status) -> dict[str, object]:
    last = found.last
    return {
        "vault": str(found.root),
        "branch": found.branch,
        "last_commit": None
        if last is None
        else {"commit": last.id, "when": last.when.isoformat(), "author": last.author, "subject": last.subject},
        "dirty": [{"path": item.path, "kind": item.kind.value} for item in found.dirty],
        "blocked": found.blocked,
        "queue": {"waiting": found.waiting, "failed": found.failed},
        "unfinished": found.unfinished,
        "conflicts": list(found.conflicts),
        "writer": found.writer,
    }


def _text(found: Status) -> str:
    lines = [f"vault    {found.root}", f"branch   {found.branch or 'none (HEAD is detached)'}"]
    if found.last:
        lines.append(f"last     {found.last.id[:12]} {found.last.when:%Y-%m-%d %H:%M} {found.last.subject}")
    staged = [item for item in found.dirty if item.kind is Kind.STAGED]
    yours = [item for item in found.dirty if item.kind is not Kind.STAGED]
    lines.append(f"edits    {len(yours)} not committed yet" if yours else "edits    all committed")
    lines += [f"           {item.kind:8} {item.path}" for item in yours[:_SHOWN]]
    lines += [f"           and {len(yours) - _SHOWN} more"] if len(yours) > _SHOWN else []
    lines += [f"staged   {len(staged)} by you, for your own git commit"] if staged else []
    lines += [f"waits    {found.blocked}"] if found.blocked else []
    lines += [f"queue    {found.waiting} writes wait"] if found.waiting else []
    lines += [f"failed   {path}: {reason}" for path, reason in found.failed.items()]
    lines += (
        [f"crash    {found.unfinished} writes to finish; the next write or `doctor --fix` does it"]
        if found.unfinished
        else []
    )
    lines += [f"conflict {path}" for path in found.conflicts]
    lines += [f"writing  process {found.writer} is writing now"] if found.writer is not None else []
    return "\n".join(lines)
