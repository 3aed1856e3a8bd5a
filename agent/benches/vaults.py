"""Generated vaults for measurements; the seed is fixed, so the notes are the same on every machine. The time of one
small durable change in one, and of `git add` and `git commit` for it in a copy.

`build` repeats 32 words, which is enough to time git. `build_prose` is for search, which would find each of those notes
by every question: it draws from 30,000 words, a few common and most of them rare (Zipf's law).
"""

import random
import shutil
import subprocess
from itertools import accumulate
from pathlib import Path

from agent.benches.figures import Figure, paired
from agent.clock import SystemClock
from agent.vault.change import Stamp
from agent.vault.folders import ENTRIES
from agent.vault.options import Options
from agent.vault.store import open_vault

WORDS = (
    *("garden", "letter", "river", "meeting", "budget", "engine", "winter", "notes", "paper", "answer", "question"),
    *("market", "travel", "doctor", "kitchen", "music", "project", "summer", "window", "history", "lesson", "number"),
    *("reason", "station", "ticket", "village", "weather", "system", "design", "memory", "method", "harbour"),
)
WORDS_PER_NOTE = 130
VOCABULARY = 30_000
_PARAGRAPH = 26
_ONSETS = ("b", "ch", "d", "f", "gr", "k", "l", "m", "n", "pr", "r", "s", "st", "t", "v")
_SYLLABLES = tuple(onset + vowel for onset in _ONSETS for vowel in "aeiou")


def build(root: Path, notes: int) -> None:
    """Create a committed vault of `notes` notes of about 130 words, in the folders of one year of entries."""
    chance = random.Random(1)
    root.mkdir(parents=True)
    (root / "vault-agent.yaml").write_text("vault:\n  language: en\n", "utf-8")
    for number in range(notes):
        folder = root / ENTRIES / "2026" / f"{number % 12 + 1:02}"
        folder.mkdir(parents=True, exist_ok=True)
        body = " ".join(chance.choices(WORDS, k=WORDS_PER_NOTE))
        (folder / f"note-{number:06}.md").write_text(f"---\nid: {number}\ntype: user_explicit\n---\n{body}\n", "utf-8")
    for command in (
        ["init", "-q", "-b", "main"],
        ["config", "user.name", "Bench"],
        ["config", "user.email", "bench@localhost"],
        ["add", "-A"],
        ["-c", "gc.auto=0", "commit", "-q", "-m", "notes"],
        ["gc", "-q"],
    ):
        git(root, *command)


def git(root: Path, *arguments: str) -> None:
    """Run git with the user's settings."""
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)


def build_prose(root: Path, notes: int, of_words: int = WORDS_PER_NOTE) -> list[str]:
    """Create a committed vault of `notes` notes of so many words, 26 in each paragraph; returns their paths, always the
    same."""
    build(root, 0)
    chance = random.Random(1)
    words = ["".join(chance.choices(_SYLLABLES, k=chance.randint(1, 4))) for _ in range(VOCABULARY)]
    heights = list(accumulate(1 / (rank + 3) for rank in range(VOCABULARY)))
    paths = []
    for number in range(notes):
        body = chance.choices(words, cum_weights=heights, k=of_words)
        lines = [" ".join(body[at : at + _PARAGRAPH]) for at in range(0, of_words, _PARAGRAPH)]
        header = f"---\nid: {number}\ntype: note\ndate: 2026-{number % 12 + 1:02}-{number % 28 + 1:02}\n---\n"
        path = f"notes/{number % 100:02}/note-{number:06}.md"
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        text = f"{header}# {body[0]} {body[1]}\n\n" + "\n\n".join(lines) + "\n"
        (root / path).write_text(text, "utf-8")
        paths.append(path)
    record(root, "notes")
    return paths


def record(root: Path, subject: str) -> None:
    """Commit everything and pack it, as in a vault that has been used for a while."""
    git(root, "add", "-A")
    git(root, "-c", "gc.auto=0", "commit", "-q", "-m", subject)
    git(root, "gc", "-q")


def questions(root: Path, paths: list[str], count: int) -> list[str]:
    """Questions of seven words each, drawn from one note."""
    chance = random.Random(2)
    bodies = [(root / path).read_text("utf-8").partition("\n\n")[2].split() for path in chance.choices(paths, k=count)]
    return [" ".join(chance.sample(body, 7)) for body in bodies]


RATIO = 0.6
"""The most time of one durable change, as a share of git's two commands, which flush nothing."""
FEWEST = 11
"""The notes that the vault needs: one for each month up to the one whose folder the changes are written to."""


def measure_commits(folder: Path, notes: int, rounds: int) -> list[Figure]:
    """Two figures: the program's own change first, git's second."""
    ours, theirs = folder / "ours", folder / "theirs"
    build(ours, notes)
    shutil.copytree(ours, theirs, symlinks=True)
    git(theirs, "update-index", "-q", "--refresh")
    vault = open_vault(ours, folder / "state", SystemClock(), Options(durable=True))

    def change(number: int) -> None:
        with vault.transaction("bench(commit): one small note", Stamp("agent", tool="bench")) as transaction:
            transaction.create(f"{ENTRIES}2026/11/bench-{number}.md", b"---\nid: b\n---\nA small note.\n")

    def add_and_commit(number: int) -> None:
        path = f"{ENTRIES}2026/11/bench-{number}.md"
        (theirs / path).write_bytes(b"---\nid: b\n---\nA small note.\n")
        git(theirs, "add", "--", path)
        git(theirs, "commit", "-q", "-m", "bench(commit): one small note")

    return paired(rounds, [("one small durable change", change), ("git add + git commit, not durable", add_and_commit)])
