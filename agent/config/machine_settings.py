"""The settings of this machine among others with the same vault. Part of `settings.Settings`."""

from typing import Annotated, Literal

from agent.config.secrets import Secret
from agent.config.values import Range
from agent.dataclass import dataclass


@dataclass(frozen=True, slots=True)
class MachineSettings:
    """This machine."""

    name: str
    """The machine's name in notes and for the other machines. Default empty: the host's name."""


@dataclass(frozen=True, slots=True)
class DatabaseSettings:
    """The PostgreSQL database that the machines with a vault may share."""

    url: Secret
    """Its address with its password, as `env:NAME`, `file:PATH` or `keyring:NAME`: `postgresql://name:password@host/database`,
    or as libpq has it. Default empty: there is none. It is never written into the vault, a log or a report."""

    vault: str
    """The vault's name in it, the same on all machines. Default empty: the id of the vault's first commit, which all
    its clones have. Two vaults with one name would each make the other's index anew."""


@dataclass(frozen=True, slots=True)
class SyncSettings:
    """The sharing of a vault by several machines."""

    quiet_seconds: Annotated[float, Range(0, 86_400, "seconds")]
    """The time without changes in the vault before what is new here is sent, in seconds. Default 30: a minute of
    writing is sent once."""

    interval_seconds: Annotated[float, Range(10, 86_400, "seconds")]
    """The time between two rounds when there is nothing to send, in seconds. Default 300: what was written on another
    machine is here five minutes later, and a server is asked 300 times a day."""

    claims: Literal["remote", "postgres"]
    """Where the machines agree which of them does a piece of work, and tell what they have spent. Default `remote`: as
    references of the git remote. `postgres`: in the database of `database.url`, on all machines; it needs the extra
    `postgres`."""

    run_on: str
    """The `machine.name` of the machine that answers requests while the remote cannot be reached and nobody can say
    whether another machine does. Default empty: none does, and requests wait until the remote is there. Name it on
    every machine: the others let it hand over first what it has done, a minute and a half once the remote is back."""
