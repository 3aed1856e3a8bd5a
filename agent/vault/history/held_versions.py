"""The versions of some notes in each commit, from one walk over the history: the changes of each commit to its parent.

To ask git for each note in each commit takes minutes where many notes are concerned.
"""

from collections.abc import Mapping, Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.vault.plumbing.git import Git

_BEGIN = "\x01"
_NONE: Mapping[str, str] = {}


@dataclass(slots=True)
class HeldVersions:
    """The blob ids of `paths` (from the top of the repository), by commit."""

    git: Git
    paths: frozenset[str]
    _known: dict[str, Mapping[str, str]] = field(default_factory=dict)

    def of(self, commits: Sequence[str]) -> dict[str, Mapping[str, str]]:
        """For each commit the paths that it has, with the id of the blob; raises `GitFailed`."""
        if missing := [commit for commit in commits if commit not in self._known]:
            self._walk(missing)
        return {commit: self._known.get(commit, _NONE) for commit in commits}

    def _walk(self, commits: Sequence[str]) -> None:
        options = ["--topo-order", "--reverse", "--root", "--diff-merges=first-parent", "--raw", "--no-abbrev"]
        options += ["--no-renames", "--no-relative", "--no-show-signature", "-z", f"--format={_BEGIN}%H %P"]
        out = self.git.run("log", *options, "--stdin", stdin="".join(f"{each}\n" for each in commits).encode())
        fields = iter(out.decode("utf-8", "surrogateescape").split("\0"))
        commit = ""
        for row in fields:
            row = row.lstrip("\n")
            if row.startswith(_BEGIN):
                commit, *parents = row[1:].split()
                self._known[commit] = self._known.get(parents[0], _NONE) if parents else _NONE
            elif row.startswith(":") and (path := next(fields, "")) in self.paths:
                self._change(commit, path, row.split(" ")[3])

    def _change(self, commit: str, path: str, blob: str) -> None:
        """Note a change; the mapping of the parent stays as it is."""
        left = {each: oid for each, oid in self._known[commit].items() if each != path}
        self._known[commit] = {**left, path: blob} if blob.strip("0") else left
