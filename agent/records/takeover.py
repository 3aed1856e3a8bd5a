"""Values as JSON text, and the files of earlier versions that become rows."""

import dataclasses
import json
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import date, datetime
from enum import Enum
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Any, Literal, TypeAlias, TypeVar, Union, cast, get_args, get_origin, get_type_hints

from agent.json_value import parse_json

T = TypeVar("T")


def write_value(value: object) -> str:
    """The text of a value; a byte of a path that is no UTF-8 is written out in it."""
    text = json.dumps(value, default=_plain, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, default=_plain)
    return text


def parse_value(kind: type[T], text: str) -> T:
    """The value of a type in a text; times without a zone, and fields of a wrong type, raise `ValueError`."""
    try:
        return cast(T, _parsed(kind, parse_json(text)))
    except (TypeError, KeyError, AttributeError, OverflowError, RecursionError) as error:
        raise ValueError(str(error)) from error


def _plain(value: object) -> object:
    match value:
        case date():
            return value.isoformat()
        case Mapping():
            return dict(value)
        case set() | frozenset():
            return sorted(value)
    return {each.name: getattr(value, each.name) for each in dataclasses.fields(cast(Any, value))}


def _parsed(kind: Any, value: Any) -> object:
    origin, inner = get_origin(kind) or kind, get_args(kind)
    if origin is Literal:
        found = next((each for each in inner if each == value and type(each) is type(value)), None)
        return _checked(found, found is not None, kind)
    if origin in (Union, UnionType):
        return _one_of(inner, value)
    if origin in (tuple, list, frozenset):
        return origin(_parsed(inner[0], each) for each in _checked(value, isinstance(value, list), kind))
    if issubclass(origin, Mapping):
        return {str(key): _parsed(inner[1], each) for key, each in value.items()}
    if dataclasses.is_dataclass(origin):
        return _made(origin, _checked(value, isinstance(value, dict), kind))
    return _simple(origin, value)


def _simple(kind: Any, value: Any) -> object:
    if issubclass(kind, datetime):
        at = datetime.fromisoformat(value)
        return _checked(at, at.tzinfo is not None, kind)
    if issubclass(kind, date):
        return date.fromisoformat(value)
    if issubclass(kind, Enum):
        return kind(value)
    if kind is float and type(value) is int:
        return float(value)
    return _checked(value, kind is object or type(value) is kind, kind)


def _one_of(kinds: tuple[Any, ...], value: Any) -> object:
    if value is None:
        return _checked(None, type(None) in kinds, kinds)
    for kind in kinds:
        if kind is not type(None):
            try:
                return _parsed(kind, value)
            except (ValueError, TypeError, KeyError, AttributeError):
                continue
    raise ValueError(kinds)


def _made(kind: Any, fields: Mapping[str, Any]) -> object:
    hints = _hints(kind)
    return kind(**{name: _parsed(hints[name], fields[name]) for name in hints if name in fields})


@cache
def _hints(kind: Any) -> Mapping[str, Any]:
    """The types of the fields that are given when a value is made."""
    hints = get_type_hints(kind)
    return {each.name: hints[each.name] for each in dataclasses.fields(kind) if each.init}


def _checked(value: Any, is_right: bool, kind: Any) -> Any:
    if not is_right:
        raise ValueError(f"no {kind}")
    return value


Conversion: TypeAlias = Callable[[str], object]


def _alerts(text: str) -> object:
    own = ("since", "notice")
    return [
        {"alert": {key: row[key] for key in row if key not in own}, **{key: row[key] for key in own}}
        for row in parse_json(text)
    ]


def _conversation(text: str) -> object:
    session, heard, *runs = text.splitlines()
    when, _, tries = heard.partition(" ")
    return {"session": session, "runs": runs, "heard": when, "tries": int(tries or 0)}


def _heartbeat(text: str) -> object:
    state = parse_json(text)
    names = ("key", "first", "kind", "count")
    held = {job: [dict(zip(names, each, strict=True)) for each in offers] for job, offers in state["held"].items()}
    return {"looked": state["looked"], "held": held}


_FILES: Mapping[str, tuple[str, Conversion]] = {
    "schedule/state.json": ("agent-state", parse_json),
    "schedule/order.json": ("order", parse_json),
    "schedule/order-taken.json": ("order-taken", parse_json),
    "schedule/changed.json": ("changed-notes", parse_json),
    "schedule/first_seen.json": ("first-seen", parse_json),
    "schedule/tasks.json": ("begun-tasks", parse_json),
    "schedule/health.json": ("health-findings", parse_json),
    "schedule/occurrences.looked": ("heartbeat", _heartbeat),
    "curiosity/looked_ahead.json": ("looked-ahead", parse_json),
    "alerts.json": ("standing-alerts", _alerts),
    "patterns-looked": ("patterns-looked", str.strip),
    "upkeep.json": ("upkeep", parse_json),
    "node.json": ("node", parse_json),
    "conversations/*.txt": ("waiting-conversations", _conversation),
    "inbox.json": ("inbox", parse_json),
    "incoming/*.json": ("incoming", parse_json),
    "runs/*.json": ("runs", parse_json),
    "claims/*.json": ("claims", parse_json),
    "unasked-conflicts/*.json": ("unasked-conflicts", parse_json),
    "skill-trials/*.json": ("skill-trials", parse_json),
}
"""The table and the conversion by the files. Those of a pattern have as key the file's name without its ending."""

_LINES: Mapping[str, str] = {"schedule/occurrences.tsv": "occurrences", "notices/ledger.jsonl": "notices"}
"""The name of the lines by the files of them."""
_LOCKS = ("schedule/occurrences.lock", "notices/ledger.lock", "notices/sending.lock")


def take_over(folder: Path, connection: sqlite3.Connection, version: int) -> None:
    """Store what the files of earlier versions in a folder say, with the `version` that has them, and delete them.

    Raises `OSError`.
    """
    taken = list[Path]()
    connection.execute("BEGIN IMMEDIATE")
    (known,) = connection.execute("PRAGMA user_version").fetchone()
    if known >= version:  # another process has done it while this one waited
        connection.execute("ROLLBACK")
        return
    for pattern, (name, parsed) in _FILES.items():
        for path in filter(Path.is_file, folder.glob(pattern)):
            taken.append(path)
            text = path.read_text("utf-8", "replace")
            with suppress(ValueError, TypeError, KeyError, AttributeError):
                text = write_value(parsed(text))
            row = (name, path.stem if "*" in pattern else "", text)
            connection.execute("INSERT OR IGNORE INTO record VALUES (?, ?, ?)", row)
    for file, name in _LINES.items():
        if (folder / file).is_file():
            taken.append(folder / file)
            lines = filter(None, (folder / file).read_text("utf-8", "replace").split("\n"))
            connection.executemany("INSERT INTO line (name, value) VALUES (?, ?)", ((name, each) for each in lines))
    connection.execute(f"PRAGMA user_version = {version}")  # with the rows: no crash has them stored twice
    connection.execute("COMMIT")
    for path in (*taken, *(folder / name for name in _LOCKS)):
        path.unlink(missing_ok=True)
        with suppress(OSError):
            path.parent.rmdir()  # only where nothing else is in it
