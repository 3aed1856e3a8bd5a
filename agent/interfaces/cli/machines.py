"""The other machines with this vault, and what goes on there, as `status` shows them."""

from agent.interfaces.cli.language import listed, row, said
from agent.runs.status import AgentStatus

_MOST = 5


def machines_document(agent: AgentStatus) -> dict[str, object]:
    """The other machines for `--json`."""
    return {
        "others": [
            {
                "name": each.name,
                "last_seen": each.last_seen.isoformat() if each.last_seen else None,
                "daemon": each.has_daemon,
                "version": each.version,
            }
            for each in agent.machines
        ],
        "sessions": [{"path": each.path, "waits": each.waits} for each in agent.elsewhere],
        "spent": {"tokens": agent.today_elsewhere.tokens, "money": round(agent.today_elsewhere.money, 6)},
        "decided": list(agent.arrived),
    }


def format_machines(agent: AgentStatus) -> list[str]:
    """A line for the other machines, and one for each thing that goes on there or came from there."""
    seen = [
        said("{name} (last seen {day})", name=each.name, day=each.last_seen) if each.last_seen else each.name
        for each in agent.machines
    ]
    lines = [row("machines", listed(seen, _MOST))] if seen else []
    spent = agent.today_elsewhere
    if spent.calls:
        words = "today ${money:.2f} and {tokens:,} tokens on other machines, as far as known; the limits count them"
        lines.append(row("", "  " + said(words, money=spent.money, tokens=spent.tokens)))
    for each in agent.elsewhere[:_MOST]:
        words = "waits on another machine: {path}" if each.waits else "goes on on another machine: {path}"
        lines.append(row("", "  " + said(words, path=each.path)))
    given = "{path} was decided elsewhere, where others may write; it counts if you decide it here"
    return [*lines, *(row("arrived", said(given, path=path)) for path in agent.arrived)]
