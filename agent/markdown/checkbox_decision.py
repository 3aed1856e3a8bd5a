"""A person's yes or no in a note: two checkboxes and a line for the reason, above the first second-level heading.

Pure text: whether a decision counts, and for what, is left to whoever asked.
"""

import re

from agent.markdown import blocks, tasks
from agent.markdown.note import Note

APPROVE, REJECT = "approve", "reject"
BOXES = f"- [ ] {APPROVE}\n- [ ] {REJECT}"
"""The checkboxes as they are asked."""

REASON = {"en": "Reason: ", "zh": "理由："}
"""The line for the reason as it is asked, by the note's language; all of them are read back in every note."""

_REASON = re.compile(r"^(?:Reason:|理由[:：])[ \t]*([^\n]{1,500})$", re.MULTILINE)
_LINE = re.compile(r"^(Reason: ?|理由[:：])[^\n]*$", re.MULTILINE)
_BOX = re.compile(r"^([-*+][ \t]+\[)[^\]\n](\][ \t]+(approve|reject)[ \t]*)$", re.MULTILINE)


def parse_decision(body: str) -> bool | None:
    """What the checkboxes say: True for a yes, False for a no (also when both are ticked), None for nothing yet."""
    ticked = {task.text.strip().casefold() for task in tasks.find_tasks(blocks.parse_body(body)) if task.done}
    if REJECT in ticked:
        return False
    return True if APPROVE in ticked else None


def parse_reason(data: bytes) -> str:
    """What the person wrote behind `Reason:`, or what another language has for it."""
    found = _REASON.search(question_part(Note.parse(data).body.replace("\r\n", "\n")))
    return found[1].strip() if found else ""


def with_decision(data: bytes, yes: bool, why: str = "") -> bytes:
    """The note with the decision made in it."""
    note = Note.parse(data)
    top = question_part(note.body)
    wanted = APPROVE if yes else REJECT
    marked = _BOX.sub(lambda box: f"{box[1]}{'x' if box[3] == wanted else ' '}{box[2]}", top)
    if why:
        said = " ".join(why.split())[:500]
        marked = _LINE.sub(lambda line: f"{line[1]}{said}", marked, count=1)
    return note.with_body(marked + note.body[len(top) :]).data


def question_part(body: str) -> str:
    """The part that asks, before what it is about."""
    end = body.find("\n## ")
    return body if end < 0 else body[:end]
