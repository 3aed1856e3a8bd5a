"""What a command does at its end: it sends the notices that it has raised, where no daemon does."""

import sys

from agent.errors import AgentError, os_reason
from agent.interfaces.cli.language import counted, tr
from agent.interfaces.cli.output import say

SECONDS = 10.0
"""The longest time that is taken for it."""


def send_notices(*, is_document: bool) -> None:
    """Send them, and say how many still wait; nothing is said beside a JSON document (`is_document`)."""
    module = sys.modules.get("agent.app.notices")
    if module is None:  # nothing was raised
        return
    try:
        left: int = module.send_raised(SECONDS)
    except (AgentError, OSError) as error:
        problem = error.message if isinstance(error, AgentError) else os_reason(error)
        say(tr("warning: {text}", text=tr(problem)))
        return
    if left and not is_document:
        one, many = "1 notice waits: vault-agent daemon sends it", "{count} notices wait: vault-agent daemon sends them"
        say(counted(left, one, many))
