"""The private files of a vault, after a forgetting: they lose the text, and follow notes that got another name.

State such as a conversation that waits to be read refers to notes by path, and some of its files are named after them.
Without this, it would refer to a note that is not there any more, and keep the words in its name.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from agent.asking.proposal import ProposalKind
from agent.asking.records import records_of
from agent.config import private
from agent.json_value import parse_json
from agent.memory.forgetting.said_again import SaidAgain
from agent.records.database import Records
from agent.records.takeover import write_value
from agent.vault.layout import RESEARCH_RECORDS, SET_ASIDE
from agent.vault.store import Vault

_KINDS: tuple[ProposalKind, ...] = ("rule", "mutation", "skill_offer", "job", "own_file")
"""What the person is asked to decide in words of the agent's."""
_PROPOSED = frozenset(("text",))
"""The keys of texts that a yes would write: one that said it is dropped whole, and so is never written."""
_LARGEST = 1 << 20
"""Bytes of a file in which names are replaced: larger ones are logs and databases."""


def drop_unfinished(folder: Path) -> None:
    """Delete what unfinished researches have found so far, and what came in and cannot be read: it may say what is
    forgotten, in a form that is not searched."""
    for each in (*(folder / RESEARCH_RECORDS).glob("*.jsonl"), *(folder / SET_ASIDE).glob("*/*.data")):
        with suppress(OSError):
            each.unlink()


def forget_in_decisions(vault: Vault, said: SaidAgain) -> None:
    """Put the mark for the text into the records of what the person is or was asked to decide; a record of a question
    that is open then fits its note no more, and so a yes to it does nothing. A file that cannot be changed stays."""
    for kind in _KINDS:
        for each in records_of(vault, kind).folder.glob("*.json"):
            with suppress(OSError, ValueError):
                text = each.read_text("utf-8")
                document = parse_json(text)
                left = _without(document, said)
                if left != document:
                    private.replace(each, json.dumps(left, indent=1))


def _without(value: object, said: SaidAgain) -> object:
    """A value of a JSON document without the text; the path of a note that is named after it leads to its new name."""
    if isinstance(value, str):
        return _path_without(value, said) if value.endswith(".md") else said.redacted(value)
    if isinstance(value, list):
        return [_without(each, said) for each in value]
    if not isinstance(value, dict):
        return value
    left = {key: _without(each, said) for key, each in value.items()}
    return {key: "" if key in _PROPOSED and each != value[key] else each for key, each in left.items()}


def _path_without(path: str, said: SaidAgain) -> str:
    stem = PurePosixPath(path).stem
    new = said.names.get(stem) or (said.mark if stem in said.names or said.is_name(stem) else "")
    return str(PurePosixPath(path).with_name(f"{new}.md")) if new else path


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


def forget_in_rows(records: Records, said: SaidAgain) -> None:
    """The same in what this machine remembers, with the mark in place of the text; nothing of it is left on the disk.

    `said.names` are the new names of notes, as in `follow_names`.
    """
    with records.transaction():
        for name, key, value in [tuple(map(str, row)) for row in records.rows("SELECT name, key, value FROM record")]:
            new, left = said.names.get(key), _row_without(value, said)
            if new == "":
                records.rows("DELETE FROM record WHERE name = ? AND key = ?", name, key)
            elif new or left != value:
                row = (new or key, left, name, key)
                records.rows("UPDATE OR REPLACE record SET key = ?, value = ? WHERE name = ? AND key = ?", *row)
        for id, line in records.rows("SELECT id, value FROM line"):
            if (renamed := _replaced(str(line).encode(), said.names)) is not None:
                records.rows("UPDATE line SET value = ? WHERE id = ?", renamed, id)
    records.empty_log()


def _row_without(value: str, said: SaidAgain) -> str:
    try:
        document = parse_json(value)
    except ValueError:
        return said.redacted(value)
    left = _without(document, said)
    return write_value(left) if left != document else value


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
