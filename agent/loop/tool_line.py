"""A call of a tool and its result in one line for people: `search_vault "garden plan" → 4 notes`.

An argument is shown whole or not at all: the beginning of a text that is forgotten later would not be recognised.
"""

import json

from agent.llm.messages import ToolCall, ToolResult
from agent.texts import Language, text
from agent.tools.registry import Called
from agent.tools.tool_names import resolved

_LONGEST = 60


def call_line(call: ToolCall) -> str:
    """The tool with the first argument that is a short text."""
    meant = resolved(call)
    texts = (each for each in meant.arguments.values() if isinstance(each, str) and each.strip())
    short = next((each for each in texts if len(each) <= _LONGEST and "\n" not in each), None)
    return f"{meant.name} {json.dumps(short, ensure_ascii=False)}" if short else meant.name


def result_line(result: ToolResult, language: Language) -> str:
    """The tool, and if it failed."""
    return f"{result.name} → {text('session_note.failed' if result.failed else 'session_note.done', language)}"


def called_line(call: ToolCall, called: Called, language: Language) -> str:
    """The call, and what came of it: the number of the notes that it showed, or if it failed."""
    notes = len({each.path for each in called.given.sources}) if called.given else 0
    if called.result.failed or not notes or (called.given and called.given.commits):
        came = text("session_note.failed" if called.result.failed else "session_note.done", language)
    else:
        came = text("session_note.notes" if notes > 1 else "session_note.note", language, number=notes)
    return f"{call_line(call)} → {came}"
