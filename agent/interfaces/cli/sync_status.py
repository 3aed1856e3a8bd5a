"""`vault-agent sync status`, and the lines of `vault-agent status` about remotes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from agent.interfaces.cli.language import counted, first_lines, listed, row, tr
from agent.interfaces.cli.time_format import format_ago, format_time
from agent.lazy import later
from agent.vault.layout import SYNC_STATE
from agent.workspace.workspace import Workspace

if TYPE_CHECKING:
    from agent.vault.sync.distance import RemoteDistance, distances
    from agent.vault.sync.state import sync_state
else:  # only where the vault is kept in step
    distances = later("agent.vault.sync.distance", "distances")
    sync_state = later("agent.vault.sync.state", "sync_state")

SHOWN = 10


def found_standings(workspace: Workspace, uncommitted: int) -> "tuple[list[RemoteDistance], bool]":
    """How each remote stands, and whether sync is paused."""
    vault = workspace.vault
    if not (vault.private_folder / SYNC_STATE).exists():
        return [], False
    return list(distances(vault, uncommitted)), sync_state(vault).is_paused


def short_lines(found: "Sequence[RemoteDistance]", paused: bool, now: datetime) -> Iterator[str]:
    """A line for each remote; what passes by itself is left out for a day."""
    for each in found:
        remote = each.remote
        parts = [tr("{name} {differs}", name=remote.name, differs=_differs(each, now))]
        if not each.is_quiet(now):
            parts.append(tr("{trouble}: vault-agent sync status", trouble=tr(remote.trouble)))
        elif paused:
            parts.append(tr("paused: vault-agent sync resume"))
        yield row("sync", tr("; ").join(parts))


def _differs(difference: "RemoteDistance", now: datetime) -> str:
    """What the remote lacks and has, as far as it is known."""
    remote = difference.remote
    if remote.agreed_at is None:
        return tr("has not been reached yet")
    time = format_time(remote.agreed_at, now)
    parts = []
    if difference.ahead_since is not None:
        ago = format_ago(difference.ahead_since, now)
        parts.append(
            counted(difference.ahead, "lacks 1 commit ({ago})", "lacks {count} commits (since {ago})", ago=ago)
        )
    if difference.behind_since is not None:
        ago = format_ago(difference.behind_since, now)
        one, more = "has 1 commit that is not here ({ago})", "has {count} commits that are not here (since {ago})"
        parts.append(counted(difference.behind, one, more, ago=ago))
    if difference.uncommitted:
        one, more = "lacks 1 file that is not committed", "lacks {count} files that are not committed"
        parts.append(counted(difference.uncommitted, one, more))
    if not parts:
        return tr("had all of it at {time}", time=time)
    return tr("{list}; as of {time}", list=listed(parts), time=time)


def long_lines(difference: "RemoteDistance", last: str, now: datetime) -> Iterator[str]:
    """All about one remote; `last` is the last commit here."""
    remote = difference.remote
    yield tr("{name}  {address}, branch {branch}", name=remote.name, address=difference.address, branch=remote.branch)
    saved = counted(difference.uncommitted, "1 file is not committed", "{count} files are not committed")
    yield "  " + row("saved", saved if difference.uncommitted else tr("everything is committed"))
    yield "  " + row("here", last)
    yield "  " + row("there", _differs(difference, now))
    if remote.trouble:
        trouble = tr(remote.trouble)
        since = tr(" (since {time})", time=format_time(remote.since, now)) if remote.since is not None else ""
        yield "  " + row("problem", f"{trouble}{since}")
        yield "  " + row("", tr(remote.hint))
    paths = remote.wait.paths if remote.wait is not None else ()
    yield from first_lines(paths, SHOWN, "  " + row("", "  "))
    for path in remote.left_out:
        yield "  " + row("left out", tr("{path}: the remote does not take it", path=path))
