"""Notes that arrived from elsewhere: asked about by the daemon and the commands, and shown in `status`."""

import logging
from typing import TYPE_CHECKING

from agent.dataclass import dataclass
from agent.errors import AgentError
from agent.lazy import later
from agent.vault.held_back import load_held_back
from agent.workspace.workspace import Workspace, is_watched

if TYPE_CHECKING:  # in most vaults nothing has arrived
    from agent.tools.arrival_reviews import ask_about_arrivals, settle_arrivals, unseen_steering
    from agent.vault.held_back import HeldFile
    from agent.vault.receiving.held_now import held_files
else:
    ask_about_arrivals = later("agent.tools.arrival_reviews", "ask_about_arrivals")
    held_files = later("agent.vault.receiving.held_now", "held_files")
    settle_arrivals = later("agent.tools.arrival_reviews", "settle_arrivals")
    unseen_steering = later("agent.tools.arrival_reviews", "unseen_steering")

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RemoteState:
    """One remote: its name (empty: no longer configured), its writers (None: not answered), and the number of notes
    that came from it."""

    name: str
    address: str
    writers: str | None
    notes: int


@dataclass(frozen=True, slots=True)
class ArrivalState:
    """The remotes, the steering notes not reviewed yet, the number of notes that came from no remote, and the files
    that are held back."""

    remotes: tuple[RemoteState, ...]
    steering: tuple[str, ...]
    from_nowhere: int
    held: "tuple[HeldFile, ...]" = ()


def counted(notes: int) -> str:
    """The number with its noun: `1 note`, `2 notes`."""
    return "1 note" if notes == 1 else f"{notes} notes"


def arrival_state(workspace: Workspace) -> ArrivalState:
    """The state of arrivals; reads the configured remotes from git and changes nothing in the vault."""
    provenance = workspace.vault.provenance
    counts = provenance.counts()
    named = {address: name for name, address in provenance.addresses().items()}
    writers = provenance.answers.load().writers
    known = dict.fromkeys([*named, *(address for address in counts if address)])
    remotes = tuple(RemoteState(named.get(each, ""), each, writers.get(each), counts.get(each, 0)) for each in known)
    steering = _steering(workspace) if counts else ()
    held = held_files(workspace.vault) if load_held_back(workspace.vault.place.gitdir).files else ()
    return ArrivalState(remotes, steering, counts.get("", 0), held)


def _steering(workspace: Workspace) -> tuple[str, ...]:
    return tuple(sorted(arrival.path for arrival in unseen_steering(workspace.vault)))


def tend_arrivals(workspace: Workspace) -> tuple[str, ...]:
    """Apply the decisions about arrivals, and ask about new ones; returns the notes that ask."""
    for review in settle_arrivals(workspace.vault):
        logger.info("%s: %s", review.subject, review.status)
    clock = workspace.clock
    language = workspace.settings.vault.language
    asked = ask_about_arrivals(workspace.vault, clock.now(), clock.new_id(), language)
    for path in asked:
        logger.info("asked about what arrived in %s", path)
    return asked


def arrivals_before_a_run(workspace: Workspace) -> str:
    """Ask about new arrivals if no daemon runs; returns one line for the person, empty if nothing is new."""
    if is_watched(workspace):
        return ""
    try:
        asked = tend_arrivals(workspace)
    except AgentError as error:
        return f"what arrived could not be asked about yet: {error.message}"
    return "notes have arrived; who writes there, and may they steer me? vault-agent trust" if asked else ""
