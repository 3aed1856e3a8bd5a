"""A second person with a clone of a vault, and the remote between the two: bare, on this machine."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.vaults import UNTENDED, lay_bare_repository, write


def git_as(root: Path, name: str, *args: str, check: bool = True) -> str:
    """Run git in somebody's name."""
    mail = f"{name.lower()}@example.org"
    settings = ["-c", f"user.name={name}", "-c", f"user.email={mail}", "-c", "protocol.file.allow=always"]
    result = subprocess.run(["git", *UNTENDED, *settings, *args], cwd=root, capture_output=True, text=True, check=False)
    if check and result.returncode:
        raise AssertionError(f"git {' '.join(args)}: {result.stderr}")
    return result.stdout


@dataclass(frozen=True, slots=True)
class Mallory:
    """Somebody who may push to the remote of the vault at `vault`; `root` is their clone."""

    vault: Path
    root: Path
    remote: Path

    def pushes(self, files: dict[str, str | None], message: str = "hi", author: str = "Mallory") -> str:
        """Change files (None: remove) on top of what the remote has, and push; returns the commit."""
        self.pulls()
        for path, content in files.items():
            if content is None:
                (self.root / path).unlink(missing_ok=True)
            else:
                write(self.root / path, content)
        git_as(self.root, author, "add", "-A")
        git_as(self.root, author, "commit", "-q", "--allow-empty", "-m", message)
        git_as(self.root, author, "push", "-q", "origin", "HEAD:main")
        return git_as(self.root, author, "rev-parse", "HEAD").strip()

    def pulls(self) -> None:
        """Take what the remote has."""
        git_as(self.root, "Mallory", "pull", "-q", "--ff-only", "origin", "main")

    def read(self, path: str) -> str:
        """A file as their clone has it; empty where there is none."""
        try:
            return (self.root / path).read_text("utf-8")
        except FileNotFoundError:
            return ""


def shared_with_mallory(vault: Path, folder: Path) -> Mallory:
    """Give a vault a remote, push what is there, and let Mallory clone it."""
    remote = folder / "shared.git"
    make_remote(remote)
    git_as(vault, "Anna", "remote", "add", "origin", str(remote))
    git_as(vault, "Anna", "push", "-q", "-u", "origin", "main")
    git_as(folder, "Mallory", "clone", "-q", str(remote), str(folder / "mallory"))
    return Mallory(vault, folder / "mallory", remote)


def make_remote(path: Path) -> None:
    """A bare repository of the format that vaults have."""
    lay_bare_repository(path)


def clone_as(name: str, remote: Path, root: Path, **settings: str) -> None:
    """Clone a remote to `root` in somebody's name, which the clone keeps."""
    kept = {"user.name": name, "user.email": f"{name.lower()}@example.org", **settings}
    options = [option for key, value in kept.items() for option in ("-c", f"{key}={value}")]
    git_as(root.parent, name, "clone", "-q", *options, str(remote), str(root))
