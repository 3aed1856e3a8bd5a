"""An approval as a note: what waits, in full, and the two checkboxes; and what a person has said in it.

The note is the person's. It counts only together with the record of the question that is kept outside the vault, and
only while it still shows the very call that was asked about: both are `approvals`' to check.
"""

import json
import re
from collections.abc import Sequence
from difflib import unified_diff

from agent.llm.messages import Object
from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.markdown.values import Header
from agent.tools.arguments import plain
from agent.tools.asked import Asked
from agent.tools.tool import Draft

APPROVE, REJECT = "approve", "reject"
DIFF_LINES = 400
DIFF_CHARACTERS = 20_000
_COMPARED = 4_000
"""Lines up to which two versions are compared: difflib's cost grows with their product."""
_REASON = re.compile(r"^Reason:[ \t]*([^\n]{1,500})$", re.MULTILINE)
_MARKUP = re.compile(r"[<>`$\[\]|*\x00-\x1f]|%%")
"""What could hide the checkboxes from the person when it comes with the name of a source."""
_BOX = re.compile(r"^([-*+][ \t]+\[)[^\]\n](\][ \t]+(approve|reject)[ \t]*)$", re.MULTILINE)


def compose(header: Header, asked: Asked, why: str, diff: str) -> bytes:
    """The note that asks; `diff` may be empty."""
    parts = [
        f"# May I use {asked.tool}?",
        f"Why I ask: {_MARKUP.sub(' ', why)}.",
        f"- [ ] {APPROVE}\n- [ ] {REJECT}",
        "Reason: ",
        f"A yes holds for exactly this call, once, until {asked.expires:%Y-%m-%d %H:%M}. Both ticked is a no.",
        "## The call",
        _fenced("json", asked.shown),
    ]
    if diff:
        parts += ["## What would change", _fenced("diff", diff)]
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


def _fenced(language: str, text: str) -> str:
    longest = max((len(run) for run in re.findall(r"`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def shows(data: bytes, call: str) -> bool:
    """Whether the note still shows the call as it was asked about."""
    return _fenced("json", call) in data.decode("utf-8", "replace").replace("\r\n", "\n")


def decision(data: bytes) -> bool | None:
    """What the checkboxes say: True for a yes, False for a no (also when both are ticked), None for nothing yet."""
    note = Note.parse(data)
    ticked = {task.text.strip().casefold() for task in tasks.read(blocks.read(note.body)) if task.done}
    if REJECT in ticked:
        return False
    return True if APPROVE in ticked else None


def reason(data: bytes) -> str:
    """What the person wrote behind `Reason:`."""
    found = _REASON.search(_above_the_call(Note.parse(data).body.replace("\r\n", "\n")))
    return found[1].strip() if found else ""


def ticked(data: bytes, yes: bool, why: str) -> bytes:
    """The note with the decision made in it."""
    note = Note.parse(data)
    top = _above_the_call(note.body)
    wanted = APPROVE if yes else REJECT
    marked = _BOX.sub(lambda box: f"{box[1]}{'x' if box[3] == wanted else ' '}{box[2]}", top)
    if why:
        said = f"Reason: {' '.join(why.split())[:500]}"
        marked = re.sub(r"^Reason:[^\n]*$", lambda _: said, marked, count=1, flags=re.MULTILINE)
    return note.with_body(marked + note.body[len(top) :]).data


def _above_the_call(body: str) -> str:
    end = body.find("\n## ")
    return body if end < 0 else body[:end]
