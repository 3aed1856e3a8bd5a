"""The agent and a person change the same notes at the same time; afterwards every line that was saved is looked for.

After each save the agent makes one whole change more, which has to take up what the person saved: no save may hide
behind the next one.
"""

import os
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from agent.clock import SystemClock
from agent.errors import AgentError
from agent.vault.change import Outcome, Stamp
from agent.vault.store import Vault
from agent.vault.worktree.files import Files
from tests.fakes import FakeClock
from tests.trust import checks
from tests.trust.forks import PROJECT
from tests.trust.ledger import Ledger
from tests.vaults import git, make_vault, with_parts

ANIMALS = ("ant", "bee", "cat", "dog", "eel", "fly", "gnu", "hen", "ibis", "jay")
NOTES = tuple(f"notes/{name}.md" for name in ANIMALS)


@dataclass(frozen=True, slots=True)
class CountingFiles(Files):
    """The vault's files; `again` has each path that had to be written a second time because a person saved first."""

    again: list[str] = field(default_factory=list)

    def stage(self, path: str, temporary: str, data: bytes, mode: int | None) -> None:
        if temporary.endswith(".1"):
            self.again.append(path)
        Files.stage(self, path, temporary, data, mode)


@dataclass(frozen=True, slots=True)
class SlowEditorFiles(Files):
    """The vault's files, and an editor that opens and empties the note just before ours comes into its place."""

    opened: list[int] = field(default_factory=list)

    def trade(self, path: str, temporary: str) -> None:
        if not self.opened:
            self.opened.append(os.open(self.root / path, os.O_WRONLY | os.O_TRUNC))
        Files.trade(self, path, temporary)


@dataclass(slots=True)
class Races:
    """What came of it: saves made, collisions at the last moment, conflict copies, refusals."""

    saves: int = 0
    collisions: int = 0
    copies: int = 0
    refused: int = 0

    def add(self, other: "Races") -> None:
        """Count another series in."""
        self.saves += other.saves
        self.collisions += other.collisions
        self.copies += other.copies
        self.refused += other.refused


def race(folder: Path, style: str, saves: int, seed: str) -> Races:
    """Let a person save `saves` times while the agent writes; raises `AssertionError` when a line is lost."""
    opened = make_vault(folder, {name: f"# {Path(name).stem}\n\nold text\n\n- end\n" for name in NOTES})
    files = CountingFiles(opened.place.root, SystemClock(), False)
    vault = with_parts(opened, files=files)
    ledger = Ledger(folder / "ledger.jsonl")
    total = Races()
    arguments = [str(vault.place.root), str(ledger.path), str(vault.writer.layout.journal), style, seed, *NOTES]
    command = [sys.executable, "-m", "tests.trust.editor", *arguments]
    with subprocess.Popen(command, cwd=PROJECT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as editor:
        assert editor.stdin and editor.stdout
        try:
            for number in range(saves // len(NOTES)):
                editor.stdin.write(f"{number}\n".encode())
                editor.stdin.flush()
                _change(vault, ledger, f"m{number}-during", total)
                assert editor.stdout.readline() == b"done\n"
                total.saves += len(NOTES)
                _change(vault, ledger, f"m{number}-after", total)
        finally:
            editor.stdin.close()
            editor.kill()
    vault.commit_human()
    total.collisions = len(files.again)
    check(vault.place.root, ledger)
    return total


def save_slowly(folder: Path) -> str:
    """An editor writes its text when the agent is done; returns the note, raises `AssertionError` if it is lost."""
    opened = make_vault(folder, {"note.md": "old\n"}, clock=FakeClock())
    root = opened.place.root
    files = SlowEditorFiles(root, opened.clock, False)
    vault = with_parts(opened, files=files)
    with suppress(AgentError), vault.transaction("agent(notes): a line", Stamp("agent", "r1")) as transaction:
        transaction.append("note.md", b"agent line\n")
    (descriptor,) = files.opened
    os.write(descriptor, b"human slow line\n")
    os.close(descriptor)
    assert b"human slow line" in checks.reachable_lines(root), "the slow save is lost"
    return (root / "note.md").read_text()


def _change(vault: Vault, ledger: Ledger, run: str, total: Races) -> None:
    """Append to some of the notes and edit the others, in one transaction."""
    text = f"agent {run}\n".encode()
    ledger.add("intent", run)
    try:
        with vault.transaction(f"agent(notes): {run}", Stamp("agent", run)) as transaction:
            for number, name in enumerate(NOTES):
                base = vault.read(name)
                if base is None or number % 2:
                    transaction.append(name, text)
                else:
                    transaction.edit(name, base, base.replace(b"\n\n", b"\n\n" + text, 1))
    except AgentError:
        total.refused += 1
        ledger.add("refused", run)
        return
    outcome = transaction.outcome
    assert outcome.commit or outcome.queued, outcome
    ledger.add("acked", run, commit=outcome.commit or "")
    total.copies += len(outcome.conflicts)
    check_shown(vault.place.root, outcome)


def check_shown(root: Path, outcome: Outcome) -> None:
    """Every conflict copy of a change is a note in the same commit, and the note that it came from links to it."""
    for copy in outcome.conflicts:
        assert (root / copy).exists(), f"{copy} was announced and is not there"
        original = copy.partition(" (conflict ")[0] + ".md"
        names = [f"{outcome.commit}:{copy}", f"{outcome.commit}:{original}"]
        held, note = checks.blobs(root, names)
        assert held is not None and b"conflict_of:" in held, f"{copy} does not say what it is a copy of"
        assert note is not None and copy.removesuffix(".md").encode() in note, f"{original} does not link to {copy}"


def check(root: Path, ledger: Ledger) -> None:
    """Every line that a person saved is on disk or in a commit, and every acknowledged line of the agent's too."""
    lines = ledger.lines()
    found = checks.reachable_lines(root)
    saved = [text for line in lines if line.kind == "saved" for text in line.files.values() if text]
    lost = [text for text in saved if text.strip().encode() not in found]
    assert not lost, f"{len(lost)} of {len(saved)} saves are lost: {lost[:3]}"
    acked = [line.id for line in lines if line.kind == "acked"]
    lost = [run for run in acked if f"agent {run}".encode() not in found]
    assert not lost, f"{len(lost)} of {len(acked)} acknowledged changes are lost: {lost[:3]}"
    by_run: Sequence[str] = [commit.run for commit in checks.commits(root) if commit.run]
    assert sorted(by_run) == sorted(acked), "not one commit for each acknowledged change"
    checks.check_sound(root)
    assert not git(root, "status", "--porcelain").strip(), git(root, "status", "--porcelain")
