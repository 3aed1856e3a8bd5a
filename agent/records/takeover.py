"""The files of earlier versions that become rows, each in the form in which it is read now.

One that was damaged becomes a damaged row: whoever reads it finds nothing, as before.
"""

import sqlite3
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TypeAlias

from agent.json_value import parse_json
from agent.records.values import write_value

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
    "schedule/awake.json": ("awake-times", parse_json),
    "schedule/changed.json": ("changed-notes", parse_json),
    "schedule/first_seen.json": ("first-seen", parse_json),
    "schedule/tasks.json": ("begun-tasks", parse_json),
    "schedule/health.json": ("health-findings", parse_json),
    "schedule/occurrences.looked": ("heartbeat", _heartbeat),
    "curiosity/looked_ahead.json": ("looked-ahead", parse_json),
    "alerts.json": ("standing-alerts", _alerts),
    "reflections.unread": ("unread-reflections", parse_json),
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
