"""What has arrived from elsewhere, as `status` and `trust` tell it."""

import shlex
from collections.abc import Sequence

from agent.interfaces.cli.language import counted, listed, row, said
from agent.runs.arrivals import ArrivalState
from agent.vault.held_back import HeldFile, HoldReason, HoldState

_ARRIVED = {
    None: "{notes} by {name}; who writes there? vault-agent trust {name} --only-me, or --others",
    "me": "{notes} by {name}, where only you write",
    "others": "{notes} by {name}, where others write too",
}


_SHOWN = 20
_WAITS, _REFUSED = HoldState.WAITS, HoldState.REFUSED
_OF_NAMES = "{count} with a name or of a kind that cannot be here: {names}; rename or remove it where it came from"
_HELD = {
    (HoldReason.ACTS, _WAITS): "{count} that other programs may run or obey: {names}; vault-agent needs, "
    "or vault-agent trust {name}",
    (
        HoldReason.ACTS,
        _REFUSED,
    ): "{count} for good, as you said no: {names}; vault-agent trust {name} takes one after all",
    (HoldReason.PRIVATE, _WAITS): "{count} at a path that you keep out of git: {names}; yours stays private; to take "
    "theirs, move yours away, then vault-agent trust {name}",
    (HoldReason.NAME, _WAITS): _OF_NAMES,
    (HoldReason.LINK, _WAITS): _OF_NAMES,
}


def arrived_document(state: ArrivalState) -> dict[str, object]:
    """The remotes, and the arrived notes with instructions for the agent that need a review, for `--json`."""
    remotes = [
        {"name": each.name, "address": each.address, "writers": each.writers, "notes": each.notes}
        for each in state.remotes
    ]
    held = [{"path": each.path, "reason": each.reason.value, "state": each.state.value} for each in state.held]
    return {"remotes": remotes, "steering": list(state.steering), "held": held}


def format_arrived(state: ArrivalState) -> list[str]:
    """A line for each remote that notes arrived from, for each note that needs a review, and for what is held back."""
    lines = []
    for each in state.remotes:
        if each.notes:
            notes = counted(each.notes, "1 note", "{count} notes")
            lines.append(row("arrived", said(_ARRIVED[each.writers], notes=notes, name=each.name or each.address)))
    steers = "{path} steers me when you have looked: vault-agent trust {name}"
    lines += [row("arrived", said(steers, path=path, name=shlex.quote(path))) for path in state.steering]
    return lines + [row("held", line) for line in format_held(state.held)]


def format_held(held: Sequence[HeldFile]) -> list[str]:
    """A line for each kind of what is held back, with the way to answer."""
    return [line for about, key in _HELD.items() if (line := _of_kind(held, *about, key))]


def _of_kind(held: Sequence[HeldFile], reason: HoldReason, state: HoldState, sentence: str) -> str:
    paths = [each.path for each in held if (each.reason, each.state) == (reason, state)]
    if not paths:
        return ""
    return said(sentence, names=listed(paths[:_SHOWN], 3), count=len(paths), name=shlex.quote(paths[0]))
