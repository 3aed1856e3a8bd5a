"""Facts that were checked before: a check that the notes in `research/` answer already searches nothing again.

Only a verdict that rests on sources counts, for the same words, for thirty days: what is older is looked up anew, and
so is what was left open.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import date, datetime, timedelta
from typing import cast, get_args

from agent.growth.research.findings import Confidence, ResearchFindings, Verdict, whole_topic
from agent.growth.research.reading import Reading
from agent.growth.research.research_call import LIMITS, Research
from agent.markdown.note import Note
from agent.vault.folders import RESEARCH
from agent.vault.store import Vault

FRESH = timedelta(days=30)
"""The age up to which a verdict is given again, with its day."""
_SETTLED = frozenset(("confirmed", "supported", "refuted", "contradicted", "disputed"))
_SECTION = re.compile(r"^## (\d{4}-\d\d-\d\d)[^\n]*\n", re.MULTILINE)
_SIGNS = re.compile(r"[\W_]+")
_NOT_WHOLE = "> [!warning]"


def known_fact(vault: Vault, topic: str, now: datetime) -> Research | None:
    """The newest check of a fact in the same words that is not too old: its note is the one source, and nothing is to
    be written. None without one."""
    found: list[tuple[date, Research]] = []
    for path in vault.note_paths(vault.home.at(RESEARCH)):
        note = Note.parse(vault.own_version(path) or b"")
        if note.string("kind") == "fact" and _plain(note.string("title") or "") == _plain(topic):
            found += _last(path, topic, note)
    fresh = [each for each in found if timedelta(0) <= now.date() - each[0] <= FRESH]
    return max(fresh, key=lambda each: each[0])[1] if fresh else None


def _plain(words: str) -> str:
    """The words and figures of a statement, all of them: another figure is another fact."""
    return " ".join(_SIGNS.sub(" ", words.casefold()).split())


def _last(path: str, topic: str, note: Note) -> Iterator[tuple[date, Research]]:
    """The last section of a note with its day, if it is a whole one whose verdict rests on sources."""
    verdict, confidence = note.string("verdict"), note.string("confidence")
    heads = [*_SECTION.finditer(note.body)]
    if verdict not in _SETTLED or confidence not in get_args(Confidence) or not heads:
        return
    text = note.body[heads[-1].end() :].partition("\n### ")[0].strip()
    strangers = note.strings("untrusted")
    with suppress(ValueError):
        day = date.fromisoformat(heads[-1][1])
        if text and not text.startswith(_NOT_WHOLE):
            source = Reading(path, topic, "", day.isoformat(), "own", text, ", ".join(strangers), 1)
            found = ResearchFindings((whole_topic(topic),), verdict=cast(Verdict, verdict))
            yield (
                day,
                Research(
                    "done",
                    path,
                    (source,),
                    found,
                    cast(Confidence, confidence),
                    text,
                    LIMITS["fact"].calls,
                    strangers=strangers,
                    checked=day,
                ),
            )
