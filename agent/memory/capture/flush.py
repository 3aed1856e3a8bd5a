"""The flush: what must not be lost when an old part of a conversation makes room for a new one, kept as entries.

By rule, so that it needs no model and cannot fail because of one: what people said they want, what was decided with
tools, what tools found. A model may be asked for more beside it (`parse_flush`). Saving, and what was saved before, are
given by whoever subscribes it to the bus; forgetting entries again is left to their life cycle.
"""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agent.clock import Clock
from agent.errors import AgentError, UserError
from agent.events.runs import ContextCompact, MemoryFlushed, Said
from agent.markdown.preferences import preferences
from agent.memory.entry import Entry, EntryType, Scope
from agent.memory.understanding.rules import is_same

MOST = 5
"""Entries of one flush: more would drown the memory in what is worth little."""
RECENT = 10
"""The newest entries that a new one is compared with."""
SUBSTANTIAL = 200
"""Characters that a tool's result must have to be worth keeping."""
LONGEST = 500
"""Characters of an entry."""
SOURCE = "context_compact"
NO_REPLY = "NO_REPLY"

_FRAME = re.compile(r"<\s*untrusted\b", re.IGNORECASE)
_MARK = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}(?:[.)]\s+|、\s*))(\S.*)$")

logger = logging.getLogger(__name__)


def flush_subscriber(
    save: Callable[[Sequence[Entry]], None],
    recent: Callable[[], Sequence[Entry]],
    clock: Clock,
    tell: Callable[[object], object] = lambda event: None,
) -> Callable[[ContextCompact], None]:
    """A handler for `ContextCompact`. `recent` gives the entries saved last, the newest first; `tell` publishes how
    many were saved and how many were known already.

    Where saving them together fails they are saved one by one, so that one that cannot be kept costs no other; the
    error is raised then, for the bus to count. It goes no further than the bus.
    """

    def flush(event: ContextCompact) -> None:
        found = extract(event, clock)
        fresh = unknown(found, recent()[:RECENT])[:MOST]
        saved, problem = _save(fresh, save)
        tell(MemoryFlushed(event.run, event.session, saved, len(found) - len(fresh)))
        if problem is not None:
            raise problem

    return flush


def extract(event: ContextCompact, clock: Clock) -> tuple[Entry, ...]:
    """The entries worth keeping of a conversation: preferences first, then decisions, then findings.

    Once text from strangers is in the conversation, only what people themselves said is taken: a stranger's text must
    not become memory by way of a tool's result or of what the model made of it.
    """
    wanted = [found for message in event.messages if message.role == "user" for found in _wish(event, message, clock)]
    if event.untrusted or any(_FRAME.search(message.text) for message in event.messages):
        return tuple(reversed(wanted))
    alone = replace(event, speaker=replace(event.speaker, group=False))  # what the group has not heard is the person's
    decided = [_decision(alone, message, clock) for message in event.messages]
    learned = [_finding(alone, message, clock) for message in event.messages]
    return tuple(entry for each in (wanted, decided, learned) for entry in reversed(each) if entry)


def unknown(entries: Sequence[Entry], before: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that say something new, compared with those before and with each other, each person's with theirs."""
    fresh: list[Entry] = []
    for entry in entries:
        known = (other for other in (*before, *fresh) if _belongs_to(entry) == _belongs_to(other))
        if not any(is_same(entry.text, other.text) for other in known):
            fresh.append(entry)
    return tuple(fresh)


def parse_flush(reply: str) -> tuple[str, ...]:
    """The items in a model's answer to `prompts/flush.md`: at most five; none for NO_REPLY."""
    if NO_REPLY in reply.split("\n", 1)[0]:
        return ()
    items = [match[1].strip() for line in reply.splitlines() if (match := _MARK.match(line))]
    return tuple(_cut(item) for item in dict.fromkeys(items) if NO_REPLY not in item)[:MOST]


def _wish(event: ContextCompact, message: Said, clock: Clock) -> Iterable[Entry]:
    found = preferences(message.text)
    if found:
        yield _entry(event, _cut("\n".join(found)), ("preference", "user_instruction"), clock, message.sender)


def _decision(event: ContextCompact, message: Said, clock: Clock) -> Entry | None:
    if message.role != "assistant" or not message.tools or not message.text.strip():
        return None  # a call without a word of why is no decision that anyone could learn from
    tools = tuple(dict.fromkeys(message.tools))
    return _entry(event, _cut(f"{message.text.strip()}\n(with {', '.join(tools)})"), tools, clock)


def _finding(event: ContextCompact, message: Said, clock: Clock) -> Entry | None:
    text = message.text.strip()
    if message.role != "tool" or len(text) <= SUBSTANTIAL:
        return None
    return _entry(event, _cut(text), ("tool_result", *message.tools), clock)


def _entry(event: ContextCompact, text: str, keywords: tuple[str, ...], clock: Clock, sender: str = "") -> Entry:
    speaker = event.speaker
    return Entry(
        clock.new_id(),
        clock.now(),
        text,
        EntryType.AUTO_FLUSH,
        Scope.CHAT if speaker.group else Scope.USER,
        speaker.channel,
        SOURCE,
        keywords,
        chat_id=speaker.channel if speaker.group else "",
        session_id=event.session,
        sender_id=sender or ("" if speaker.group else speaker.sender),
        slots={"run": event.run} if event.run else {},
        evidence=(f"[[{event.session.removesuffix('.md')}]]",) if event.session else (),
    )


def _save(entries: Sequence[Entry], save: Callable[[Sequence[Entry]], None]) -> tuple[int, AgentError | None]:
    """Save entries; returns the number saved, and the first error."""
    if not entries:
        return 0, None
    try:
        save(entries)
    except UserError as error:
        if len(entries) == 1:
            return 0, error
        logger.warning("the entries of a flush cannot be saved together: %s", error)
        each = [_save([entry], save) for entry in entries]
        return sum(saved for saved, _ in each), next((problem for _, problem in each if problem), None)
    except AgentError as error:
        return 0, error
    return len(entries), None


def _belongs_to(entry: Entry) -> tuple[str, str]:
    """The sender and the chat of an entry; the chat is empty for a person's own."""
    return entry.sender_id, entry.chat_id if entry.scope is Scope.CHAT else ""


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else text[: LONGEST - 1].rstrip() + "…"
