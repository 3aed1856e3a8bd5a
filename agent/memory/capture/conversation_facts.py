"""The facts that a model finds in a conversation: some to add, and known ones that others replace or that ended.

The text of a fact is a sentence that can be read alone, in the model's words; its evidence are words of the person,
which must stand in one of their messages outside a question. Sending the prompt, and writing, are left to the caller.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from agent.config.masking import HIDDEN_IN_NOTES
from agent.dataclass import dataclass
from agent.llm.messages import reply_items
from agent.markdown.title import clipped
from agent.memory.store import StoredEntry
from agent.memory.understanding.seam import WISH, FactKind
from agent.memory.understanding.statements import LONGEST, is_question

KINDS = frozenset((*FactKind, "result", "open", WISH))
MOST = 12
"""The most facts of one conversation."""
CHARACTERS = 12_000
"""The most characters of a conversation that are sent; of a longer one, the end."""
_WRITTEN = 4_000
"""The most characters sent of what was written into notes meanwhile."""
_BEFORE = 600
"""The most characters sent of each message before them."""
_SEPARATOR = re.compile(r"[\n,，、;；]")
_ENDS = ".!?。！？\n"
_PART = re.compile(r"[^,，;；.!?。！？\n]*[,，;；.!?。！？\n]?")


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A message in a conversation; `line` is its line in the session's note, 0 if unknown, `at` its time, `run` the run
    in which it was said."""

    text: str
    is_person: bool = True
    line: int = 0
    at: datetime | None = None
    run: str = ""

    @property
    def who(self) -> str:
        """Who said it, as the prompt names them."""
        return "person" if self.is_person else "assistant"


@dataclass(frozen=True, slots=True)
class WrittenText:
    """A text that a note has already; `note` names the note."""

    note: str
    text: str


@dataclass(frozen=True, slots=True)
class ReadFact:
    """A fact as a sentence that can be read alone; `quote` is its evidence, words of the person.

    `line` is that of the quote in the session's note, 0 if unknown; `run` and `at` are those of its message;
    `replaces` is the known entry that is no longer true because of it; `keywords` are further words of the model's.
    """

    text: str
    quote: str
    kind: str
    line: int
    run: str = ""
    at: datetime | None = None
    replaces: StoredEntry | None = None
    keywords: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class EndedFact:
    """A known entry that is no longer true, without another one in its place; `quote` are the person's words."""

    known: StoredEntry
    quote: str


@dataclass(frozen=True, slots=True)
class ConversationReading:
    """A conversation as a model reads it. `known` are entries that it may replace or end, `written` what notes say
    already, `before` what was said before the lines, by which they are understood."""

    lines: Sequence[TalkLine]
    known: Sequence[StoredEntry] = ()
    written: Sequence[WrittenText] = ()
    before: Sequence[TalkLine] = ()

    def question(self) -> str:
        """The conversation and what is known, as the prompt shows them."""
        left, lines = CHARACTERS, list[dict[str, object]]()
        for number, each in reversed(list(enumerate(self.lines, 1))):
            left -= len(each.text)
            if left < 0:
                break
            day = {"day": f"{each.at:%Y-%m-%d %A}"} if each.at else {}
            lines.append({"number": number, "who": each.who, **day, "text": each.text})
        known = [
            {"key": key, "since": f"{each.entry.created:%Y-%m-%d}", "text": each.entry.text}
            for key, each in self._keys().items()
        ]
        before = [{"who": each.who, "text": clipped(each.text, _BEFORE)} for each in self.before]
        document = {
            **({"before": before} if before else {}),
            "lines": lines[::-1],
            "known": known,
            "written": list(self._written()),
        }
        return json.dumps(document, ensure_ascii=False, indent=1)

    def result(self, reply: str) -> tuple[tuple[ReadFact, ...], tuple[EndedFact, ...]]:
        """The facts in a model's answer and the known ones that ended, without what rests on no words of the person;
        raises `ValueError` for an unusable answer."""
        facts, ended = dict[str, ReadFact](), dict[str, EndedFact]()
        for item in reply_items(reply):
            line = self._line_of(item)
            if line is None:
                continue
            known = self._keys().get(item.get("key", ""))
            if item.get("do") == "remove":
                if known is not None:
                    ended[known.path] = EndedFact(known, " ".join(item["quote"].split()))
            elif (fact := self._fact(item, line, known)) is not None:
                facts.setdefault(fact.text, fact)
        replaced = {each.replaces.path for each in facts.values() if each.replaces is not None}
        whole = [
            each for each in facts.values() if not any(each.text != other and each.text in other for other in facts)
        ]
        return tuple(whole[:MOST]), tuple(each for path, each in ended.items() if path not in replaced)

    def _keys(self) -> Mapping[str, StoredEntry]:
        return {f"K{number}": each for number, each in enumerate(self.known, 1)}

    def _written(self) -> Iterator[dict[str, str]]:
        left = _WRITTEN
        for each in self.written:
            text = each.text[:left]
            left -= len(text)
            if text.strip():
                yield {"note": each.note, "text": text}

    def _line_of(self, item: Mapping[str, str]) -> TalkLine | None:
        """The message of the person that has the quote outside a question; None if there is none."""
        number = item.get("number", "")
        line = self.lines[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(self.lines) else None
        quote = " ".join(item.get("quote", "").split())
        if line is None or not line.is_person or not 0 < len(quote) <= LONGEST:
            return None
        at = " ".join(line.text.split()).find(quote)
        return line if at >= 0 and not _is_asked(" ".join(line.text.split()), at, at + len(quote)) else None

    def _fact(self, item: Mapping[str, str], line: TalkLine, replaces: StoredEntry | None) -> ReadFact | None:
        quote = " ".join(item["quote"].split())
        text = " ".join(item.get("text", "").split()) or quote
        if len(text) > LONGEST or is_question(text) or HIDDEN_IN_NOTES in text + quote:
            return None
        if replaces is None and any(text in each.entry.text for each in self.known):
            return None
        kind, begin = item.get("kind", ""), line.text.find(quote)
        return ReadFact(
            text,
            quote,
            kind if kind in KINDS else "other",
            line.line + line.text[: max(begin, 0)].count("\n") if line.line else 0,
            line.run,
            line.at,
            replaces,
            tuple(_SEPARATOR.split(item.get("keywords", ""))),
        )


def _is_asked(text: str, begin: int, end: int) -> bool:
    """True if a clause with this part of a text asks something: one that begins a sentence, or ends in a question mark;
    others, as ", who lives in Oslo,", state something beside the question."""
    for part in _PART.finditer(text):
        before, clause = text[: part.start()].rstrip(), part[0].strip()
        may_ask = not before or before[-1] in _ENDS or clause.endswith(("?", "？"))
        if part.start() < end and part.end() > begin and may_ask and is_question(clause):
            return True
    return False
