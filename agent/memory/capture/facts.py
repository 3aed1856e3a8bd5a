"""Entries for what people state in a run: one fact each, in their words, with a link to its session and line.

Found by rules, in the person's messages only. The choice of what is a statement is left to `understanding`, comparison
with known entries to `dedupe`.
"""

from collections.abc import Iterator
from dataclasses import replace

from agent.clock import Clock
from agent.config.masking import HIDDEN_IN_NOTES
from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.capture.conversation import entry_of
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.understanding.seam import Fact, SourceText
from agent.memory.understanding.statements import facts_in, sentences_in
from agent.memory.understanding.wording import wording

SOURCE = "conversation"
HALF = 0.5
"""The share of their words from which on two texts are about the same."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A person's message in a session. `line` is the line of the session's note on which it begins, 0 if unknown;
    `is_earlier`: it was said before the run."""

    text: str
    line: int = 0
    is_earlier: bool = False


def fact_entries(
    event: TaskCompleted, said: tuple[Utterance, ...], clock: Clock, *, group: bool = True
) -> tuple[Entry, ...]:
    """The entries of what was said in a run; in a group also for the chat (`group`)."""
    found: list[Entry] = []
    for each in said or (Utterance(event.task),):
        kind = EntryType.USER_EXPLICIT if is_explicit(each.text) else EntryType.FACT
        scopes = (Scope.USER, Scope.CHAT) if event.speaker.group and group else (Scope.USER,)
        for fact in () if each.is_earlier else stated(each.text):
            slots = {"kind": str(fact.kind)} | ({"line": str(_line(each, fact))} if each.line else {})
            found += [entry_of(event, kind, fact.text, scope, SOURCE, clock, **slots) for scope in scopes]
    return tuple(found)


def stated(message: str) -> Iterator[Fact]:
    """The facts in a message; one that is not clear by itself gets the sentence before it, too."""
    earlier, is_asked_to_remember = "", is_explicit(message)
    for sentence in sentences_in(message):
        for fact in facts_in(SourceText(sentence, is_asked_to_remember)) if HIDDEN_IN_NOTES not in sentence else ():
            is_clear = not earlier or pattern("pronoun").match(fact.text) is None
            yield fact if is_clear else replace(fact, text=f"{earlier} {fact.text}")
        earlier = sentence


def quote_for(text: str, message: str) -> str:
    """The sentence of a person's message that says most of a fact which a model has worded; empty if none says half of
    it, and if the fact has its words."""
    shares = {" ".join(each.split()): shared(text, each) for each in sentences_in(message)}
    best = max(shares, key=lambda each: shares[each], default="")
    is_said = bool(best) and shares[best] >= HALF
    return best if is_said and best not in text and HIDDEN_IN_NOTES not in best else ""


def shared(text: str, sentence: str) -> float:
    """The share of the words of the shorter of two texts that the other one has, 0 to 1; one word alone is none."""
    one, other = (each.words | each.numbers for each in map(wording, (text, sentence)))
    common = len(one & other)
    return common / min(len(one), len(other)) if common > 1 else 0.0


def is_explicit(message: str) -> bool:
    """True if the person asks to remember the message."""
    return pattern("explicit").match(message.strip()) is not None


def _line(said: Utterance, fact: Fact) -> int:
    """The line of the session's note with the fact."""
    rows = said.text.splitlines()
    return said.line + next((at for at, row in enumerate(rows) if fact.quote in row), 0)
