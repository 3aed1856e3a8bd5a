"""Small random histories, written by `git fast-import`: what a vault may have after years, in a few commits."""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vaults import FAST, git, init, write

NAMES = ("a.md", "b.md", "c.md", "box/a.md", "box/b.md", "x\ty.md")
RUNS = ("01RUN", "01RUN.2", "02RUN")
_LINES = ("one", "two", "three", "four", "five", "six", "seven")


@dataclass
class _Side:
    tip: int
    files: dict[str, str] = field(default_factory=dict)


class RandomHistory:
    """A vault with two machines' commits, which meet again and again; the same seed gives the same history."""

    def __init__(self, seed: int, folder: Path, count: int = 14) -> None:
        self.chance = random.Random(seed)
        self.root = folder / "vault"
        self.folder = folder
        self.when = 1_700_000_000
        self.count = count
        self.ids: dict[int, str] = {}
        self._made: list[int] = []
        self._mark = 0
        self.root.mkdir(parents=True)
        init(self.root)
        git(self.root, "config", "user.name", "Anna")
        git(self.root, "config", "user.email", "anna@example.org")
        if seed % 4:  # commits that are in no reflog were here before the record began: their trailers are believed
            git(self.root, "config", "core.logAllRefUpdates", "false")
        write(self.root / "vault-agent.yaml", "")
        self.main = _Side(0, {})
        self._import([self._commit(self.main, {"vault-agent.yaml": ""}, "begin")])

    def open(self) -> Vault:
        """The vault, with the newest commit on disk."""
        return open_vault(self.root, self.folder / "state", FakeClock(), FAST)

    def grow(self) -> None:
        """Add commits on both machines, and merge them at times."""
        for _ in range(self.count):
            self._import(self._more())

    def _more(self) -> Iterator[str]:
        if self.chance.random() < 0.15:
            other = _Side(self.main.tip, dict(self.main.files))
            for side in self.chance.choices([self.main, other], k=3):
                yield self._change(side)
            if other.tip != self.main.tip:
                yield self._merge(other)
        else:
            yield self._change(self.main)

    def _merge(self, other: _Side) -> str:
        kept = dict(self.main.files) if self.chance.random() < 0.5 else {**other.files, **self.main.files}
        return self._commit(self.main, kept, "merged", other.tip)

    def _change(self, side: _Side) -> str:
        files = dict(side.files)
        for _ in range(self.chance.choice([1, 1, 2, 3])):
            here = [name for name in files if name.endswith(".md")]
            act, name = self.chance.random(), self.chance.choice(NAMES)
            if act < 0.35 or not here:
                files[name] = self._text()
            elif act < 0.6:
                old = self.chance.choice(here)
                files[name] = files.pop(old)
            elif act < 0.75:
                del files[self.chance.choice(here)]
            else:
                old = self.chance.choice(here)
                files[old] = self._edited(files[old])
        return self._commit(side, files, self._message())

    def _text(self) -> str:
        return "".join(f"{self.chance.choice(_LINES)}\n" for _ in range(self.chance.randint(1, 5)))

    def _edited(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        lines.insert(self.chance.randint(0, len(lines)), f"{self.chance.choice(_LINES)} more\n")
        return "".join(lines)

    def _message(self) -> str:
        kind = self.chance.random()
        if kind < 0.3:
            return "by hand"
        if kind < 0.45 and self._made:
            undone = self.ids[self.chance.choice(self._made)]
            return f"undo(notes): it\n\nVault-Actor: human\nVault-Tool: undo\nVault-Undoes: {undone}"
        actor = self.chance.choice(["agent", "agent", "job:daily"])
        return f"edit(notes): it\n\nVault-Actor: {actor}\nVault-Run: {self.chance.choice(RUNS)}\nVault-Tool: edit"

    def _commit(self, side: _Side, files: dict[str, str], message: str, other: int = 0) -> str:
        self._mark += 1
        self.when += self.chance.choice([0, 60, 60, 3600])
        who = f"Anna <anna@example.org> {self.when} +0100"
        parts = [f"commit refs/heads/main\nmark :{self._mark}\nauthor {who}\ncommitter {who}\n", _data(message)]
        parts += [f"from {self.ids.get(side.tip, f':{side.tip}')}\n"] if side.tip else []
        parts += [f"merge {self.ids.get(other, f':{other}')}\n"] if other else []
        parts += ["deleteall\n", *(f'M 100644 inline "{_quoted(path)}"\n{_data(text)}' for path, text in files.items())]
        side.tip, side.files = self._mark, files
        return "".join(parts)

    def _import(self, pieces: Iterator[str] | list[str]) -> None:
        marks = self.folder / "marks"
        stream = "".join(pieces).encode()
        command = ["git", "fast-import", "--quiet", "--force", f"--export-marks={marks}"]
        subprocess.run(command, cwd=self.root, input=stream, check=True)
        rows = (row.split() for row in marks.read_text().splitlines())
        self.ids |= {int(mark[1:]): oid for mark, oid in rows}
        self._made = list(self.ids)
        # a branch that fast-import wrote last may be the other machine's: the branch is where the first one is
        git(self.root, "update-ref", "refs/heads/main", self.ids[self.main.tip])

    def check_out(self) -> None:
        """Write the newest commit to disk, then change something by hand, without a commit."""
        git(self.root, "read-tree", "HEAD")
        git(self.root, "checkout-index", "-a", "-f", "-q")
        here = sorted(name for name in self.main.files if name.endswith(".md"))
        act = self.chance.random()
        if here and act < 0.3:
            (self.root / here[0]).rename(self.root / "moved by hand.md")
        elif here and act < 0.5:
            write(self.root / here[-1], self.main.files[here[-1]] + "unsaved\n")
        elif here and act < 0.6:
            (self.root / here[0]).unlink()


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _quoted(path: str) -> str:
    return path.replace("\\", "\\\\").replace("\t", "\\t")
