"""The branch that a new clone of a remote begins with. A bare repository names one before it has any; where that is not
the vault's, each clone by another program, such as a git app of a phone, is an empty folder."""

from contextlib import suppress
from pathlib import Path

from agent.config.addresses import without_login
from agent.errors import AgentError
from agent.git.network import Network
from agent.git.runner import Git
from agent.texts import Sentence
from agent.vault.store import Vault
from agent.vault.sync.state import SyncedRemote


def settle_head(vault: Vault, remote: SyncedRemote) -> Sentence | None:
    """Let new clones of a remote begin with its branch, if they would be empty: a repository in a folder is set right.

    Returns what was done, or what the person has to do where another machine has it; None if clones are as they should
    be, or the remote does not answer.
    """
    head, refs = f"refs/heads/{remote.branch}", dict[str, str]()
    with suppress(AgentError):
        refs = Network(vault.git).list_refs(remote.address)
    if head not in refs or "HEAD" in refs:
        return None
    address, folder = without_login(remote.address), Path(remote.address.removeprefix("file://"))
    if (folder / "HEAD").is_file() and (folder / "objects").is_dir() and folder.name != ".git":
        with suppress(AgentError):
            Git(folder, folder, durable=vault.git.durable).run("symbolic-ref", "HEAD", head)
            return Sentence(
                "new clones of {address} begin with {branch} now; they would have been empty",
                address=address,
                branch=remote.branch,
            )
    return Sentence(
        "a new clone of {address}, as on a phone, would be empty: in the folder of that repository, type "
        "git symbolic-ref HEAD {head}",
        address=address,
        head=head,
    )
