"""Reads files of a vault for whoever does not see the private ones: for them such a file is not there."""

import errno
import os

from agent.dataclass import dataclass
from agent.errors import BadPath, Retryable, UserError
from agent.vault.plumbing.git import Git
from agent.vault.plumbing.object_ids import LINK
from agent.vault.plumbing.repository import Place
from agent.vault.private_notes import PrivateNotes
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import check_inside


@dataclass(frozen=True, slots=True)
class PublicFiles:
    """The files of one vault without the private ones."""

    place: Place
    git: Git
    files: Files
    private_notes: PrivateNotes

    def read(self, path: str) -> bytes | None:
        """As `Vault.read`."""
        if self.private_notes.cover(check_inside(path)):
            return None
        try:
            return self._shown(path, self.files.read(path))
        except Retryable:
            return self.read_now(path)

    def read_now(self, path: str) -> bytes | None:
        """As `Vault.read_now`."""
        if self.private_notes.cover(check_inside(path)):
            return None
        found = self.files.read_now(path)
        if found is not None and found[0] == LINK:
            raise BadPath("{path} is a link", hint="links are not followed", path=path)
        return None if found is None else self._shown(path, found[1])

    def glance(self, path: str) -> bytes:
        """As `Vault.glance`."""
        check_inside(path)
        descriptor = os.open(self.place.root / path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            data = file.read()
        if self.private_notes.hide(path, data):
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
        return data

    def read_at(self, revision: str, path: str) -> bytes | None:
        """As `Vault.read_at`."""
        check_inside(path)
        command = ["rev-parse", "--verify", "-q", "--end-of-options", f"{revision}^{{commit}}"]
        commit = self.git.run(*command, ok=(0, 1, 128)).decode().strip()
        if not commit:
            raise UserError("there is no commit {revision}", hint="vault-agent log lists them", revision=revision)
        (found,) = self.git.objects([f"{commit}:{self.place.prefix}{path}"])
        if found is None or found.kind != "blob" or self.private_notes.have(path):
            return None
        return self._shown(path, found.data)

    def _shown(self, path: str, data: bytes | None) -> bytes | None:
        return None if data is not None and self.private_notes.hide(path, data) else data
