"""Made-up vaults for measuring: the same for everybody, because the seed is fixed."""

import random
import subprocess
from pathlib import Path

from agent.vault.folders import ENTRIES

WORDS = (
    *("garden", "letter", "river", "meeting", "budget", "engine", "winter", "notes", "paper", "answer", "question"),
    *("market", "travel", "doctor", "kitchen", "music", "project", "summer", "window", "history", "lesson", "number"),
    *("reason", "station", "ticket", "village", "weather", "system", "design", "memory", "method", "harbour"),
)
WORDS_PER_NOTE = 130


def build(root: Path, notes: int, seed: int = 1) -> None:
    """A committed vault of `notes` notes of about 130 words, spread over a year of folders as entries are."""
    chance = random.Random(seed)
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
    """git as a person would run it."""
    subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True)
