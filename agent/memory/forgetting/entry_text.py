"""The parts of an entry's text that are forgotten with it, and its fingerprints."""

import re
from collections.abc import Iterator

from agent.config.resources import pattern
from agent.memory.entry import QUOTE, Entry, EntryType
from agent.memory.forgetting.tombstones import PRONOUNS, marks, name_marks
from agent.memory.understanding.statements import claims, is_claim, is_statement
from agent.memory.understanding.wording import wording

LABEL = re.compile(r"^\s*(?:user|assistant|用户|助手)\s*[:：]\s*", re.IGNORECASE)
"""The speaker's label at the beginning of a line."""
_FEWEST = 3
"""The words of a clause that says enough to be known by it."""
ANSWER = re.compile(r"^\s*(?:assistant|助手)\s*[:：]", re.IGNORECASE)
"""The label of an answer."""


def persons_words(entry: Entry) -> str:
    """The text of an entry that is forgotten with it, and the words on which it rests.

    Of an answer to a statement, only sentences that repeat it count: "I will remember that" can answer any statement.
    """
    asked = _asked(entry)
    words = asked if entry.type is EntryType.CHAT_TURN and is_statement(LABEL.sub("", asked)) else entry.text
    return "\n".join(filter(None, (words, entry.slots.get(QUOTE, ""))))


def telling_words(entry: Entry) -> str:
    """The words by which an entry that goes is recognised where the agent has repeated it: its statements, and
    each of their clauses that states something by itself, one per line."""
    found = claims(persons_words(entry))
    return "\n".join((found, *_telling_clauses(found)))


def _telling_clauses(words: str) -> Iterator[str]:
    for sentence in words.splitlines():
        clauses = re.split(pattern("clause_end"), sentence)
        for each in clauses if len(clauses) > 1 else ():
            parts = wording(each)
            if len((parts.words | parts.numbers) - PRONOUNS) >= _FEWEST and is_claim(each):
                yield each.strip()


def entry_marks(entry: Entry) -> frozenset[str]:
    """The fingerprints of an entry, for the tombstone."""
    words = persons_words(entry)
    if words == entry.text:
        return marks(entry.text) | name_marks(LABEL.sub("", entry.text))
    answered = "\n".join(line for line in entry.text.splitlines() if line not in words.splitlines())
    return marks(words) | marks(answered, about=words) | name_marks(LABEL.sub("", words))


def _asked(entry: Entry) -> str:
    """The lines of the person in an entry of a turn."""
    lines, is_answer = list[str](), False
    for line in entry.text.splitlines():
        if LABEL.match(line):
            is_answer = ANSWER.match(line) is not None
        if not is_answer:
            lines.append(line)
    return "\n".join(lines)
