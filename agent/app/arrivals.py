"""Which versions of notes came with a move of HEAD (a pull, a checkout, a merge), and not from a hand on this machine.

Nobody's request is a request here because it was pulled. A move counts as made here when each of its steps is a commit
that this program made or that git's own log of HEAD calls a commit; whatever else moved HEAD brought strangers' text.
A program that copies files into the vault without git (a synchronised folder) cannot be told from a person's editor.
"""

from dataclasses import dataclass, field

from agent.vault.store import Vault

_LOCAL = ("commit:", "commit (initial):", "commit (amend):")


@dataclass(slots=True)
class Arrivals:
    """What has come since this was made. `head` is the commit that was looked at last, None for none."""

    vault: Vault
    head: str | None
    _came: dict[str, str] = field(default_factory=dict)

    def has(self, path: str, blob: str) -> bool:
        """Whether the note got this content by a move of HEAD; raises `AgentError` when git does not say."""
        now = head_of(self.vault)
        if now is not None and now != self.head:
            if not self._is_local(now):
                self._came.update(self._brought(now))
            self.head = now
        return self.came(path, blob)

    def came(self, path: str, blob: str) -> bool:
        """The same, as far as git was asked."""
        return self._came.get(path) == blob

    def _is_local(self, now: str) -> bool:
        """Whether all that HEAD has done since the last look was to take up new commits that were made here."""
        command = ["log", "--walk-reflogs", "--max-count=500", "--format=%H %gs", "HEAD", "--"]
        steps = self.vault.git.run(*command, ok=(0, 128)).decode("utf-8", "replace").splitlines()
        if self.head is None or not steps or not steps[0].startswith(now):
            return False
        ours = self.vault.writer.journal.commits()
        for step in steps:
            commit, _, how = step.partition(" ")
            if commit == self.head:
                return True
            if commit not in ours and not how.startswith(_LOCAL):
                return False
        return False

    def _brought(self, now: str) -> dict[str, str]:
        """The content of each path that the move has changed; of all paths where there was no commit before."""
        if self.head is None:
            command = ["ls-tree", "-r", "-z", "--format=%(objectname) %(path)", "--full-tree", now]
            rows = [row.partition(" ")[::2] for row in self._ask(command) if row]
        else:
            switches = ["-r", "-z", "--no-renames", "--full-index", "--raw", "--no-ext-diff"]
            found = self._ask(["diff-tree", *switches, self.head, now])
            rows = [(meta.split(" ")[3], path) for meta, path in zip(found[0::2], found[1::2], strict=False)]
        prefix = self.vault.place.prefix
        return {path.removeprefix(prefix): blob for blob, path in rows if path.startswith(prefix)}

    def _ask(self, command: list[str]) -> list[str]:
        return self.vault.git.run(*command).decode("utf-8", "surrogateescape").split("\0")


def head_of(vault: Vault) -> str | None:
    """The commit that HEAD is on, None where there is none."""
    return vault.git.run("rev-parse", "--verify", "-q", "HEAD", ok=(0, 1)).decode().strip() or None
