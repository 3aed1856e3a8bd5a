"""A turn of a conversation as an entry: what a person said and what was answered, shortened openly.

One entry for a pair, so that what was answered stands beside what was asked. In a group the same pair is kept once for
the person and once for the chat.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass

from agent.clock import Clock
from agent.events.runs import TaskCompleted
from agent.memory.entry import Entry, EntryType, Scope
from agent.texts import Language, in_all_languages, text

ASKED, ANSWERED = 250, 400
"""Characters that are kept of what was said and of what was answered."""
GAP = " ... "
_HEAD = 6
"""Tenths of a shortened text that come from its beginning; its end often has what was decided."""

Summarise = Callable[[str], str]
"""A long turn to what is worth keeping of it; empty when there is nothing to say."""


@dataclass(frozen=True, slots=True)
class Turns:
    """The settings for turns: whether a group's are kept for the chat too, and what summarises those longer than
    `above` characters (None: they are shortened). `language` is that of the labels."""

    group: bool = True
    above: int = 200
    summarise: Summarise | None = None
    language: Language = "en"


def smart_truncate(whole: str, most: int) -> str:
    """At most `most` characters: of a longer text the first 60 % and the end, with " ... " between them."""
    whole = whole.strip()
    if len(whole) <= most:
        return whole
    head = most * _HEAD // 10
    tail = max(most - head - len(GAP), 0)
    return whole[:head] + GAP + (whole[-tail:] if tail else "")


def turn_text(asked: str, answer: str, turns: Turns = Turns()) -> str:
    """The text of a turn; empty when nothing was said. An empty `answer` is left out."""
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
    """The person's words in the text of a turn, whichever language its labels have."""
    person, model = ("|".join(in_all_languages(key)) for key in ("memory_turn.person", "memory_turn.model"))
    return re.sub(rf"\A(?:{person})", "", re.split(rf"\n(?:{model})", turn, maxsplit=1)[0])


def chat_turns(event: TaskCompleted, answer: str, clock: Clock, turns: Turns = Turns()) -> tuple[Entry, ...]:
    """The entries of one finished turn: the person's, and the chat's in a group; none when nothing was said."""
    turn = turn_text(event.task, answer, turns)
    if not turn:
        return ()
    scopes = (Scope.USER, Scope.CHAT) if event.speaker.group and turns.group else (Scope.USER,)
    return tuple(entry_of(event, EntryType.CHAT_TURN, turn, scope, "conversation_capture", clock) for scope in scopes)


def entry_of(
    event: TaskCompleted, kind: EntryType, words: str, scope: Scope, source: str, clock: Clock, **slots: str
) -> Entry:
    """An entry about a run, with the places that it came from."""
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
