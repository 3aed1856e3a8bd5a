"""What a new vault's welcome note and `init` propose to try, made of the person's own notes where there are some.

The note that is named is the one that the others link to most: a subject that they come back to. What was written last
is never chosen, and no note that nothing links to, so nothing is brought up that they wrote for themselves alone.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from stat import S_ISREG

from agent.texts import Language, text
from agent.vault.folders import OWN_NOTES, AgentFolder
from agent.vault.worktree.paths import is_note

QUESTION = "{question}"
"""Stands in the template's welcome note for the question that is worth asking here."""
_MOST = 2_000
"""The most notes that are read."""
_BYTES = 20_000
"""The bytes of a note that are read."""
_LINK = re.compile(r"\[\[([^\]|#^\n]{1,80})")
_PLAIN = re.compile(r"[\w ,.&+()’–-]+")
"""A title that can be typed between quotes in any shell."""
_WORDS = re.compile(r"[^\W\d_]{3}|[\u3400-\u9fff]{2}")
"""A title needs a word: a date is none."""


def question_for(root: Path, home: AgentFolder, language: Language) -> str:
    """A question that is worth asking in the vault at `root`."""
    title = linked_most(root, home)
    return text("init.question_about", language, title=title) if title else text("init.question", language)


def filled_in(template: Mapping[str, bytes], question: str) -> dict[str, bytes]:
    """The template with the question in its welcome note."""
    return {path: data.replace(QUESTION.encode(), question.encode()) for path, data in template.items()}


def linked_most(root: Path, home: AgentFolder) -> str:
    """The title of the note that most other notes link to; empty if there are no links."""
    notes = {path.stem: path for path in _own_notes(root, home)}
    links: Counter[str] = Counter()
    for title, path in notes.items():
        links.update({name.strip().rpartition("/")[2] for name in _LINK.findall(_beginning(path))} - {title})
    fitting = [title for title in links if title in notes and _WORDS.search(title) and _PLAIN.fullmatch(title)]
    return min(fitting, key=lambda title: (-links[title], title), default="")


def _beginning(path: Path) -> str:
    """The first part of a note's text; empty for a link, a pipe and what cannot be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return ""
    try:
        return os.read(descriptor, _BYTES).decode("utf-8", "ignore") if S_ISREG(os.fstat(descriptor).st_mode) else ""
    finally:
        os.close(descriptor)


def _own_notes(root: Path, home: AgentFolder) -> Iterator[Path]:
    """The person's own notes, the first few thousand by path."""
    number = 0
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(names):
            path = Path(folder, name)
            inside = path.relative_to(root).as_posix()
            if number < _MOST and is_note(inside) and home.row(inside) is OWN_NOTES:
                number += 1
                yield path
