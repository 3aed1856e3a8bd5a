"""The private files of a vault, after a forgetting: they lose the text, and follow notes that got another name.

State such as a conversation that waits to be read refers to notes by path, and some of its files are named after them.
Without this, it would refer to a note that is not there any more, and keep the words in its name.

What models were given in conversations, after a forgetting: the rows that say the forgotten text go.

A conversation goes on with the texts it was given, so the others stay. The thinking of a model goes whole, since it may
be encrypted; only that of a conversation that waits for a yes stays: its call cannot be made without it.

Removes a forgotten text from what the person has typed in chats, which a chat offers again.

The file is that of the line editor: for each message a line with its time, and the lines of the message behind a `+`.

Removes a forgotten text from the receipts of notices: what was decided stays known, the words go.

A receipt is a few JSON lines; the first one has the notice.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath

from agent.asking.answers import pending_proposals
from agent.asking.proposal import ProposalKind
from agent.asking.records import records_of
from agent.config import private
from agent.config.private import replace
from agent.json_value import parse_json
from agent.markdown.note import Note
from agent.memory.forgetting.forgotten_statements import ForgottenStatements
from agent.records.database import Records
from agent.records.table import Lines
from agent.records.takeover import write_value
from agent.vault.layout import GIVEN_TEXTS, NOTICES, RESEARCH_RECORDS, SET_ASIDE
from agent.vault.store import Vault

_THINKING = '{"thinking before": '
"""The beginning of a text that is thinking, as `loop.thinking_store` writes it."""


def forget_in_model_texts(vault: Vault, forgotten: ForgottenStatements) -> None:
    """Drop the rows of all conversations that say the text or name a note of it; a file that cannot be read goes."""
    waiting = set(_waiting(vault))
    for path in (vault.private_folder / GIVEN_TEXTS).glob("*.jsonl"):
        with suppress(OSError):
            try:
                rows = path.read_text("utf-8").splitlines(keepends=True)
                left = [each for each in rows if _stays(_text(each), forgotten, is_waiting=path.stem in waiting)]
            except ValueError:
                left, rows = [], [""]
            if not left:
                path.unlink()
            elif len(left) < len(rows):
                private.replace(path, "".join(left))


def _waiting(vault: Vault) -> Iterator[str]:
    """The ids of the sessions in which a call waits for a yes."""
    for each in pending_proposals(vault, "call"):
        data = vault.read(each.session) if each.session else None
        yield (Note.parse(data).id or "") if data else ""


def _stays(text: str | None, forgotten: ForgottenStatements, *, is_waiting: bool) -> bool:
    if text is None or (text.startswith(_THINKING) and not is_waiting):
        return False
    return not forgotten.concerns(text)


def _text(row: str) -> str | None:
    """The text in a row; None for one that is damaged, in which nothing can be searched."""
    with suppress(ValueError):
        match parse_json(row):
            case {"text": str(text)}:
                return text
    return None


_MESSAGE = re.compile(r"^(?:\n?# .*\n)?((?:^\+.*\n?)+)", re.MULTILINE)
"""One message: the line with its time, and its own lines."""


def forget_typed(history: Path, forgotten: ForgottenStatements) -> None:
    """Remove each message that says the text from this file, if it exists."""
    try:
        data = history.read_bytes().decode("utf-8", "replace")
    except (FileNotFoundError, IsADirectoryError):
        return
    left = _MESSAGE.sub(lambda found: "" if forgotten.concerns(_words(found[1])) else found[0], data)
    if left != data:
        replace(history, left)


def _words(lines: str) -> str:
    return "\n".join(line.removeprefix("+") for line in lines.split("\n"))


_GONE = "…"
_WORDS = ("title", "subject", "problem", "proof", "drive")


def forget_notices(records: Records, forgotten: ForgottenStatements) -> None:
    """Take the words out of each line that says the text; lines that are damaged go."""
    with records.transaction():
        lines = Lines(records, NOTICES).all()
        left = [_without_words(line) if forgotten.concerns("\n".join(_texts(line))) else line for line in lines]
        if left != lines:
            Lines(records, NOTICES).replace(filter(None, left))


def _texts(line: str) -> Iterator[str]:
    """All texts of a line; the line itself if it cannot be parsed."""
    try:
        waiting = [parse_json(line)]
    except ValueError:
        yield line
        return
    while waiting:
        match waiting.pop():
            case str(text):
                yield text
            case list(inner):
                waiting += reversed(inner)
            case dict(inner):
                waiting += reversed([*inner.values()])
            case _:
                pass


def _without_words(line: str) -> str:
    """The line without its words; empty if it cannot be parsed."""
    try:
        fields = parse_json(line)
    except ValueError:
        return ""
    if not isinstance(fields, dict):
        return ""
    notice = fields.get("notice")
    for part in (fields, notice if isinstance(notice, dict) else {}):
        part.update({key: _GONE for key in _WORDS if part.get(key)})
        if part.get("lines"):
            part["lines"] = []
    return json.dumps(fields, ensure_ascii=False)


_KINDS: tuple[ProposalKind, ...] = ("rule", "mutation", "skill_offer", "job", "own_file")
"""The kinds of questions that are in the agent's words."""
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


def forget_in_decisions(vault: Vault, forgotten: ForgottenStatements) -> None:
    """Put the mark for the text into the records of what the person is or was asked to decide; a record of a question
    that is open then fits its note no more, and so a yes to it does nothing. A file that cannot be changed stays."""
    for kind in _KINDS:
        for each in records_of(vault, kind).folder.glob("*.json"):
            with suppress(OSError, ValueError):
                text = each.read_text("utf-8")
                document = parse_json(text)
                left = _without(document, forgotten)
                if left != document:
                    private.replace(each, json.dumps(left, indent=1))


def _without(value: object, forgotten: ForgottenStatements) -> object:
    """A value of a JSON document without the text; the path of a note that is named after it leads to its new name."""
    if isinstance(value, str):
        return _path_without(value, forgotten) if value.endswith(".md") else forgotten.redacted(value)
    if isinstance(value, list):
        return [_without(each, forgotten) for each in value]
    if not isinstance(value, dict):
        return value
    left = {key: _without(each, forgotten) for key, each in value.items()}
    return {key: "" if key in _PROPOSED and each != value[key] else each for key, each in left.items()}


def _path_without(path: str, forgotten: ForgottenStatements) -> str:
    stem = PurePosixPath(path).stem
    new = forgotten.names.get(stem) or (forgotten.mark if stem in forgotten.names or forgotten.is_name(stem) else "")
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


def forget_in_rows(records: Records, forgotten: ForgottenStatements) -> None:
    """The same in what this machine remembers, with the mark in place of the text; nothing of it is left on the disk.

    `said.names` are the new names of notes, as in `follow_names`.
    """
    with records.transaction():
        for name, key, value in [tuple(map(str, row)) for row in records.rows("SELECT name, key, value FROM record")]:
            new, left = forgotten.names.get(key), _row_without(value, forgotten)
            if new == "":
                records.rows("DELETE FROM record WHERE name = ? AND key = ?", name, key)
            elif new or left != value:
                row = (new or key, left, name, key)
                records.rows("UPDATE OR REPLACE record SET key = ?, value = ? WHERE name = ? AND key = ?", *row)
        for id, line in records.rows("SELECT id, value FROM line"):
            if (renamed := _replaced(str(line).encode(), forgotten.names)) is not None:
                records.rows("UPDATE line SET value = ? WHERE id = ?", renamed, id)
    records.empty_log()


def _row_without(value: str, forgotten: ForgottenStatements) -> str:
    try:
        document = parse_json(value)
    except ValueError:
        return forgotten.redacted(value)
    left = _without(document, forgotten)
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
