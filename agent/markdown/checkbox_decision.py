"""Checkbox decisions: a person's yes or no in a note, as two checkboxes and a line for the reason.

The words at the boxes are in the note's language; a tick is read in any language. Both are above the note's first
second-level heading. The caller decides if a decision is valid, and what it approves.
"""

import re
from datetime import datetime
from functools import cache

from agent.markdown import blocks, tasks
from agent.markdown.note import Note
from agent.texts import LANGUAGES, Language, in_all_languages, text

APPROVE, REJECT = "approve", "reject"
"""The words at the boxes in English."""

_RESULT = "→ "


def format_boxes(language: Language) -> str:
    """The two checkboxes, unticked."""
    return "\n".join(f"- [ ] {text(f'markdown.decision_{key}', language)}" for key in ("yes", "no"))


@cache
def _words(key: str) -> frozenset[str]:
    """The words at the box for a `yes` or a `no`, in all languages."""
    return frozenset(in_all_languages(f"markdown.decision_{key}"))


@cache
def _box() -> re.Pattern[str]:
    """The pattern of a line with one of the boxes."""
    words = "|".join(map(re.escape, sorted(_words("yes") | _words("no"))))
    return re.compile(rf"^([-*+][ \t]+\[)[^\]\n](\][ \t]+({words})[ \t]*)$", re.MULTILINE)


def without_boxes(body: str) -> str:
    """The text without its two checkboxes, for a place where the decision is made in another way."""
    return _box().sub("", body)


def reason_label(language: str) -> str:
    """The label at the beginning of the reason line in this language; the person writes after it."""
    return dict[str, str](zip(LANGUAGES, in_all_languages("markdown.decision_reason"), strict=True))[language]


def decision_language(data: bytes) -> Language:
    """The language in which a note asks, from its label for the reason; English without one."""
    top = question_part(Note.parse(data).body)
    return next((each for each in LANGUAGES if f"\n{reason_label(each).strip()}" in top), LANGUAGES[0])


def parse_decision(body: str) -> bool | None:
    """True when the box for a yes is ticked, False when that for a no is (also when both are), None for neither."""
    ticked = {task.text.strip().casefold() for task in tasks.find_tasks(blocks.parse_body(body)) if task.done}
    if not ticked.isdisjoint(_words("no")):
        return False
    return None if ticked.isdisjoint(_words("yes")) else True


def parse_reason(data: bytes) -> str:
    """The text after `Reason:` or its label in another language; empty if there is none."""
    found = _pattern(r"[ \t]*([^\n]{1,500})").search(question_part(Note.parse(data).body.replace("\r\n", "\n")))
    return found[2].strip() if found else ""


def with_decision(data: bytes, yes: bool, why: str) -> bytes:
    """The note with one box ticked, and the reason `why` written after its label if the note has one."""
    note = Note.parse(data)
    top = question_part(note.body)
    wanted = _words("yes" if yes else "no")
    marked = _box().sub(lambda box: f"{box[1]}{'x' if box[3] in wanted else ' '}{box[2]}", top)
    if why:
        reason = " ".join(why.split())[:500]
        marked = _pattern(r"[^\n]*").sub(lambda line: f"{line[1]}{reason}", marked, count=1)
    return note.with_body(marked + note.body[len(top) :]).data


def settled_note(data: bytes, yes: bool | None, status: str, at: datetime, why: str = "") -> Note:
    """The note with its status, the chosen box, and a line below the boxes; `yes` is None if what it asks about has
    changed. Raises `BadNote`."""
    outcome = "outdated" if yes is None else "approved" if yes else "rejected"
    line = text(f"markdown.decision_{outcome}", decision_language(data), at=at)
    marked = data if yes is None else with_decision(data, yes, why)
    return Note.parse(with_result(marked, line)).with_key("status", status)


def with_result(data: bytes, line: str) -> bytes:
    """The note with a line below its boxes that says what came of the decision; unchanged if it has one."""
    note = Note.parse(data)
    top = question_part(note.body)
    found = [*_box().finditer(top), *_pattern(r"[^\n]*").finditer(top)]
    if not found or f"\n{_RESULT}" in top:
        return data
    end = max(each.end() for each in found)
    return note.with_body(f"{top[:end]}\n\n{_RESULT}{line}{top[end:]}{note.body[len(top) :]}").data


def question_part(body: str) -> str:
    """The text above the first second-level heading: the question with its checkboxes."""
    end = body.find("\n## ")
    return body if end < 0 else body[:end]


@cache
def _pattern(rest: str) -> re.Pattern[str]:
    """The pattern of a reason line: its label in any language, an ASCII or full-width colon, then `rest`."""
    labels = "|".join(re.escape(label.strip(" :：")) for label in in_all_languages("markdown.decision_reason"))
    return re.compile(rf"^((?:{labels})[:：] ?){rest}$", re.MULTILINE)
