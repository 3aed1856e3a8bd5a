"""A generated vault with a long history, written by one `git fast-import`; the seed is fixed.

Its commits have the shares of a vault in use: runs of a few commits that change one to four notes, people's own commits
without trailers, jobs, undos, renames, deletions, and merges with another machine.
"""

import random
import subprocess
from collections.abc import Iterator
from dataclasses import field
from pathlib import Path

from agent.dataclass import dataclass
from agent.interfaces.cli.benches.vaults import WORDS, git
from agent.vault.folders import ENTRIES

YEAR_START = 1_704_067_200
"""Seconds since 1970 of the oldest commit: the first day of 2024."""
SPAN = 2 * 365 * 86_400
"""Seconds between the oldest and the newest commit."""
_DIGITS = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_AGENT = "vault-agent <vault-agent@localhost>"
_PERSON = "Bench <bench@localhost>"


@dataclass(frozen=True, slots=True)
class LongHistory:
    """What a bench asks about: a note and runs of three ages, each with one of its commits."""

    note: str
    recent: tuple[str, str]
    middle: tuple[str, str]
    old: tuple[str, str]


@dataclass(slots=True)
class _Writer:
    chance: random.Random
    total: int
    notes: list[str] = field(default_factory=list)
    texts: dict[str, list[str]] = field(default_factory=dict)
    marks: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each run: the number of its first commit, and that commit's mark."""
    _mark: int = 0

    def stream(self, notes: int) -> Iterator[str]:
        """The whole input of fast-import."""
        first = [self._change(self._new_note(number)) for number in range(notes)]
        first.append("M 100644 inline vault-agent.yaml\n" + _data("vault:\n  language: en\n"))
        yield self._commit(0, _PERSON, "notes", first)
        number, run, left = 1, "", 0
        while number < self.total:
            if left == 0:
                run, left = _ulid(self._when(number), self.chance), self.chance.randint(2, 8)
            left -= 1
            if self.chance.random() < 0.03:
                yield from self._merged(number)
            elif self.chance.random() < 0.3:
                yield self._commit(number, _PERSON, "my own edit", self._edits(number))
            else:
                self.marks.setdefault(run, (number, self._mark + 1))
                yield self._commit(number, _AGENT, self._message(run, number), self._edits(number))
            number += 1

    def _message(self, run: str, number: int) -> str:
        tool = self.chance.choice(["edit_note", "create_note", "capture", "remember"])
        lines = [f"edit(notes): change number {number}", "", "Because the bench asked for it.", ""]
        actor = "agent" if self.chance.random() < 0.9 else "job:daily-review"
        return "\n".join([*lines, f"Vault-Actor: {actor}", f"Vault-Run: {run}", f"Vault-Tool: {tool}"])

    def _merged(self, number: int) -> Iterator[str]:
        """A commit of another machine on top of the last but one, and the merge of both."""
        tip = self._mark
        change = self._change(self._new_note(number, "phone"))
        yield self._commit(number, _PERSON, "from the phone", [change], parent=tip - 1)
        side = self._mark
        yield self._commit(number, _AGENT, "sync(git): merge", [change], parent=tip, other=side)

    def _edits(self, number: int) -> list[str]:
        found = []
        for _ in range(self.chance.choice([1, 1, 1, 2, 4])):
            kind = self.chance.random()
            if kind < 0.03:
                found.append(self._change(self._new_note(number)))
            elif kind < 0.06:
                old = self._pick()
                new = old.removesuffix(".md") + "-moved.md" if len(old) < 90 else f"{ENTRIES}2025/01/m-{number}.md"
                if new in self.texts:
                    continue
                self.texts[new] = self.texts.pop(old)
                self.notes[self.notes.index(old)] = new
                found.append(f"R {old} {new}\n")
            elif kind < 0.08 and len(self.notes) > 100:
                gone = self._pick()
                self.notes.remove(gone)
                del self.texts[gone]
                found.append(f"D {gone}\n")
            else:
                path = self._pick()
                lines = self.texts[path]
                lines[self.chance.randrange(4, len(lines))] = self._sentence()
                found.append(self._change(path))
        return found

    def _pick(self) -> str:
        """A note; a few notes are changed often."""
        at = int(len(self.notes) * self.chance.random() ** 3)
        return self.notes[at]

    def _new_note(self, number: int, place: str = "note") -> str:
        path = f"{ENTRIES}{2015 + number % 10}/{number % 12 + 1:02}/{place}-{number:06}.md"
        while path in self.texts:
            path = path.removesuffix(".md") + "x.md"
        self.notes.append(path)
        body = [self._sentence() for _ in range(8)]
        self.texts[path] = ["---", f"id: {number}", "type: user_explicit", "---", *body]
        return path

    def _sentence(self) -> str:
        return " ".join(self.chance.choices(WORDS, k=10))

    def _change(self, path: str) -> str:
        text = "\n".join(self.texts[path]) + "\n"
        return f"M 100644 inline {path}\n{_data(text)}"

    def _when(self, number: int) -> int:
        return YEAR_START + SPAN * number // self.total

    def _commit(
        self, number: int, author: str, message: str, changes: list[str], parent: int | None = None, other: int = 0
    ) -> str:
        self._mark += 1
        when = f"{self._when(number)} +0000"
        links = f"from :{parent or self._mark - 1}\n" if self._mark > 1 else ""
        links += f"merge :{other}\n" if other else ""
        head = f"commit refs/heads/main\nmark :{self._mark}\nauthor {author} {when}\ncommitter {author} {when}\n"
        return head + _data(message + "\n") + links + "".join(changes) + "\n"


def build(root: Path, total: int, notes: int, seed: int = 5) -> LongHistory:
    """Make the vault at `root` with `total` commits (merges add a few) over `notes` notes."""
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    git(root, "config", "user.name", "Bench")
    git(root, "config", "user.email", "bench@localhost")
    git(root, "config", "core.logAllRefUpdates", "false")  # commits in no reflog were here before: they are believed
    writer = _Writer(random.Random(seed), total)
    command = ["git", "fast-import", "--quiet", "--export-marks=.git/bench-marks"]
    importing = subprocess.Popen(command, cwd=root, stdin=subprocess.PIPE)
    assert importing.stdin is not None
    for piece in writer.stream(notes):
        importing.stdin.write(piece.encode())
    importing.stdin.close()
    importing.wait()
    git(root, "config", "--unset", "core.logAllRefUpdates")
    git(root, "read-tree", "HEAD")
    git(root, "checkout-index", "-a", "-q")
    git(root, "update-index", "-q", "--refresh")
    rows = (row.split() for row in (root / ".git" / "bench-marks").read_text().splitlines())
    ids = {int(mark[1:]): oid for mark, oid in rows}
    runs = [(run, ids[mark]) for run, (_, mark) in writer.marks.items()]
    often = max(writer.notes[:50], key=len)
    return LongHistory(often, runs[-20], runs[len(runs) // 2], runs[len(runs) // 20])


def _data(text: str) -> str:
    return f"data {len(text.encode())}\n{text}\n"


def _ulid(seconds: int, chance: random.Random) -> str:
    number, digits = seconds * 1000, ""
    for _ in range(10):
        number, digit = divmod(number, 32)
        digits = _DIGITS[digit] + digits
    return digits + "".join(chance.choices(_DIGITS, k=16))
