"""The dates in the text of a task, by the signs that people's programs give them.

Known are the signs of Obsidian's Tasks, the inline fields of Dataview (`[due:: …]`), the dates of Kanban (`@{…}`) and
of Reminder (`(@…)`), and `due:…` or `@due(…)` of plain task files. A date without a sign is only named.
"""

import re
from datetime import date
from typing import Literal, TypeAlias

from agent.dataclass import dataclass

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
