"""The times of commands that read the history, in fresh processes, and of writes while the history is packed.

The vault has a long history, written by one `git fast-import`; the seed is fixed. Its commits have the shares of a
vault in use: runs of a few commits that change one to four notes, people's own commits without trailers, jobs, undos,
renames, deletions, and merges with another machine.
"""

import json
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, field
from pathlib import Path

from agent.benches.figures import Figure, Measure, as_installed, middle_and_tail, paired
from agent.benches.vaults import WORDS, git
from agent.clock import SystemClock
from agent.dataclass import dataclass
from agent.vault.change import Stamp
from agent.vault.folders import ENTRIES
from agent.vault.health.packing import LOOSE, pack
from agent.vault.options import Options
from agent.vault.store import Vault, open_vault

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


def build_history(root: Path, total: int, notes: int, seed: int = 5) -> LongHistory:
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


LOG_MS, UNDO_MS = 300.0, 2_000.0
"""The limits at 100,000 commits for the medians: a busy machine makes outliers."""
_EACH_WRITE = 5
"""Loose objects that one write leaves, at least."""


def long_history(commits: int, notes: int, say: Callable[[str], None]) -> tuple[Path, LongHistory]:
    """The folder of the generated vault in the temporary folder, made if it is missing, and what to ask about."""
    folder = Path(tempfile.gettempdir()) / f"vault-agent-bench-history-{commits}-{notes}"
    asked = folder / "asked.json"
    if not asked.is_file():
        say(f"writing {commits} commits to {folder}, which is kept")
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, mode=0o700)
        made = build_history(folder / "vault", commits, notes)
        asked.write_text(json.dumps(asdict(made)), "utf-8")
    found = json.loads(asked.read_text("utf-8"))
    runs = [(str(found[name][0]), str(found[name][1])) for name in ("recent", "middle", "old")]
    return folder, LongHistory(str(found["note"]), *runs)


def measure(commits: int, notes: int, rounds: int, say: Callable[[str], None]) -> list[Measure]:
    """All figures; the first command, which makes the record of the vault and the index, is measured by itself."""
    folder, asked = long_history(commits, notes, say)
    home = folder / "home"
    shutil.rmtree(home, ignore_errors=True)

    def run(*arguments: str) -> None:
        command = [sys.executable, "-m", "agent", "--vault", str(folder / "vault"), *arguments]
        subprocess.run(command, check=True, capture_output=True, env={**as_installed(), "VAULT_AGENT_HOME": str(home)})

    say("the first look at the history")
    found = [_first("status, first start", run, "status"), _first("log NOTE, without an index", run, "log", asked.note)]
    say("commands")
    undo = ("--dry-run", "--partial")
    logs = {
        "status": ("status",),
        "log": ("log",),
        "log NOTE": ("log", asked.note),
        "log --run, a recent one": ("log", "--run", asked.recent[0]),
        "log --run, an old one": ("log", "--run", asked.old[0]),
    }
    undos = {
        "undo --run, a recent one": ("undo", "--run", asked.recent[0], *undo),
        "undo --run, an old one": ("undo", "--run", asked.old[0], *undo),
        "undo COMMIT, a recent one": ("undo", asked.recent[1], *undo),
        "undo COMMIT, an old one": ("undo", asked.old[1], *undo),
    }
    tasks = [(name, _task(run, words)) for name, words in (logs | undos).items()]
    for figure in paired(rounds, tasks, warm=1):
        limit = LOG_MS if figure.name in logs else UNDO_MS
        found.append(Measure(f"{figure.name}, median of {len(figure.runs)}", figure.median, "ms", limit))
    say("writes, and writes while the history is packed")
    return found + _writes(folder / "vault", LOOSE // _EACH_WRITE)


def _first(name: str, run: Callable[..., None], *words: str) -> Measure:
    started = time.perf_counter()
    run(*words)
    return Measure(name, time.perf_counter() - started, "s")


def _task(run: Callable[..., None], words: tuple[str, ...]) -> Callable[[int], None]:
    return lambda _: run(*words)


def _writes(root: Path, count: int) -> list[Measure]:
    """The times of small changes in a copy of the vault: by themselves, and while a packing goes on."""
    with tempfile.TemporaryDirectory(prefix="vault-agent-bench-") as folder:
        copied = Path(folder) / "vault"
        shutil.copytree(root, copied, symlinks=True)
        vault = open_vault(copied, Path(folder) / "state", SystemClock(), Options(durable=True))
        quiet = [_write(vault, number) for number in range(count)]
        packing = threading.Thread(target=pack, args=(vault,))
        started = time.perf_counter()
        packing.start()
        beside = list[float]()
        while packing.is_alive() or len(beside) < 2:
            beside.append(_write(vault, count + len(beside)))
        taken = time.perf_counter() - started
    return [
        *middle_and_tail(Figure("one small change", tuple(quiet)), None),
        *middle_and_tail(Figure("one small change while the history is packed", tuple(beside)), None),
        Measure("packing beside the writes", taken, "s"),
    ]


def _write(vault: Vault, number: int) -> float:
    started = time.perf_counter()
    with vault.transaction("bench(history): one small note", Stamp("agent", tool="bench")) as transaction:
        transaction.create(f"{ENTRIES}2026/11/bench-{number}.md", b"---\nid: b\n---\nA small note.\n")
    return (time.perf_counter() - started) * 1000
