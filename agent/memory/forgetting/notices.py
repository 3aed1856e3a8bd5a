"""Removes a forgotten text from the receipts of notices: what was decided stays known, the words go.

A receipt is a few JSON lines; the first one has the notice.
"""

import json
from collections.abc import Iterator

from agent.json_value import parse_json
from agent.memory.forgetting.said_again import SaidAgain
from agent.records.database import Records
from agent.records.table import Lines
from agent.vault.layout import NOTICES

_GONE = "…"
_WORDS = ("title", "subject", "problem", "proof", "drive")


def forget_notices(records: Records, said: SaidAgain) -> None:
    """Take the words out of each line that says the text; lines that are damaged go."""
    with records.transaction():
        lines = Lines(records, NOTICES).all()
        left = [_without(line) if said.concerns("\n".join(_texts(line))) else line for line in lines]
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


def _without(line: str) -> str:
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
