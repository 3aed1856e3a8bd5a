"""The part of `vault-agent status` about the vault: commits, edits, and what keeps either waiting."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from agent.interfaces.cli.language import counted, listed, row, said
from agent.interfaces.cli.printing import padded
from agent.interfaces.cli.time_format import format_time
from agent.vault.health.status import VaultStatus
from agent.vault.worktree.survey import DRAFT, DirtyKind

_SHOWN = 10
_NAMED = 5


def vault_document(found: VaultStatus) -> dict[str, object]:
    """The state for JSON."""
    last = found.last
    return {
        "vault": str(found.root),
        "branch": found.branch,
        "last_commit": None
        if last is None
        else {"commit": last.id, "when": last.when.isoformat(), "author": last.author, "subject": last.subject},
        "dirty": [{"path": item.path, "kind": item.kind.value} for item in found.dirty],
        "left_out": dict(found.left_out),
        "open": list(found.open),
        "unread": list(found.unread),
        "blocked": found.blocked,
        "queue": {"waiting": found.waiting, "failed": found.failed},
        "unfinished": found.unfinished,
        "conflicts": list(found.conflicts),
        "writer": found.writer,
    }


def last_commit(found: VaultStatus, now: datetime) -> str:
    """The last commit in one line; empty if there is none."""
    last = found.last
    return f"{last.id[:12]} {format_time(last.when, now)} {last.subject}" if last is not None else ""


def format_vault(found: VaultStatus, now: datetime) -> list[str]:
    """A line for each thing about commits and files."""
    lines = [
        row("vault", str(found.root)),
        row("branch", found.branch or said("none (HEAD is detached)")),
    ]
    if found.last:
        lines.append(row("last", last_commit(found, now)))
    staged = [item for item in found.dirty if item.kind is DirtyKind.STAGED]
    yours = [item for item in found.dirty if item.kind is not DirtyKind.STAGED and item.path not in found.left_out]
    lines.append(row("edits", _edits(len(yours), found.unread)))
    lines += [row("", f"  {padded(said(item.kind), 8)} {item.path}") for item in yours[:_SHOWN]]
    lines += [row("", "  " + said("and {count} more", count=len(yours) - _SHOWN))] if len(yours) > _SHOWN else []
    lines += _format_left_out(found.left_out)
    unread = "{path}: cannot be looked at, so what changed in it is not known"
    lines += [row("unread", said(unread, path=path)) for path in found.unread]
    kept_open = "{path}: another program keeps it open; recorded when it is closed or left alone"
    lines += [row("open", said(kept_open, path=path)) for path in found.open]
    lines += [row("staged", said("{count} by you, for your own git commit", count=len(staged)))] if staged else []
    lines += [row("waits", said(found.blocked))] if found.blocked else []
    lines += [row("queue", counted(found.waiting, "1 change waits", "{count} changes wait"))] if found.waiting else []
    lines += [
        row("failed", said("{path}: {reason}", path=path, reason=reason)) for path, reason in found.failed.items()
    ]
    if found.unfinished:
        one = "1 change to finish; the next one or `doctor --fix` does it"
        more = "{count} changes to finish; the next one or `doctor --fix` does it"
        lines.append(row("crash", counted(found.unfinished, one, more)))
    lines += [row("conflict", path) for path in found.conflicts]
    if found.writer is not None:
        lines.append(row("writing", said("process {process} is writing now", process=found.writer)))
    return lines


def _format_left_out(found: Mapping[str, str]) -> Iterator[str]:
    """A line for the drafts that the person left when the folder became a vault, and one for other files."""
    drafts = [path for path, why in found.items() if why == DRAFT]
    others = [said("{path} ({reason})", path=path, reason=said(why)) for path, why in found.items() if why != DRAFT]
    if drafts:
        one = "1 of yours stays uncommitted until you change it: {paths}"
        more = "{count} of yours stay uncommitted until you change them: {paths}"
        yield row("drafts", counted(len(drafts), one, more, paths=listed(drafts, _NAMED)))
    if others:
        one = "1 of your commits: {paths}; `git add` takes it"
        more = "{count} of your commits: {paths}; `git add` takes them"
        yield row("left out", counted(len(others), one, more, paths=listed(others, _NAMED)))


def _edits(count: int, unread: Sequence[str]) -> str:
    parts = [said("{count} not committed yet", count=count)] if count else []
    parts += [said("unknown: cannot read {paths}", paths=listed(unread, 3))] if unread else []
    return said("; ").join(parts) or said("all committed")
