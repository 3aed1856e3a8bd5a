"""A process that plays a person at an editor: on a word it saves some notes, each in one of four ways, at a bad moment.

Run as `python -m tests.trust.editor ROOT LEDGER JOURNAL STYLE SEED NOTE...`; reads one round number a line and answers
`done`. Every save holds one line that no other has, and the ledger has it first.
"""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from random import Random

from agent.clock import SystemClock
from tests.trust.ledger import Ledger

CLOCK = SystemClock()


def replace(note: Path, text: str) -> None:
    """Write another file and rename it into place: Obsidian's sync, VS Code's atomic save."""
    draft = note.with_name(f".{note.name}.draft")
    draft.write_text(text)
    draft.replace(note)


def truncate(note: Path, text: str) -> None:
    """Empty the file and write it again, in several steps: most plain editors."""
    descriptor = os.open(note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    data = text.encode()
    try:
        for start in range(0, len(data), 40):
            os.write(descriptor, data[start : start + 40])
    finally:
        os.close(descriptor)


def rename_away(note: Path, text: str) -> None:
    """Rename the old file to a backup, write a new one, remove the backup: vim's `backupcopy=no`."""
    backup = note.with_name(note.name + "~")
    if note.exists():
        note.rename(backup)
    truncate(note, text)
    backup.unlink(missing_ok=True)


def append(note: Path, text: str) -> None:
    """Add a line at the end: a shell's `>>`."""
    with note.open("a") as file:
        file.write(text)


STYLES: dict[str, Callable[[Path, str], None]] = {
    "replace": replace,
    "truncate": truncate,
    "rename-away": rename_away,
    "append": append,
}


def _text(note: Path, style: str, line: str, rng: Random) -> str:
    """The new text: on top of what is there (the editor reloaded), or of what the person had (it did not)."""
    if style == "append":
        return line
    known = note.read_text() if note.exists() and rng.random() < 0.5 else f"# {note.stem}\n\nold text\n\n- end\n"
    head, _, rest = known.partition("\n\n")
    return f"{head}\n\n{line}{rest}"


def _wait(journal: Path, rng: Random) -> None:
    """Until a moment in the other's work: any, or just after it has said in its journal what it is about to do."""
    size = journal.stat().st_size if journal.exists() else 0
    end = CLOCK.monotonic() + rng.uniform(0, 0.03)
    if rng.random() < 0.7:
        patience = CLOCK.monotonic() + 0.1
        while (not journal.exists() or journal.stat().st_size == size) and CLOCK.monotonic() < patience:
            pass
        end = CLOCK.monotonic() + rng.choice([0.0, rng.uniform(0, 0.002), rng.uniform(0, 0.012)])
    while CLOCK.monotonic() < end:
        pass


def main(arguments: list[str]) -> None:
    """Save every note once a round."""
    root, ledger, journal, style = Path(arguments[0]), Ledger(Path(arguments[1])), Path(arguments[2]), arguments[3]
    rng, notes = Random(arguments[4]), arguments[5:]
    for word in sys.stdin:
        lines = {name: f"human {style} {word.strip()} {name}\n" for name in notes}
        ledger.add("saves", word.strip(), lines)
        rng.shuffle(notes)
        texts = {name: _text(root / name, style, lines[name], rng) for name in notes}
        _wait(journal, rng)
        for name in notes:
            if rng.random() < 0.3:  # the editor looked at the file just now
                texts[name] = _text(root / name, style, lines[name], rng)
            STYLES[style](root / name, texts[name])
        ledger.add("saved", word.strip(), {name: lines[name] for name in notes})
        os.write(1, b"done\n")


if __name__ == "__main__":
    main(sys.argv[1:])
