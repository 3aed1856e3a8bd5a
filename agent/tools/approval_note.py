"""An approval as a note: what waits, in full, and the two checkboxes; and what a person has said in it.

The note is the person's. It counts only together with the record of the question that is kept outside the vault, and
only while it still shows the very call that was asked about: both are `approvals`' to check.
"""

import json
import re
from collections.abc import Sequence
from difflib import unified_diff

from agent.llm.messages import Object
from agent.markdown import verdict
from agent.markdown.fence import fenced
from agent.markdown.note import Note
from agent.markdown.values import Header
from agent.markdown.verdict import BOXES
from agent.tools.arguments import plain
from agent.tools.asked import Asked
from agent.tools.tool import Draft

DIFF_LINES = 400
DIFF_CHARACTERS = 20_000
_COMPARED = 4_000
"""Lines up to which two versions are compared: difflib's cost grows with their product."""
_MARKUP = re.compile(r"[<>`$\[\]|*\x00-\x1f]|%%")
"""What could hide the checkboxes from the person when it comes with the name of a source."""


def compose(header: Header, asked: Asked, why: str, diff: str) -> bytes:
    """The note that asks; `diff` may be empty."""
    parts = [
        f"# May I use {asked.tool}?",
        f"Why I ask: {_MARKUP.sub(' ', why)}.",
        BOXES,
        "Reason: ",
        f"A yes holds for exactly this call, once, until {asked.expires:%Y-%m-%d %H:%M}. Both ticked is a no.",
        "## The call",
        fenced(asked.shown, "json"),
    ]
    if diff:
        parts += ["## What would change", fenced(diff, "diff")]
    return Note.compose(header, "\n\n".join(parts) + "\n").data


def shown_call(tool: str, arguments: Object) -> str:
    """The exact call as JSON that a person can read; what is invisible is written as an escape."""
    written = json.dumps({"tool": tool, "arguments": plain(arguments)}, ensure_ascii=False, indent=2)
    return "".join(c if c.isprintable() or c == "\n" else json.dumps(c)[1:-1] for c in written)


def diff(drafts: Sequence[Draft]) -> str:
    """What would become of the notes, old to new, bounded."""
    lines = [line for draft in drafts for line in _compared(draft)]
    kept: list[str] = []
    room = DIFF_CHARACTERS
    for line in lines[:DIFF_LINES]:
        room -= len(line) + 1
        if room < 0:
            break
        kept.append(line)
    left = len(lines) - len(kept)
    return "\n".join([*kept, f"… and {left} more lines; the call above is whole"] if left else kept)


def _compared(draft: Draft) -> list[str]:
    old, new = _lines(draft.before), _lines(draft.after)
    source = f"a/{draft.path}" if draft.before is not None else "nothing"
    target = f"b/{draft.path}" if draft.after is not None else "nothing"
    if max(len(old), len(new)) > _COMPARED:
        return [f"--- {source}", f"+++ {target}", f"{len(old)} lines become {len(new)}; too many to compare here"]
    return list(unified_diff(old, new, source, target, lineterm=""))


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "replace")
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return ["".join(c if c.isprintable() or c == "\t" else json.dumps(c)[1:-1] for c in line) for line in lines]


def shows(data: bytes, call: str) -> bool:
    """Whether the note still shows the call as it was asked about."""
    return fenced(call, "json") in data.decode("utf-8", "replace").replace("\r\n", "\n")


def decision(data: bytes) -> bool | None:
    """As `verdict.decision`, of the whole note."""
    return verdict.decision(Note.parse(data).body)
