"""The log of a day that a question names, as in "what did we talk about today?" or "what did I do last Tuesday?"."""

import re
from collections.abc import Collection
from datetime import date

from agent.config.vocabulary import pattern
from agent.memory.memory_note import rests_on
from agent.memory.recall.eligibility import filled
from agent.memory.recall.where_and_when import days_of_past

_MARK = re.compile(r"^%% vault-agent:.*%%\s*\n?", re.MULTILINE)
_PART = re.compile(r"^(?=#{1,6} )", re.MULTILINE)


def asked_days(question: str, today: date) -> tuple[str, ...]:
    """The days (ISO) of which a question about its person, or about a conversation, wants the logs: "today",
    "yesterday", "last Tuesday". Other questions name such a day in passing ("in which country is Waterloo today?")."""
    plain = question.replace("’", "'")
    if not (pattern("own").search(plain) or pattern("together").search(plain)):
        return ()
    return tuple(day.isoformat() for day in days_of_past(plain, today))


def end_of_day(note: str, most: int) -> tuple[str, tuple[int, int]]:
    """The last sections of a day's note, in at most `most` characters, with their lines: the day's summary, and what
    was logged last. Empty for a day without sections."""
    rows = note.rstrip("\n").split("\n")
    begins = [at for at, row in enumerate(rows) if row.startswith("##")]
    fitting = (at for at in begins if len("\n".join(rows[at:])) <= most)
    begin = next(fitting, begins[-1] if begins else len(rows))
    text = _MARK.sub("", filled("\n".join(rows[begin:]))).strip()
    return text[:most], (begin + 1, len(rows))


def without_facts(log: str, links: Collection[str]) -> str:
    """The log without the facts whose entries have these links, nor the headings that nothing is left below."""
    left: list[str] = []
    for part in _PART.split(log):
        rows = part.splitlines()
        others = [row for row in rows if not rests_on(row, links)]
        is_emptied = len(others) < len(rows) and all(row.startswith("#") or not row.strip() for row in others)
        left += [] if is_emptied else others
    return "\n".join(left).strip()
