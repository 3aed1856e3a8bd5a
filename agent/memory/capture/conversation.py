"""Entries for turns of a conversation: the person's message and the answer, shortened with a visible gap.

Message and answer share one entry. In a group, the pair is stored twice: for the person and for the chat.
"""

import re
from collections.abc import Callable

from agent.clock import Clock
from agent.dataclass import dataclass
from agent.events.runs import TaskCompleted
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.understanding.small_talk import is_small_talk
from agent.memory.understanding.statements import only_asks
from agent.texts import Language, in_all_languages, text

ASKED, ANSWERED = 250, 400
"""The most characters stored of the message and of the answer."""
GAP = " ... "
_HEAD = 6
"""Tenths of a shortened text that come from its beginning; the end is kept because it often states the decision."""

Summarise = Callable[[str], str]
"""Function from a long turn to its summary; the summary is empty when nothing is worth storing."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The settings for turns.

    `group`: also store a group's turns for the chat. `summarise`: summarises turns longer than `above` characters
    (None: they are shortened). `language`: the language of the labels.
    """

    group: bool = True
    above: int = 200
    summarise: Summarise | None = None
    language: Language = "en"


def smart_truncate(whole: str, most: int) -> str:
    """The text, at most `most` characters: the first 60 % and the end of a longer one, with " ... " between them."""
    whole = whole.strip()
    if len(whole) <= most:
        return whole
    head = most * _HEAD // 10
    tail = max(most - head - len(GAP), 0)
    return whole[:head] + GAP + (whole[-tail:] if tail else "")


def turn_text(asked: str, answer: str, turns: Turns) -> str:
    """The text of a turn; empty when message and answer are empty. An empty `answer` is left out."""
    if not asked.strip() and not answer.strip():
        return ""
    if turns.summarise is not None and max(len(asked.strip()), len(answer.strip())) >= turns.above:
        summary = turns.summarise(f"User: {asked.strip()}\n\nAssistant: {answer.strip()}").strip()
        if summary:
            return smart_truncate(summary, ASKED + ANSWERED)
    parts = [text("memory_turn.person", turns.language) + smart_truncate(asked, ASKED)]
    if answer.strip():
        parts.append(text("memory_turn.model", turns.language) + smart_truncate(answer, ANSWERED))
    return "\n".join(parts)


def asked_in(turn: str) -> str:
    """The person's message in the text of a turn, for labels in any language."""
    person, model = ("|".join(in_all_languages(key)) for key in ("memory_turn.person", "memory_turn.model"))
    return re.sub(rf"\A(?:{person})", "", re.split(rf"\n(?:{model})", turn, maxsplit=1)[0])


def chat_turns(event: TaskCompleted, answer: str, clock: Clock, turns: Turns) -> tuple[Entry, ...]:
    """The entries of a finished turn: for the person, in a group also for the chat.

    None when nothing was said that may be worth recalling: an empty turn, small talk, a question without its answer.
    """
    if is_small_talk(event.task) or (not answer.strip() and only_asks(event.task)):
        return ()
    turn = turn_text(event.task, answer, turns)
    if not turn:
        return ()
    scopes = (Scope.USER, Scope.CHAT) if event.speaker.group and turns.group else (Scope.USER,)
    return tuple(entry_of(event, EntryType.CHAT_TURN, turn, scope, "conversation_capture", clock) for scope in scopes)


def entry_of(
    event: TaskCompleted, kind: EntryType, words: str, scope: Scope, source: str, clock: Clock, /, **slots: str
) -> Entry:
    """An entry about a run, with its channel, chat, session and sender."""
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
        slots={"run": event.run, "outcome": event.outcome, **slots},
        evidence=(f"[[{event.session.removesuffix('.md')}]]",) if event.session else (),
    )
