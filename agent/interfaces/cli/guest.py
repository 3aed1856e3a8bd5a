"""The options with which a command speaks for somebody other than the vault's owner."""

from collections.abc import Callable
from typing import Any, TypeVar

import click

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.events.runs import Speaker

F = TypeVar("F", bound=Callable[..., Any])
OWNER = Speaker("cli")


@dataclass(frozen=True, slots=True)
class Asking:
    """The speaker of a task, and their role: `owner` or `guest`."""

    speaker: Speaker = OWNER
    role: str = "owner"

    @property
    def chat(self) -> str:
        """The group's channel; empty outside of groups."""
        return self.speaker.channel if self.speaker.group else ""


def guest_options(command: F) -> F:
    """Add `--as`, `--group` and `--channel` to a command, as the parameters of `asking`."""
    for option in (
        click.option("--channel", metavar="C", default="", help="The channel of that person (default: cli)."),
        click.option("--group", metavar="G", default="", help="The group in which that person speaks."),
        click.option("--as", "name", metavar="NAME", default="", help="Speak for NAME, a guest, who sees only theirs."),
    ):
        command = option(command)
    return command


def asking(name: str, group: str, channel: str) -> Asking:
    """The speaker of these options; raises `UserError` for a group or channel of nobody."""
    if not name.strip():
        if group or channel:
            raise UserError("--group and --channel need --as", hint='vault-agent ask --as anna --group family "…"')
        return Asking()
    parts = [channel.strip() or "cli", *([group.strip()] if group.strip() else [])]
    return Asking(Speaker(":".join(parts), name.strip(), group=bool(group.strip())), "guest")
