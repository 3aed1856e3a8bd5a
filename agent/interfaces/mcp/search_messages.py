"""What a server asks the daemon, or the process that holds its index, and what it is told if that fails."""

from collections.abc import Mapping

from agent.dataclass import dataclass

DAEMON_PATH = "/api/v1/command/search"
"""Where the daemon answers, on its socket only."""
_COUNT = ("VAULT_AGENT_INDEX__", "VAULT_AGENT_MEMORY__", "VAULT_AGENT_VAULT__", "TZ")


@dataclass(frozen=True, slots=True)
class SearchQuestion:
    """A search for passages of notes, or for `memories` of the person of a program (`channel`, `run`)."""

    text: str
    limit: int
    memories: bool = False
    channel: str = ""
    run: str = ""


@dataclass(frozen=True, slots=True)
class SearchFailure:
    """Why a question has no answer, and what to do."""

    message: str
    hint: str = ""


def settings_of(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables by which another process would find something else."""
    return {name: value for name, value in environ.items() if name.startswith(_COUNT)}
