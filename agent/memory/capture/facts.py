"""Entries for what people state in a run: one fact each, in their words, with a link to its session and line.

Found by rules, in the person's messages only. The choice of what is a statement is left to `understanding`, comparison
with known entries to `dedupe`.

An entry about a run: its channel, chat, session and sender; and a text shortened with a visible gap.

What was done and said in a run, as the caller reads it from the session's note.

The entries of a finished run, the same for all channels: the facts that its person stated.

If the model has read untrusted text, none of its words are stored without a person's approval (`memory_save` asks for
it), only the person's own words.
Comparison with known entries is left to `dedupe`, writing to `writer`.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace

from agent.clock import Clock
from agent.config.masking import HIDDEN_IN_NOTES
from agent.config.memory_settings import MemorySettings
from agent.config.resources import pattern
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.understanding.seam import Fact, SourceText
from agent.memory.understanding.statements import facts_in, sentences_in
from agent.memory.understanding.wording import wording
from agent.texts import Language

ASKED = 250
"""The most characters stored of the message."""
GAP = " ... "
_HEAD = 6
"""Tenths of a shortened text that come from its beginning; the end is kept because it often states the decision."""


def smart_truncate(whole: str, most: int) -> str:
    """The text, at most `most` characters: the first 60 % and the end of a longer one, with " ... " between them."""
    whole = whole.strip()
    if len(whole) <= most:
        return whole
    head = most * _HEAD // 10
    tail = max(most - head - len(GAP), 0)
    return whole[:head] + GAP + (whole[-tail:] if tail else "")


def entry_of(
    event: TaskCompleted, kind: EntryType, words: str, scope: Scope, source: str, clock: Clock, /, **slots: str
) -> Entry:
    """An entry about a run, with its channel, session, sender and thread; with its chat only where others read along,
    as that marks an entry as no matter of the owner's alone."""
    speaker = event.speaker
    return Entry(
        clock.new_id(),
        event.at or clock.now(),
        words,
        kind,
        scope,
        speaker.channel,
        source,
        chat_id=speaker.channel if speaker.group else "",
        session_id=event.session,
        sender_id=speaker.sender,
        thread_id=speaker.origin.thread,
        slots={"run": event.run, "outcome": event.outcome, **slots},
        evidence=(f"[[{event.session.removesuffix('.md')}]]",) if event.session else (),
    )


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
    event: TaskCompleted, utterances: tuple[Utterance, ...], clock: Clock, *, group: bool = True
) -> tuple[Entry, ...]:
    """The entries of what was said in a run; in a group also for the chat (`group`)."""
    found: list[Entry] = []
    for each in utterances or (Utterance(event.task),):
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
    is_stated = bool(best) and shares[best] >= HALF
    return best if is_stated and best not in text and HIDDEN_IN_NOTES not in best else ""


def shared(text: str, sentence: str) -> float:
    """The share of the words of the shorter of two texts that the other one has, 0 to 1; one word alone is none."""
    one, other = (each.words | each.numbers for each in map(wording, (text, sentence)))
    common = len(one & other)
    return common / min(len(one), len(other)) if common > 1 else 0.0


def is_explicit(message: str) -> bool:
    """True if the person asks to remember the message."""
    return pattern("explicit").match(message.strip()) is not None


def _line(utterance: Utterance, fact: Fact) -> int:
    """The line of the session's note with the fact."""
    rows = utterance.text.splitlines()
    return utterance.line + next((at for at, row in enumerate(rows) if fact.quote in row), 0)


@dataclass(frozen=True, slots=True)
class ToolUse:
    """One use of a tool: its subject in a few words, and True if it failed."""

    tool: str
    about: str = ""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class RunTrace:
    """The steps of a run, and what its person said in it and before, from its session note.

    `untrusted`: the sources of untrusted text that the model has read. `is_whole`: false if the note could not be read,
    so that the steps are unknown. `task_type` is the kind of task that a skill has recognised, empty if none has.
    """

    steps: tuple[ToolUse, ...] = ()
    untrusted: tuple[str, ...] = ()
    is_whole: bool = True
    utterances: tuple[Utterance, ...] = ()
    task_type: str = ""


FINISHED = "finished"
_PAUSED = frozenset(("needs_approval", "question_asked"))
"""Outcomes of a run that will continue; it is stored when it ends."""
_LABEL_ALONE = re.compile(r"[^:：]*(?:: |：)\s*")


@dataclass(frozen=True, slots=True)
class CaptureConfig:
    """The settings and functions for capturing runs.

    `masked`: covers secrets in a text. `remembering`: gives, for each run, the function that removes forgotten text.
    `language`: the language of the labels. `count`: the tokens of a text, for the figures. `waits`: true for a run
    whose conversation a model will read, so that new facts wait for it.
    """

    settings: MemorySettings
    clock: Clock
    masked: Callable[[str], str]
    remembering: Callable[[], Callable[[str], str]]
    language: Language = "en"
    count: Callable[[str], int] | None = None
    waits: Callable[[TaskCompleted, RunTrace], bool] = lambda event, trace: False


def is_captured(event: TaskCompleted) -> bool:
    """True if the run is to be captured: it is over, and not a sub-run (its parent is captured)."""
    return event.outcome not in _PAUSED and "." not in event.run


def entries_of_run(event: TaskCompleted, trace: RunTrace, config: CaptureConfig) -> tuple[Entry, ...]:
    """The entries of a run; none if capture is switched off, or the run was interrupted and may go on."""
    if not is_captured(event) or event.outcome == "interrupted":
        return ()
    settings, clock = config.settings, config.clock
    if settings.capture == "off":
        return ()
    event = replace(event, task=config.masked(event.task))
    utterances = tuple(replace(each, text=config.masked(each.text)) for each in trace.utterances)
    found = fact_entries(event, utterances, clock, group=settings.capture_group)
    slots = {"task_type": trace.task_type} if trace.task_type else {}
    entries = [replace(entry, slots={**entry.slots, **slots}) for entry in found]
    remembered = config.remembering() if entries else str
    return tuple(remaining for entry in entries if (remaining := _without_forgotten(entry, remembered)) is not None)


def _without_forgotten(entry: Entry, remembered: Callable[[str], str]) -> Entry | None:
    """The entry without forgotten text; None when only labels remain."""
    lines = [remembered(line) for line in entry.text.splitlines()]
    if lines == entry.text.splitlines():
        return entry
    left = [line for line in lines if line.strip() and not _LABEL_ALONE.fullmatch(line)]
    return replace(entry, text="\n".join(left)) if left else None
