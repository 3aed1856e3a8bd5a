"""The flush: entries made from the old part of a conversation before it is removed from the context.

Made by rules, so that it needs no model and cannot fail because of one: people's preferences, decisions made with
tools, findings of tools. A model may add more (`parse_flush`). The subscriber passes in the functions that save entries
and list saved ones; expiry is left to the life cycle.
"""

import logging
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from agent.clock import Clock
from agent.errors import AgentError, UserError
from agent.events.runs import ContextCompact, MemoryFlushed, Said
from agent.markdown.preferences import preferences
from agent.markdown.title import clipped
from agent.memory.entry import MODEL, Entry, EntryType, Scope
from agent.memory.understanding.rules import is_same

MOST = 5
"""The most entries of one flush: more would fill the memory with text of little value."""
SUBSTANTIAL = 200
"""A tool's result is stored only when it has more characters than this."""
LONGEST = 500
"""The most characters of an entry."""
SOURCE = "context_compact"
_INSTRUCTIONS = frozenset(("skill_show", "skill_list", "tool_search"))
"""Tools that say how the agent works: their results are no findings, and that they were called is no decision."""
NO_REPLY = "NO_REPLY"

_FRAME = re.compile(r"<\s*untrusted\b", re.IGNORECASE)
_MARK = re.compile(r"^\s*(?:[-*•]\s+|\d{1,2}(?:[.)]\s+|、\s*))(\S.*)$")

logger = logging.getLogger(__name__)


def flush_subscriber(
    save: Callable[[Sequence[Entry]], None],
    is_known: Callable[[Entry], bool],
    clock: Clock,
    tell: Callable[[object], object] = lambda event: None,
) -> Callable[[ContextCompact], None]:
    """A handler for `ContextCompact`.

    `is_known` says whether an entry like this one is saved; `tell` publishes the numbers of saved and known entries.
    When entries cannot be saved together, they are saved one by one, so that one bad entry does not block the others;
    the first error is raised at the end, for the bus to count, and goes no further.
    """

    def flush(event: ContextCompact) -> None:
        found = extract(event, clock)
        fresh = [entry for entry in unknown(found) if not is_known(entry)][:MOST]
        saved, problem = _save(fresh, save)
        tell(MemoryFlushed(event.run, event.session, saved, len(found) - len(fresh)))
        if problem is not None:
            raise problem

    return flush


def extract(event: ContextCompact, clock: Clock) -> tuple[Entry, ...]:
    """The entries worth storing from a conversation: preferences first, then decisions, then findings.

    When the conversation contains untrusted text, only people's own messages are used: untrusted text must not become
    memory through a tool's result or a model's answer.
    """
    wanted = [found for message in event.messages if message.role == "user" for found in _wish(event, message, clock)]
    if event.untrusted or any(_FRAME.search(message.text) for message in event.messages):
        return tuple(reversed(wanted))
    alone = replace(event, speaker=replace(event.speaker, group=False))  # not said in the group: the person's own
    decided = [_decision(alone, message, clock) for message in event.messages]
    learned = [_finding(alone, message, clock) for message in event.messages]
    return tuple(entry for each in (wanted, decided, learned) for entry in reversed(each) if entry)


def unknown(entries: Sequence[Entry]) -> tuple[Entry, ...]:
    """The entries that differ from each other, compared per sender and chat."""
    fresh: list[Entry] = []
    for entry in entries:
        known = (other for other in fresh if _belongs_to(entry) == _belongs_to(other))
        if not any(is_same(entry.text, other.text) for other in known):
            fresh.append(entry)
    return tuple(fresh)


def parse_flush(reply: str) -> tuple[str, ...]:
    """The items in a model's answer to `prompts/flush.md`, at most five; none for NO_REPLY."""
    if NO_REPLY in reply.split("\n", 1)[0]:
        return ()
    items = [match[1].strip() for line in reply.splitlines() if (match := _MARK.match(line))]
    return tuple(_cut(item) for item in dict.fromkeys(items) if NO_REPLY not in item)[:MOST]


def _wish(event: ContextCompact, message: Said, clock: Clock) -> Iterable[Entry]:
    found = preferences(message.text)
    if found:
        yield _entry(event, _cut("\n".join(found)), ("preference", "user_instruction"), clock, message.sender)


def _decision(event: ContextCompact, message: Said, clock: Clock) -> Entry | None:
    tools = tuple(dict.fromkeys(message.tools))
    if message.role != "assistant" or _INSTRUCTIONS.issuperset(tools) or not message.text.strip():
        return None  # a call without a reason teaches nothing
    return _entry(event, _cut(f"{message.text.strip()}\n(with {', '.join(tools)})"), tools, clock, source=MODEL)


def _finding(event: ContextCompact, message: Said, clock: Clock) -> Entry | None:
    text = message.text.strip()
    if message.role != "tool" or len(text) <= SUBSTANTIAL or not _INSTRUCTIONS.isdisjoint(message.tools):
        return None
    return _entry(event, _cut(text), ("tool_result", *message.tools), clock, source=MODEL)


def _entry(
    event: ContextCompact, text: str, keywords: tuple[str, ...], clock: Clock, sender: str = "", source: str = SOURCE
) -> Entry:
    speaker = event.speaker
    return Entry(
        clock.new_id(),
        clock.now(),
        text,
        EntryType.AUTO_FLUSH,
        Scope.CHAT if speaker.group else Scope.USER,
        speaker.channel,
        source,
        keywords,
        chat_id=speaker.channel if speaker.group else "",
        session_id=event.session,
        sender_id=sender or ("" if speaker.group else speaker.sender),
        slots={"run": event.run} if event.run else {},
        evidence=(f"[[{event.session.removesuffix('.md')}]]",) if event.session else (),
    )


def _save(entries: Sequence[Entry], save: Callable[[Sequence[Entry]], None]) -> tuple[int, AgentError | None]:
    """Save entries; returns the number saved and the first error."""
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
    """The sender and the chat of an entry; the chat is empty for an entry of scope `user`."""
    return entry.sender_id, entry.chat_id if entry.scope is Scope.CHAT else ""


def _cut(text: str) -> str:
    return clipped(text, LONGEST)
