"""The settings of this machine among others with the same vault. Part of `settings.Settings`."""

from typing import Annotated

from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """This machine."""

    name: str
    """The machine's name in notes and for the other machines. Default empty: the host's name."""


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """The sharing of a vault by several machines."""

    quiet_seconds: Annotated[float, Range(0, 86_400, "seconds")]
    """The time without changes in the vault before what is new here is sent, in seconds. Default 30: a minute of
    writing is sent once."""

    interval_seconds: Annotated[float, Range(10, 86_400, "seconds")]
    """The time between two rounds when there is nothing to send, in seconds. Default 300: what was written on another
    machine is here five minutes later, and a server is asked 300 times a day."""

    run_on: str
    """The `machine.name` of the machine that answers requests while the remote cannot be reached and nobody can say
    whether another machine does. Default empty: none does, and requests wait until the remote is there. Name it on
    every machine: the others let it hand over first what it has done, a minute and a half once the remote is back."""
