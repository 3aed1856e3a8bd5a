"""The summary of a day: by a model, in a few lines on what was done, decided, promised and is open; and where no model
words it, from its entries and its log: what was stated, and what was asked.

The model is shown what happened, each piece with a key and a link. A line of its answer counts only if it quotes one of
them, and has no number that none of its pieces has; links are made here, of the keys. Sending the prompt, and writing,
are left to the caller."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal, TypeAlias, get_args

from agent.dataclass import dataclass
from agent.llm.messages import reply_items
from agent.markdown.title import clipped
from agent.memory.daily import Logged, cut, inert
from agent.memory.entry import ANSWER, EntryType, with_offset
from agent.memory.store import DayEntries, StoredEntry
from agent.memory.understanding.seam import SourceText
from agent.memory.understanding.statements import facts_in
from agent.memory.upkeep.longterm import owner_words, repeats
from agent.texts import Language, text
from agent.vault.message import one_line

_MOST = 12
"""The most lines of each part: a summary should be short."""
_BEGUN = 3
"""The most tasks named of one conversation."""
_LONGEST = 200

_VERBATIM = {EntryType.USER_EXPLICIT, EntryType.AUTO_FLUSH}


def day_summary(day: DayEntries, log: Sequence[Logged], language: Language) -> str:
    """The summary as Markdown; empty if there is nothing to sum up."""
    entries = (*day.new, *day.again)
    parts = (("facts", list(_facts(entries))), ("talks", list(_talks(log, language))))
    if not any(items for _, items in parts):
        return ""
    rows = [f"## {text('memory_day.summary', language)}", ""]
    for heading, items in parts:
        if items:
            rows += [
                f"### {text(f'memory_day.{heading}', language)}",
                "",
                *(f"- {item}" for item in items[-_MOST:]),
                "",
            ]
    return "\n".join(rows).rstrip("\n") + "\n"


def _talks(log: Sequence[Logged], language: Language) -> Iterator[str]:
    """The conversations, each once: start time, first tasks, and the number of further ones."""
    by_time = sorted(log, key=lambda task: task.time)  # the log has a part for each place where something was asked
    for session in dict.fromkeys(task.session for task in by_time if task.session):
        tasks = [task for task in by_time if task.session == session]
        titles = list(dict.fromkeys(task.title for task in tasks))
        more = " " + text("memory_day.more", language, number=len(titles) - _BEGUN) if len(titles) > _BEGUN else ""
        yield f"{tasks[0].time} {' · '.join(titles[:_BEGUN])}{more} {session}"


def _facts(entries: Sequence[StoredEntry]) -> Iterator[str]:
    """The stated facts, and the answers with what was asked, each once, with a link to the entry; oldest first.
    What was replaced or withdrawn since is told by what took its place."""
    holding = (each for each in entries if not each.entry.superseded_by)
    oldest = sorted(holding, key=lambda each: (with_offset(each.entry.created), each.entry.id))
    stated = [(words, each) for each in oldest for words in _stated(each)]
    texts = [(number, words) for number, (words, _) in enumerate(stated)]
    again = {other for _, others in repeats(texts) for other in others}
    for number, (words, each) in enumerate(stated):
        if number not in again:
            yield f"{cut(one_line(words), _LONGEST)} {each.link}"


def _stated(each: StoredEntry) -> list[str]:
    if each.entry.source == ANSWER:
        return [each.entry.text]
    return [fact.text for fact in facts_in(SourceText(owner_words(each), each.entry.type in _VERBATIM))]


Part: TypeAlias = Literal["done", "decided", "promised", "open"]
PARTS: tuple[Part, ...] = get_args(Part)
MOST, LONGEST = 8, 240
"""The most lines, and the most characters of one."""
_PIECES, _PIECE = 60, 600
"""The most pieces that are shown, and the most characters of one."""
_NUMBER = re.compile(r"\d+")
_KEY = re.compile(r"K\d+")
_LINKS = re.compile(r"\[\[|\]\]")


@dataclass(frozen=True, slots=True)
class DayPiece:
    """Something that happened: `kind` says what it is, `link` is the link to its note."""

    kind: str
    text: str
    link: str


@dataclass(frozen=True, slots=True)
class DayReading:
    """A day as a model reads it; of many pieces the last."""

    pieces: Sequence[DayPiece]

    def question(self) -> str:
        """The pieces, as the prompt shows them."""
        lines = [
            {"key": key, "kind": each.kind, "text": clipped(each.text, _PIECE)} for key, each in self._keys().items()
        ]
        return json.dumps(lines, ensure_ascii=False, indent=1)

    def words(self, reply: str, language: Language) -> str:
        """The lines of the answer as a section of the day's note; empty if none of them can be relied on. Raises
        `ValueError` for an answer without a list."""
        found: dict[Part, list[str]] = {part: [] for part in PARTS}
        keys = self._keys()
        for item in reply_items(reply):
            part = next((each for each in PARTS if each == item.get("part")), None)
            line = _line(item, keys)
            if part is not None and line and line not in found[part]:
                found[part].append(line)
        rows = [f"- {text(f'memory_day.{part}', language)}{line}" for part, lines in found.items() for line in lines]
        if not rows:
            return ""
        return "\n".join([f"## {text('memory_day.summary', language)}", "", *rows[:MOST]]) + "\n"

    def _keys(self) -> Mapping[str, DayPiece]:
        return {f"K{number}": each for number, each in enumerate(self.pieces[-_PIECES:], 1)}


def _line(item: Mapping[str, str], keys: Mapping[str, DayPiece]) -> str:
    """A line with its links; empty if it does not rest on what was shown."""
    named = [keys[key] for key in dict.fromkeys(_KEY.findall(item.get("from", ""))) if key in keys]
    words, quote = _flat(_LINKS.sub("", item.get("text", ""))), _flat(item.get("quote", ""))
    pieces = [_flat(clipped(each.text, _PIECE)) for each in named]
    if not words or len(words) > LONGEST or not quote or not any(quote in each for each in pieces):
        return ""
    if not set(_NUMBER.findall(words)) <= {number for each in pieces for number in _NUMBER.findall(each)}:
        return ""
    return " ".join([inert(words), *dict.fromkeys(each.link for each in named if each.link)])


def _flat(words: str) -> str:
    return " ".join(words.split())
