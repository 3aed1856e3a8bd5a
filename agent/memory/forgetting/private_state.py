"""The private files of a vault, after a forgetting: they follow notes that got another name.

State such as a conversation that waits to be read refers to notes by path, and some of its files are named after them.
Without this, it would refer to a note that is not there any more, and keep the words in its name.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from agent.config import private
from agent.vault.layout import RESEARCH_RECORDS

_LARGEST = 1 << 20
"""Bytes of a file in which names are replaced: larger ones are logs and databases."""


def drop_unfinished(folder: Path) -> None:
    """Delete what unfinished researches have found so far: it may say what is forgotten, and is only found again."""
    for each in (folder / RESEARCH_RECORDS).glob("*.jsonl"):
        with suppress(OSError):
            each.unlink()


def follow_names(folder: Path, names: Mapping[str, str]) -> None:
    """Put new names of notes (without folder and ending) into the files of a folder, and into their own names.

    A file that is named after a note that goes (its new name is empty) is deleted. A file that cannot be changed stays.
    """
    if not names:
        return
    for parent, _, files in os.walk(folder):
        for file in files:
            with suppress(OSError):
                _follow(Path(parent, file), names)


def _follow(path: Path, names: Mapping[str, str]) -> None:
    new = names.get(path.stem)
    if new == "":
        path.unlink()
        return
    if path.stat().st_size <= _LARGEST and (text := _replaced(path.read_bytes(), names)) is not None:
        private.replace(path, text)
    if new:
        path.replace(path.with_stem(new))


def _replaced(data: bytes, names: Mapping[str, str]) -> str | None:
    """The text with the new names, also where JSON has escaped them; None if nothing changes or it is no text."""
    try:
        text = before = data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    for name, new in names.items():
        if new:
            text = text.replace(name, new).replace(json.dumps(name)[1:-1], new)
    return text if text != before and "\0" not in text else None
