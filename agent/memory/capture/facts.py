"""Entries for what people state in a run: one fact each, in their words, with a link to its session and line.

Found by rules, in the person's messages only. The choice of what is a statement is left to `understanding`, comparison
with known entries to `dedupe`.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agent.clock import Clock
from agent.config.masking import HIDDEN_IN_NOTES
from agent.config.vocabulary import pattern
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.before import with_before, without_before
from agent.memory.capture.conversation import entry_of
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.understanding.corrections import is_fragment, may_change
from agent.memory.understanding.seam import Fact, SourceText
from agent.memory.understanding.statements import facts_in, is_statement, kind_of, sentences_in
from agent.memory.understanding.wording import wording
from agent.texts import Language

SOURCE = "conversation"
_BARE = 4
"""The most terms of a correction that needs the statement before it."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A person's message in a session. `line` is the line of the session's note on which it begins, 0 if unknown;
    `is_earlier`: it was said before the run."""

    text: str
    line: int = 0
    is_earlier: bool = False


def fact_entries(
    event: TaskCompleted, said: tuple[Utterance, ...], clock: Clock, language: Language = "en", *, group: bool = True
) -> tuple[Entry, ...]:
    """The entries of what was said in a run, after what was said before it in the same conversation; in a group also
    for the chat (`group`)."""
    found: list[Entry] = []
    last: Fact | None = None
    for each in said or (Utterance(event.task),):
        facts = tuple(_stated(each.text, last, language))
        last = facts[-1] if facts else None
        if each.is_earlier:
            continue
        kind = EntryType.USER_EXPLICIT if _is_explicit(each.text) else EntryType.FACT
        scopes = (Scope.USER, Scope.CHAT) if event.speaker.group and group else (Scope.USER,)
        for fact in facts:
            slots = {"kind": str(fact.kind)} | ({"line": str(_line(each, fact))} if each.line else {})
            found += [entry_of(event, kind, fact.text, scope, SOURCE, clock, **slots) for scope in scopes]
    return tuple(found)


def stated_last(said: Sequence[str], language: Language) -> tuple[str, ...]:
    """The texts of the statements in the last of these messages of one conversation, as their entries have them."""
    last: Fact | None = None
    facts: tuple[Fact, ...] = ()
    for each in said:
        facts = tuple(_stated(each, last, language))
        last = facts[-1] if facts else None
    return tuple(fact.text for fact in facts)


def is_complete(entry_text: str) -> bool:
    """False for a text that is understood only beside the statement that it changes."""
    said = without_before(entry_text)
    return said != entry_text or not may_change(said) or is_statement(said)


def _stated(message: str, last: Fact | None, language: Language) -> Iterator[Fact]:
    """The facts in a message; one that is not clear by itself gets the statement or the sentence before it, too."""
    is_explicit, earlier = _is_explicit(message), ""
    for sentence in sentences_in(message):
        facts = tuple(facts_in(SourceText(sentence, is_explicit)))
        if last is not None and is_fragment(sentence) and (_is_bare(facts) or _speak_of_the_same(sentence, last.text)):
            facts = (Fact(with_before(sentence, last.text, language), last.kind, sentence),)
        elif not facts and may_change(sentence):
            facts = (Fact(sentence, kind_of(sentence), sentence),)
        for fact in facts if HIDDEN_IN_NOTES not in sentence else ():
            is_clear = not earlier or pattern("pronoun").match(fact.text) is None
            last = fact if is_clear else replace(fact, text=f"{earlier} {fact.text}")
            yield last
        earlier = sentence


def _is_bare(facts: Sequence[Fact]) -> bool:
    """True if a correction says too little to be understood by itself."""
    return sum(len(wording(fact.text).terms) for fact in facts) <= _BARE


def _speak_of_the_same(one: str, other: str) -> bool:
    return bool(wording(one).terms & wording(other).terms)


def _is_explicit(message: str) -> bool:
    """True if the person asks to remember the message."""
    return pattern("explicit").match(message.strip()) is not None


def _line(said: Utterance, fact: Fact) -> int:
    """The line of the session's note with the fact."""
    rows = said.text.splitlines()
    return said.line + next((at for at, row in enumerate(rows) if fact.quote in row), 0)
