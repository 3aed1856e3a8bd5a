"""A person with an account of their own, for transfers: settings, logins and ssh are theirs, not this machine's."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.git.network import Network
from agent.vault.store import Vault
from tests.remotes import make_remote
from tests.vaults import git, make_vault


@dataclass(frozen=True, slots=True)
class Shared:
    """A vault, its bare remote in a folder, and the network between the two."""

    vault: Vault
    remote: Path
    network: Network

    @property
    def root(self) -> Path:
        return self.vault.place.root

    def saves(self, path: str, content: str) -> str:
        """Commit a file in the vault; returns the commit."""
        (self.root / path).write_text(content)
        git(self.root, "add", "-A")
        git(self.root, "commit", "-q", "-m", "saved")
        return git(self.root, "rev-parse", "HEAD").strip()

    def there(self, ref: str = "refs/heads/main") -> str:
        """The commit that the remote has; empty for none."""
        return git(self.remote, "rev-parse", "-q", "--verify", ref, check=False).strip()


def own_account(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give this process an account without settings; returns the file for them."""
    home = folder / "home"
    home.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(home / ".config"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    for name in ("GIT_CONFIG_GLOBAL", "GIT_SSH_COMMAND", "GIT_SSH", "SSH_AUTH_SOCK"):
        monkeypatch.delenv(name, raising=False)
    return home / ".gitconfig"


def shared(folder: Path) -> Shared:
    """A vault with a note, pushed to its remote `origin`, a bare repository beside it."""
    vault = make_vault(folder, {"notes/a.md": "one\n"})
    remote = folder / "remote.git"
    make_remote(remote)
    git(vault.place.root, "remote", "add", "origin", str(remote))
    git(vault.place.root, "push", "-q", "origin", "main")
    return Shared(vault, remote, Network(vault.git, seconds=20))
