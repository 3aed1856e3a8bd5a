"""An approval as a note: what waits, in full, and the two checkboxes; and what a person has said in it.

The note is the person's. It counts only together with the record of the question that is kept outside the vault, and
only while it still shows the very call that was asked about: both are `approvals`' to check.
"""

import json
import re
from collections.abc import Mapping, Sequence
from difflib import unified_diff

from agent.inert import escape_json, escape_line
from agent.llm.messages import Object
from agent.markdown import verdict
from agent.markdown.fence import fenced
from agent.markdown.note import Note
from agent.markdown.values import Header
from agent.markdown.verdict import BOXES, REASON
from agent.tools.approval_records import ApprovalRecord
from agent.tools.arguments import plain
from agent.tools.tool import Draft

DIFF_LINES = 400
DIFF_CHARACTERS = 20_000
_COMPARED = 4_000
"""Lines up to which two versions are compared: difflib's cost grows with their product."""
_MARKUP = re.compile(r"[<>`$\[\]|*\x00-\x1f]|%%")
"""What could hide the checkboxes from the person when it comes with the name of a source."""
_SAID = {
    "en": {
        "title": "May I use {tool}?",
        "why": "Why I ask: {why}.",
        "holds": "A yes holds for exactly this call, once, until {until:%Y-%m-%d %H:%M}. Both ticked is a no.",
        "call": "The call",
        "change": "What would change",
        "more": "… and {count} more lines; the call above is whole",
        "nothing": "nothing",
        "many": "{old} lines become {new}; too many to compare here",
    },
    "zh": {
        "title": "可以使用 {tool} 吗？",
        "why": "为什么要问：{why}。",
        "holds": "勾选 `approve`（批准）或 `reject`（拒绝）。批准只对这一次调用有效，只用一次，"
        "{until:%Y-%m-%d %H:%M} 之前有效；两个都勾选算拒绝。",
        "call": "调用内容",
        "change": "会改动什么",
        "more": "…… 另有 {count} 行；上面的调用是完整的",
        "nothing": "（无）",
        "many": "{old} 行变为 {new} 行，太多了，这里不作比较",
    },
}


def compose(header: Header, asked: ApprovalRecord, language: str = "en") -> bytes:
    """The note that asks; it shows the call, and what that would change where this is known beforehand."""
    said = _SAID[language]
    parts = [
        f"# {title(asked, language)}",
        asked.why,
        BOXES,
        REASON[language],
        said["holds"].format(until=asked.expires),
        f"## {said['call']}",
        fenced(asked.shown, "json"),
    ]
    if asked.change:
        parts += [f"## {said['change']}", fenced(asked.change, "diff")]
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def title(asked: ApprovalRecord, language: str) -> str:
    """What is asked, in a line."""
    return _SAID[language]["title"].format(tool=_harmless(asked.tool))


def why_asked(why: str, language: str) -> str:
    """The line that says why the agent asks; what comes from elsewhere in it cannot hide or make up anything."""
    return _SAID[language]["why"].format(why=_harmless(why))


def _harmless(text: str) -> str:
    return _MARKUP.sub(" ", escape_line(text))


def shown_call(tool: str, arguments: Object) -> str:
    """The exact call as JSON that a person can read; what is invisible is written as an escape."""
    written = json.dumps({"tool": tool, "arguments": plain(arguments)}, ensure_ascii=False, indent=2)
    return escape_json("".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in written))


def diff(drafts: Sequence[Draft], language: str = "en") -> str:
    """What would become of the notes, old to new, bounded."""
    lines = [line for draft in drafts for line in _compared(draft, _SAID[language])]
    kept: list[str] = []
    room = DIFF_CHARACTERS
    for line in lines[:DIFF_LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, _SAID[language]["more"].format(count=left)] if left else kept)


def _compared(draft: Draft, said: Mapping[str, str]) -> list[str]:
    old, new = _lines(draft.before), _lines(draft.after)
    path = escape_line(draft.path)
    source = f"a/{path}" if draft.before is not None else said["nothing"]
    target = f"b/{path}" if draft.after is not None else said["nothing"]
    if max(len(old), len(new)) > _COMPARED:
        return [f"--- {source}", f"+++ {target}", said["many"].format(old=len(old), new=len(new))]
    return list(unified_diff(old, new, source, target, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    shown = ("".join(c if c.isprintable() or c == "\t" else json.dumps(c)[1:-1] for c in line) for line in lines)
    return [escape_json(line) for line in shown]


def shows(data: bytes, call: str) -> bool:
    """Whether the note still shows the call as it was asked about."""
    return fenced(call, "json") in data.decode("utf-8", "replace").replace("\r\n", "\n")


def decision(data: bytes) -> bool | None:
    """As `verdict.decision`, of the whole note."""
    return verdict.decision(Note.parse(data).body)
