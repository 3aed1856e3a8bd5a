"""What a model finds worth keeping in a conversation: quotes of its lines, and the known facts that they replace.

Of the model's own words only keywords are kept, for search; the text is what it quotes. A quote of the person is
theirs; one of the assistant is what a model concluded. Sending the prompt, and writing, are left to the caller.
"""

import json
import re
from collections.abc import Mapping, Sequence
from datetime import datetime

from agent.config.vocabulary import pattern
from agent.dataclass import dataclass
from agent.llm.fields import reply_items
from agent.memory.before import with_before
from agent.memory.entry import MODEL, Entry
from agent.memory.store import StoredEntry
from agent.memory.understanding.corrections import is_fragment
from agent.memory.understanding.seam import FactKind
from agent.memory.understanding.statements import LONGEST, is_question
from agent.texts import Language

KINDS = frozenset((*FactKind, "result", "open", "wish"))
MOST = 12
"""The most facts of one conversation."""
CHARACTERS = 12_000
"""The most characters of a conversation that are sent; of a longer one, the end."""
_SEPARATOR = re.compile(r"[\n,，、;；]")


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A message in a conversation; `line` is its line in the session's note, 0 if unknown, `at` its time, `run` the run
    in which it was said."""

    text: str
    is_person: bool = True
    line: int = 0
    at: datetime | None = None
    run: str = ""


@dataclass(frozen=True, slots=True)
class QuotedFact:
    """A fact in the words of a message. `source` is `MODEL` for a quote of the assistant, else empty; `replaces` is the
    known entry that it replaces; `keywords` are the model's words, as it gave them; `run` is that of its message, or of
    the entry that the rules have already kept of it; `at` is when it was said."""

    text: str
    kind: str
    line: int
    source: str = ""
    replaces: StoredEntry | None = None
    keywords: tuple[str, ...] = ()
    run: str = ""
    at: datetime | None = None


@dataclass(frozen=True, slots=True)
class ConversationReading:
    """A conversation as a model reads it, and what is known of it.

    `known` are shown to the model. `kept` are the entries that the rules have already made of the conversation: a quote
    of one means that entry. `stated` is what the rules find in it: a quote that needs the sentence before it is
    completed by theirs.
    """

    lines: Sequence[TalkLine]
    known: Sequence[StoredEntry] = ()
    kept: Sequence[StoredEntry] = ()
    stated: Sequence[Entry] = ()
    language: Language = "en"

    def question(self) -> str:
        """The conversation and what is known, as the prompt shows them."""
        left, shown = CHARACTERS, list[dict[str, object]]()
        for number, each in reversed(list(enumerate(self.lines, 1))):
            left -= len(each.text)
            if left < 0:
                break
            shown.append({"number": number, "who": "person" if each.is_person else "assistant", "text": each.text})
        facts = [{"key": f"K{number}", "text": each.entry.text} for number, each in enumerate(self.known, 1)]
        return json.dumps({"lines": shown[::-1], "known": facts}, ensure_ascii=False, indent=1)

    def facts(self, reply: str) -> tuple[QuotedFact, ...]:
        """The facts in a model's answer, without those that quote no line, and those that stand word for word in
        another one, or in a known entry and replace none; raises `ValueError` for an unusable answer."""
        quoted = (self._fact(item) for item in reply_items(reply))
        found = {fact.text: fact for fact in reversed([each for each in quoted if each is not None])}
        facts = tuple(reversed(found.values()))
        parts = {one.text for one in facts for other in facts if one is not other and one.text in other.text}
        return tuple(each for each in facts if each.text not in parts)[:MOST]

    def _fact(self, item: Mapping[str, str]) -> QuotedFact | None:
        number = item.get("number", "")
        said = self.lines[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(self.lines) else None
        quote, kind = item.get("quote", "").strip(), item.get("kind", "")
        if said is None or quote not in said.text or not 0 < len(quote) <= LONGEST or is_question(quote):
            return None
        keys = {f"K{number}": each for number, each in enumerate(self.known, 1)}
        replaces = keys.get(item.get("replaces", ""))
        if replaces is None and any(quote in each.entry.text for each in self.known):
            return None
        already = next((each.entry for each in self.kept if quote in each.entry.text), None)
        return QuotedFact(
            already.text if already is not None else self._whole(quote, replaces),
            kind if kind in KINDS else "other",
            said.line + said.text[: said.text.index(quote)].count("\n") if said.line else 0,
            "" if said.is_person else MODEL,
            replaces,
            tuple(_SEPARATOR.split(item.get("keywords", ""))),
            already.slots.get("run", "") if already is not None else said.run,
            said.at,
        )

    def _whole(self, quote: str, replaces: StoredEntry | None) -> str:
        """The quote, with the statement that it corrects or the sentence that it needs to be understood."""
        if replaces is not None and is_fragment(quote):
            return with_before(quote, replaces.entry.text, self.language)
        if is_fragment(quote) or pattern("pronoun").match(quote):
            return next((each.text for each in self.stated if quote in each.text), quote)
        return quote
