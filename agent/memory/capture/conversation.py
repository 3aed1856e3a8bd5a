"""An entry about a run: its channel, chat, session and sender; and a text shortened with a visible gap."""

from agent.clock import Clock
from agent.events.runs import TaskCompleted
from agent.memory.entry import Entry, EntryType, Scope

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
