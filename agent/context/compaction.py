"""Compaction: a summary replaces the older part of a conversation.

Pure functions. `split` returns the messages to drop, so that the loop can first save facts from them; without a model's
summary, one is made by rule. Nothing is lost: the session's note has every message.
"""

import json
from collections.abc import Callable, Sequence
from datetime import datetime

from agent.context.assemble import size
from agent.context.budget import Count, Window, count_message, shorten
from agent.context.prompt import VaultReader, fill, nothing
from agent.context.summary import SOURCE, empty_form, summarise_by_rule, with_head
from agent.dataclass import dataclass
from agent.errors import AgentError, Interrupted
from agent.llm.messages import Assistant, Context, Message, System, ToolResult, ToolSpec, User
from agent.texts import Language, text

LEAST_TURNS = 2
"""Turns that are never dropped."""
LEAST_STEPS = 2
"""Steps that are never dropped from a turn that is itself longer than the room."""
LARGEST = 0.20
"""The largest summary, as a part of the text that it replaces."""
SMALLEST = 100
"""Tokens always allowed for a summary: fewer would not hold its five lines."""
_AIM = 0.6
"""Compaction leaves this part of the room in use, so that the next compaction is some steps later."""
_RESULT = 200
"""Tokens of a tool's result in the model's prompt for a summary."""
_WORDS = 400
"""The most words that a model is asked for: a summary that is cut off loses the constraints."""


@dataclass(frozen=True, slots=True)
class Compacted:
    """A conversation whose older part `dropped` is replaced by `summary`; `remaining` follows unchanged.

    `problem` is the reason why a requested summary is not the model's.
    """

    summary: Context
    remaining: tuple[Message, ...]
    dropped: tuple[Message, ...]
    problem: str = ""


def needs_compaction(
    system: str, history: Sequence[Message], tools: Sequence[ToolSpec], window: Window, count: Count
) -> bool:
    """True if the next request, and a reminder of the task behind it, would be larger than the budget."""
    return size(system, history, tools, count) > _budget(window)


def room_for_history(system: str, tools: Sequence[ToolSpec], window: Window, count: Count) -> int:
    """The tokens of a request that are left for the history."""
    return max(_budget(window) - size(system, (), tools, count), 0)


def _budget(window: Window) -> int:
    """The budget without the room of a reminder."""
    return window.budget - window.allowed("anchor") - window.allowed("errors")


def split(
    history: Sequence[Message], keep_turns: int, room: int, count: Count
) -> tuple[tuple[Message, ...], tuple[Message, ...]]:
    """The messages to drop and those to keep; none are dropped where that would not help.

    The last `keep_turns` turns are kept; if they do not leave enough of `room` (tokens for the history), fewer, down to
    two. If even two are larger than the room they are cut between steps, and the last two steps are kept. A turn begins
    with the text that was added for a user's message, and calls are never separated from their results.
    """
    costs = [count_message(message, count) for message in history]
    starts = _starts(history, costs, keep_turns, room) or [0]
    start = next((each for each in starts if sum(costs[each:]) <= room * _AIM), starts[-1])
    dropped = tuple(history[:start])
    only_summary = all(isinstance(message, Context) and message.source == SOURCE for message in dropped)
    if only_summary or sum(costs[:start]) <= SMALLEST:
        return (), tuple(history)
    return dropped, tuple(history[start:])


def compact(
    history: Sequence[Message],
    keep_turns: int,
    summarise: Callable[[str], str] | None,
    now: datetime,
    *,
    room: int,
    count: Count,
    language: Language = "en",
    read: VaultReader = nothing,
) -> Compacted | None:
    """The conversation with a summary in place of the messages that `split` drops; None if it drops none.

    `summarise` asks a model. When it fails or returns nothing, or the vault's own prompt (`read`) is wrong, the summary
    is made by rule and `problem` has the reason. Only `Interrupted` is raised. `room` is that of `split`.
    """
    dropped, remaining = split(history, keep_turns, room, count)
    if not dropped:
        return None
    most = max(min(sum(count_message(message, count) for message in dropped), max(room, 0)) * LARGEST, SMALLEST)
    text, problem = "", ""
    if summarise is not None:
        try:
            text = summarise(summary_request(dropped, int(most), room, count, language, read)).strip()
            problem = "" if text else "the model gave no summary"
        except Interrupted:
            raise
        except (AgentError, OSError) as error:
            problem = f"the model gave no summary: {error}"
    if text:
        text = shorten(with_head(text, now, language), int(most), count)
    else:
        text = summarise_by_rule(dropped).format(now, language, int(most), count)
    return Compacted(Context(text, SOURCE), remaining, dropped, problem)


def summary_request(
    dropped: Sequence[Message],
    most: int,
    room: int,
    count: Count,
    language: Language = "en",
    read: VaultReader = nothing,
) -> str:
    """The prompt that asks a model for a summary of at most `most` tokens; its conversation takes `room` at most."""
    lines = [line for message in dropped if (line := _summary_line(message, count))]
    return fill(
        "summary",
        read,
        language=text("prompt.language", language),
        words=str(min(max(most // 2, 40), _WORDS)),
        form=empty_form(language),
        none=text("session_summary.none", language),
        conversation=shorten("\n\n".join(lines), max(room, SMALLEST), count).replace(
            "</conversation", "&lt;/conversation"
        ),
    )


def _starts(history: Sequence[Message], costs: Sequence[int], keep_turns: int, room: int) -> list[int]:
    """The positions where the kept part may begin, the earliest first: turns, or steps if turns are too large."""
    turns = _turns(history)
    starts = [turns[-keep] for keep in range(max(keep_turns, LEAST_TURNS), LEAST_TURNS - 1, -1) if keep <= len(turns)]
    smallest = starts[-1] if starts else 0
    if sum(costs[smallest:]) > room:
        steps = [at for at, message in enumerate(history) if isinstance(message, Assistant) and at > smallest]
        starts += steps[: len(steps) - LEAST_STEPS + 1]
    return starts


def _turns(history: Sequence[Message]) -> list[int]:
    """The position of each turn: a user's message, or the text that was added for it."""
    found: list[int] = []
    for at, message in enumerate(history):
        if not isinstance(message, User):
            continue
        start = at
        while start and isinstance(before := history[start - 1], Context) and before.source != SOURCE:
            start -= 1
        found.append(start)
    return found


def _summary_line(message: Message, count: Count) -> str:
    match message:
        case User(text, sender):
            return f"{sender or 'Person'}: {text}"
        case Context(text, source):
            return f"({source}) {text}" if source == SOURCE else ""
        case Assistant(text, calls):
            asked = [f"{call.name} {json.dumps(call.arguments, ensure_ascii=False, default=str)}" for call in calls]
            return "\n".join([f"Agent: {text}", *(shorten(f"  uses {each}", _RESULT, count) for each in asked)])
        case ToolResult(_, name, text, failed):
            return f"{name} {'failed' if failed else 'gave'}: {shorten(text, _RESULT, count)}"
        case System():
            return ""
