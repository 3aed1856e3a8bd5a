"""The text of the note that asks for an approval: the whole call, its changes, and two checkboxes. Pure.

Checking an answer against the record is left to `approvals`.
"""

import json
import re
from collections.abc import Sequence
from difflib import unified_diff
from typing import TYPE_CHECKING

from agent.asking.note import compose_question
from agent.asking.proposal import Proposal
from agent.escape import escape_json, escape_line
from agent.llm.messages import JsonObject
from agent.markdown.blocks import format_fenced
from agent.markdown.yaml_write import Header
from agent.texts import Language, text
from agent.tools.arguments import plain

if TYPE_CHECKING:
    from agent.tools.tool import Draft

DIFF_LINES = 400
DIFF_CHARACTERS = 20_000
_COMPARED = 4_000
"""The most lines of two versions that are compared: difflib's cost grows with their product."""
_NAMED = 3
"""Notes that the question names."""
_MARKUP = re.compile(r"[<>`$\[\]|*\x00-\x1f]|%%")
"""Characters in the name of a source that could hide the checkboxes from the person."""


def compose(header: Header, asked: Proposal, language: Language = "en") -> bytes:
    """The note that asks; it shows the call, and its changes if they are known in advance."""
    sections = [(text("approval.call", language), format_fenced(asked.shown, "json"))]
    if asked.change:
        sections.append((text("approval.change", language), format_fenced(asked.change, "diff")))
    holds = text("approval.holds", language, until=asked.expires)
    return compose_question(header, asked.question, asked.why, holds, sections, language)


def title(tool: str, drafts: "Sequence[Draft]", language: Language) -> str:
    """The question in one line: of the notes that would change, if they are known in advance, else of the tool."""
    if not drafts:
        return text("approval.title", language, tool=_harmless(tool))
    names = text("decide.comma", language).join(_harmless(each.path) for each in drafts[:_NAMED])
    if len(drafts) > _NAMED:
        names = text("decide.and_more", language, names=names, count=len(drafts) - _NAMED)
    return text("approval.of_change", language, names=names)


def why_asked(why: str, language: Language) -> str:
    """The line with the reason for asking; without markup, which could hide or imitate a checkbox."""
    return text("approval.why", language, why=_harmless(why))


def _harmless(words: str) -> str:
    return _MARKUP.sub(" ", escape_line(words))


def format_call(tool: str, arguments: JsonObject) -> str:
    """The exact call as readable JSON; invisible characters are written as escapes."""
    written = json.dumps({"tool": tool, "arguments": plain(arguments)}, ensure_ascii=False, indent=2)
    return escape_json("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in written))


def diff(drafts: "Sequence[Draft]", language: Language = "en") -> str:
    """The difference between the current notes and the drafts; at most `DIFF_LINES` and `DIFF_CHARACTERS`."""
    lines = [line for draft in drafts for line in _compared(draft, language)]
    fitting: list[str] = []
    room = DIFF_CHARACTERS
    for line in lines[:DIFF_LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        fitting.append(line)
    left = len(lines) - len(fitting)
    return "\n".join([*fitting, text("approval.more", language, count=left)] if left else fitting)


def _compared(draft: "Draft", language: Language) -> list[str]:
    old, new = _lines(draft.before), _lines(draft.after)
    path, nothing = escape_line(draft.path), text("approval.nothing", language)
    source = f"a/{path}" if draft.before is not None else nothing
    target = f"b/{path}" if draft.after is not None else nothing
    if max(len(old), len(new)) > _COMPARED:
        return [f"--- {source}", f"+++ {target}", text("approval.many", language, old=len(old), new=len(new))]
    return list(unified_diff(old, new, source, target, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    lines = (data or b"").decode("utf-8", "replace").split("\n")
    if lines[-1] == "":
        lines.pop()
    printable = ("".join(c if c.isprintable() or c == "\t" else json.dumps(c)[1:-1] for c in line) for line in lines)
    return [escape_json(line) for line in printable]
