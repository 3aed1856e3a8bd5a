"""A program in whose session a hook runs, as the server knows it: by the name of its configuration, with its policy and
what it has read from strangers."""

from agent.dataclass import dataclass
from agent.interfaces.mcp.clients import TAINT_FOLDER, Clients, ClientTaints
from agent.interfaces.mcp.source import CallSource
from agent.tools.policy import Policies, Policy, load_policies
from agent.tools.tool import RunContext
from agent.workspace.workspace import Workspace


@dataclass(frozen=True, slots=True)
class SessionProgram:
    """The program: the context of its calls, and the policies of the machine."""

    name: str
    context: RunContext
    policies: Policies

    @property
    def policy(self) -> Policy:
        """The policy of its calls."""
        return self.policies.choose(self.context).policy


def session_program(workspace: Workspace, name: str) -> SessionProgram:
    """The program of this name; raises `ConfigError` for an invalid policy."""
    clock = workspace.vault.clock
    clients = Clients(clock, ClientTaints(workspace.vault.private_folder / TAINT_FOLDER, clock))
    context = clients.find(CallSource(name), "").context
    return SessionProgram(name, context, load_policies(workspace.directories.config))
