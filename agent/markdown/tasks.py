"""The tasks of a note: list items with a checkbox, in lists, quotes and callouts, and the dates in their texts by the
signs that people's programs give them.
"""

import re
from datetime import date
from typing import Literal, TypeAlias

from agent.dataclass import dataclass
from agent.markdown.blocks import Body

_TASK = re.compile(
    r"^((?:[ ]{0,3}>[ ]?)*)[ \t]*+(?:[-*+]|[0-9]{1,9}[.)])[ \t]++\[([^\n\r\0])\](?=[ \t\r\n]|\Z)([^\n]*)",
    re.MULTILINE,
)
_BLOCK_ID = re.compile(r"(?:^|[ \t])\^([A-Za-z0-9-]+)$")


@dataclass(frozen=True, slots=True)
class TaskBox:
    """A checkbox. `state` is the character in it; `line` counts from 1 in the file.

    `quoted`: it is in a quote or a callout.
    """

    state: str
    text: str
    line: int
    block: str = ""
    quoted: bool = False

    @property
    def done(self) -> bool:
        return self.state in "xX"

    @property
    def is_open(self) -> bool:
        """True for one that is still to be done: to do, in progress or important. Any other state, such as cancelled,
        moved or a mere mark of a theme, is not."""
        return self.state in " /!"


def find_tasks(body: Body) -> tuple[TaskBox, ...]:
    """The tasks in the order of their lines; `text` does not include the block id, which is in `block`."""
    if "]" not in body.visible:
        return ()
    return tuple(_task(body, found) for found in _TASK.finditer(body.visible))


def _task(body: Body, found: re.Match[str]) -> TaskBox:
    text = body.text[found.start(3) : found.end(3)].strip()
    block = _BLOCK_ID.search(text[-200:])
    name = ""
    if block:
        name = block[1]
        text = text[: len(text) - len(name) - 1].rstrip()
    return TaskBox(found[2], text, body.line_at(found.start()), name, ">" in found[1])


_Kind: TypeAlias = Literal["due", "scheduled", "start", "created", "closed", "named", "other"]
_SIGNS: dict[str, _Kind] = {
    **dict.fromkeys("📅📆🗓⏰@", "due"),
    **dict.fromkeys("⏳⌛", "scheduled"),
    "🛫": "start",
    "➕": "created",
    **dict.fromkeys("✅❌", "closed"),
}
_KEYS: dict[str, _Kind] = {
    **dict.fromkeys(("due", "due date", "deadline", "date", "when", "remind", "reminder"), "due"),
    **dict.fromkeys(("scheduled", "schedule", "do date"), "scheduled"),
    **dict.fromkeys(("start", "start date", "starts", "defer"), "start"),
    **dict.fromkeys(("created", "creation", "added"), "created"),
    **dict.fromkeys(("completion", "completed", "done", "cancelled", "canceled"), "closed"),
}
_DATED = re.compile(
    r"(?:(?P<sign>[📅📆🗓⏰⏳⌛🛫➕✅❌])\uFE0F?[ \t]*"
    r"|(?P<at>@)(?=[\[({<\d])"
    r"|(?P<key>[^\W\d_]{1,20}(?:[ -][^\W\d_]{1,20})?)(?P<mark>::[ \t]*|:(?=\d)|\())?"
    r"[\[({<]{0,3}(?<![0-9A-Za-z_/.-])(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    r"(?:T[0-9]{2}:[0-9]{2}(?::[0-9]{2})?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?(?![0-9A-Za-z_/-]|\.[0-9A-Za-z_])"
)


@dataclass(frozen=True, slots=True)
class TaskDates:
    """The dates of a task: the first of those that have the sign of a kind, and all that have no sign.

    `is_closed`: a day is given on which it was done or cancelled.
    """

    due: date | None = None
    scheduled: date | None = None
    start: date | None = None
    named: tuple[date, ...] = ()
    is_closed: bool = False

    @property
    def day(self) -> date | None:
        """The day on which its person wants to see it: it is due, or to be done; else it may be begun; else the last
        one named."""
        wanted = [each for each in (self.due, self.scheduled) if each is not None]
        return min(wanted, default=self.start or max(self.named, default=None))

    def has_come(self, today: date) -> bool:
        """True from its day on, and on the day on which it may be begun."""
        return not self.is_closed and (self.start == today or (self.day is not None and self.day <= today))


def parse_task_dates(text: str) -> TaskDates:
    """The dates in the text of a task; one that no calendar has is left out."""
    found: dict[_Kind, list[date]] = {}
    for match in _DATED.finditer(text):
        day = _parsed(match["day"])
        if day is not None:
            found.setdefault(_kind(match), []).append(day)
    due, scheduled, start = (min(found.get(kind, ()), default=None) for kind in ("due", "scheduled", "start"))
    return TaskDates(due, scheduled, start, tuple(found.get("named", ())), "closed" in found)


def without_created(text: str) -> str:
    """The text of a task without the day on which it was written down, which says nothing of what it is about."""
    return _DATED.sub(lambda match: "" if _kind(match) == "created" else match[0], text)


_MARKED = re.compile(rf"[\[(]?{_DATED.pattern}[\])}}>]{{0,3}}")
_SIGNED_WORDS = re.compile(
    r"🔁\uFE0F?[^📅📆🗓⏰⏳⌛🛫➕✅❌🔺⏫🔼🔽⏬\[(#]*|[🔺⏫🔼🔽⏬]\uFE0F?"
    r"|[🆔⛔]\uFE0F?[ \t]*[\w,-]+|\[(?:repeat|priority|id)::[^\]]*\]|(?<=@)@(?=\{)|🏁\uFE0F?[ \t]*\w+"
)
_BOARD_TIME = re.compile(r"@\{(\d{1,2}:\d{2})\}")


def plain_task_words(text: str) -> str:
    """The text of a task as its person would say it: without the signs and fields of programs and the dates in them."""

    def left(match: re.Match[str]) -> str:
        is_sign = match["sign"] or match["at"] or (match["mark"] or "").startswith("::")
        return "" if is_sign else match[0]

    words = _BOARD_TIME.sub(r"\1", _SIGNED_WORDS.sub("", _MARKED.sub(left, text)))
    return " ".join(words.split()) or " ".join(text.split())


def _kind(match: re.Match[str]) -> _Kind:
    sign, key = match["sign"] or match["at"], match["key"]
    if sign:
        return _SIGNS[sign]
    if not key:
        return "named"
    words = key.casefold().replace("-", " ")
    return _KEYS.get(words) or _KEYS.get(words.rpartition(" ")[2]) or ("other" if "::" in match["mark"] else "named")


def _parsed(word: str) -> date | None:
    try:
        return date.fromisoformat(word)
    except ValueError:
        return None
