"""What has arrived from elsewhere, as `status` and `trust` tell it."""

import shlex

from agent.interfaces.cli.language import counted, row, said
from agent.runs.arrivals import ArrivalState

_ARRIVED = {
    None: "{notes} by {name}; who writes there? vault-agent trust {name} --only-me, or --others",
    "me": "{notes} by {name}, where only you write",
    "others": "{notes} by {name}, where others write too",
}


def arrived_document(state: ArrivalState) -> dict[str, object]:
    """The remotes, and the arrived notes with instructions for the agent that need a review, for `--json`."""
    remotes = [
        {"name": each.name, "address": each.address, "writers": each.writers, "notes": each.notes}
        for each in state.remotes
    ]
    return {"remotes": remotes, "steering": list(state.steering)}


def format_arrived(state: ArrivalState) -> list[str]:
    """A line for each remote that notes arrived from, and for each note that needs a review."""
    lines = []
    for each in state.remotes:
        if each.notes:
            notes = counted(each.notes, "1 note", "{count} notes")
            lines.append(row("arrived", said(_ARRIVED[each.writers], notes=notes, name=each.name or each.address)))
    steers = "{path} steers me when you have looked: vault-agent trust {name}"
    return lines + [row("arrived", said(steers, path=path, name=shlex.quote(path))) for path in state.steering]
