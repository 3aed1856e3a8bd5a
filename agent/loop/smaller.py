"""A request that was too long for the model, made smaller: its longest results and texts are shortened, then its oldest
messages left out. The session's note keeps all of them."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from agent.context.budget import Count, Window, count_message, count_tool
from agent.context.shorten import shorten
from agent.llm.failures import TooLong
from agent.llm.messages import Assistant, Context, Message, Reply, Request, System, ToolResult, User

MOST = 3
"""The most times that a request is made smaller."""
_LEAST = 128
"""Tokens of a text that are always left."""
_AIM = 0.6
"""The part of the window's budget that a smaller request takes, so that further steps find room."""
_LEFT_OUT = Context("What was said before is left out here: the model's window is too small for it.", "cut")


def reply_within_window(
    ask: Callable[[Request], Reply], request: Request, window: Callable[[], Window], count: Count
) -> tuple[Reply, Request]:
    """The reply, and the request that it answers: made smaller as long as the server refuses it as too long.

    `window` is the model's as it is known after a refusal. Raises `TooLong` when the request cannot be made smaller.
    """
    for _ in range(MOST):
        try:
            return ask(request), request
        except TooLong as error:
            smaller = make_smaller(request, _room(request, error, window(), count), count)
            if smaller is None:
                raise
            request = replace(smaller, max_output=min(request.max_output, max(window().reserve, 1)))
    return ask(request), request


def make_smaller(request: Request, room: int, count: Count) -> Request | None:
    """The request in at most `room` tokens, or as small as it can be; None if it cannot be smaller.

    The system message, the last message of a person and what follows the model's last calls stay, shortened at most.
    """
    room -= sum(count_tool(tool, count) for tool in request.tools)
    left = _shortened(request.messages, room, count)
    while _size(left, count) > room and (cut := _oldest(left)) is not None:
        left = [each for at, each in enumerate(left) if at not in cut and each is not _LEFT_OUT]
        left.insert(next((at for at, each in enumerate(left) if not isinstance(each, System)), 0), _LEFT_OUT)
    if _size(left, count) >= _size(request.messages, count):
        return None
    return replace(request, messages=tuple(left), stable=min(request.stable, len(left)))


def _room(request: Request, error: TooLong, window: Window, count: Count) -> int:
    """The tokens, by our own count, that the request may take. Where the server has told how long it was in its own
    tokens, that gives the ratio; where it has told nothing, half of what it was is tried."""
    ours = _size(request.messages, count) + sum(count_tool(tool, count) for tool in request.tools)
    if not error.window:
        return ours // 2
    ratio = min(ours / error.sent, 1.0) if error.sent else 1.0
    return min(int(max(window.budget, window.tokens // 4) * _AIM * ratio), ours * 3 // 4)


def _shortened(messages: Sequence[Message], room: int, count: Count) -> list[Message]:
    """The messages with the longest results and given texts shortened, until all fit or none is long."""
    made = list(messages)
    sizes = {at: count(each.text) for at, each in enumerate(made) if isinstance(each, ToolResult | Context)}
    over = _size(made, count) - room
    while over > 0 and sizes and (size := max(sizes.values())) > _LEAST:
        at = next(at for at, each in sizes.items() if each == size)
        text = shorten(made[at].text, max(size - over, size // 2, _LEAST), count)
        made[at] = replace(made[at], text=text)
        sizes[at] = count(text) if count(text) < size else 0
        over = _size(made, count) - room
    return made


def _oldest(messages: Sequence[Message]) -> range | None:
    """The first turn or step that can be left out, with its results; None for none: the system message, the last
    message of a person and the last step stay."""
    begins = [at for at, each in enumerate(messages) if isinstance(each, User | Assistant)]
    last_user = max((at for at in begins if isinstance(messages[at], User)), default=-1)
    for begin, end in zip(begins, begins[1:], strict=False):
        if begin != last_user:
            return range(begin, end)
    return None


def _size(messages: Sequence[Message], count: Count) -> int:
    return sum(count_message(each, count) for each in messages)
