"""Facts that were checked before: a check that the notes in `research/` answer already searches nothing again.

Only a verdict that rests on sources counts, for the same words, for thirty days: what is older is looked up anew, and
so is what was left open.
"""

import re
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import cast, get_args

from agent.dataclass import dataclass
from agent.growth.research.findings import Confidence, Verdict
from agent.markdown.note import Note
from agent.vault.folders import RESEARCH
from agent.vault.store import Vault

FRESH = timedelta(days=30)
"""The age up to which a verdict is given again, with its day."""
_SETTLED = frozenset(("confirmed", "supported", "refuted", "contradicted", "disputed"))
_SECTION = re.compile(r"^## (\d{4}-\d\d-\d\d)[^\n]*\n", re.MULTILINE)
_SIGNS = re.compile(r"[\W_]+")
_NOT_WHOLE = "> [!warning]"


@dataclass(frozen=True, slots=True)
class KnownFact:
    """What an earlier check has found: the `verdict` of `day`, in the note at `path`, where `text` stands with its
    sources. `untrusted` are the strangers whose text it rests on."""

    path: str
    day: date
    verdict: Verdict
    confidence: Confidence
    text: str
    untrusted: tuple[str, ...]


def known_fact(vault: Vault, topic: str, now: datetime) -> KnownFact | None:
    """The newest check of a fact in the same words that is not too old; None without one."""
    found = [each for each in _checked(vault, topic) if timedelta(0) <= now.date() - each.day <= FRESH]
    return max(found, key=lambda each: each.day, default=None)


def _checked(vault: Vault, topic: str) -> Iterator[KnownFact]:
    wanted = _plain(topic)
    for path in vault.note_paths(vault.home.at(RESEARCH)):
        note = Note.parse(vault.own_version(path) or b"")
        is_same = note.string("kind") == "fact" and _plain(note.string("title") or "") == wanted
        if is_same and (found := _last(path, note)) is not None:
            yield found


def _plain(said: str) -> str:
    """The words and figures of a statement, all of them: another figure is another fact."""
    return " ".join(_SIGNS.sub(" ", said.casefold()).split())


def _last(path: str, note: Note) -> KnownFact | None:
    """The last section of a note, if it is a whole one whose verdict rests on sources."""
    verdict, confidence = note.string("verdict"), note.string("confidence")
    heads = [*_SECTION.finditer(note.body)]
    if verdict not in _SETTLED or confidence not in get_args(Confidence) or not heads:
        return None
    text = note.body[heads[-1].end() :].partition("\n### ")[0].strip()
    try:
        day = date.fromisoformat(heads[-1][1])
    except ValueError:
        return None
    if not text or text.startswith(_NOT_WHOLE):
        return None
    untrusted = note.strings("untrusted")
    return KnownFact(path, day, cast(Verdict, verdict), cast(Confidence, confidence), text, untrusted)
