"""What a model finds worth keeping in a conversation: quotes of its lines, and the known facts that they replace.

The model's words are never kept, only those that it quotes. A quote of the person is theirs; one of the assistant is
what a model concluded. Sending the prompt, and writing, are left to the caller.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from agent.memory.capture.facts import with_before
from agent.memory.entry import MODEL
from agent.memory.store import StoredEntry
from agent.memory.understanding.corrections import is_fragment
from agent.memory.understanding.model import reply_items
from agent.memory.understanding.statements import LONGEST, is_question
from agent.texts import Language

KINDS = frozenset(("preference", "decision", "workflow", "person", "result", "open", "other"))
MOST = 12
"""The most facts of one conversation."""
CHARACTERS = 12_000
"""The most characters of a conversation that are sent; of a longer one, the end."""


@dataclass(frozen=True, slots=True)
class TalkLine:
    """A message in a conversation; `line` is its line in the session's note, 0 if unknown."""

    text: str
    is_person: bool = True
    line: int = 0


@dataclass(frozen=True, slots=True)
class QuotedFact:
    """A fact in the words of a message. `source` is `MODEL` for a quote of the assistant, else empty; `replaces` is the
    known entry that it replaces."""

    text: str
    kind: str
    line: int
    source: str = ""
    replaces: StoredEntry | None = None


def question(lines: Sequence[TalkLine], known: Sequence[StoredEntry]) -> str:
    """The conversation and what is known, as the prompt shows them."""
    left, shown = CHARACTERS, list[dict[str, object]]()
    for number, each in reversed(list(enumerate(lines, 1))):
        left -= len(each.text)
        if left < 0:
            break
        shown.append({"number": number, "who": "person" if each.is_person else "assistant", "text": each.text})
    facts = [{"key": f"K{number}", "text": each.entry.text} for number, each in enumerate(known, 1)]
    return json.dumps({"lines": shown[::-1], "known": facts}, ensure_ascii=False, indent=1)


def quoted_facts(
    reply: str, lines: Sequence[TalkLine], known: Sequence[StoredEntry], language: Language
) -> tuple[QuotedFact, ...]:
    """The facts in a model's answer, without those that quote no line, and those that stand in a known entry word for
    word and replace none; raises `ValueError` for an unusable answer."""
    keys = {f"K{number}": each for number, each in enumerate(known, 1)}
    found: dict[str, QuotedFact] = {}
    for item in reply_items(reply):
        number = item.get("number", "")
        said = lines[int(number) - 1] if number.isdecimal() and 0 < int(number) <= len(lines) else None
        quote, kind = item.get("quote", "").strip(), item.get("kind", "")
        if said is None or quote not in said.text or not 0 < len(quote) <= LONGEST or is_question(quote):
            continue
        replaces = keys.get(item.get("replaces", ""))
        if replaces is None and any(quote in each.entry.text for each in known):
            continue
        text = with_before(quote, replaces.entry.text, language) if replaces and is_fragment(quote) else quote
        source = "" if said.is_person else MODEL
        line = said.line + said.text[: said.text.index(quote)].count("\n") if said.line else 0
        found.setdefault(text, QuotedFact(text, kind if kind in KINDS else "other", line, source, replaces))
    return tuple(found.values())[:MOST]
