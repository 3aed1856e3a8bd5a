"""One question of a run to its model: a request that is too long is made smaller, a cut answer goes on."""

import logging
from collections.abc import Callable, Sequence
from dataclasses import field, replace
from typing import TypeAlias

from agent.context.budget import Count, Window, count_message, count_tool, shorten
from agent.context.prompt import VaultReader, fill
from agent.dataclass import dataclass
from agent.errors import Interrupted, LimitReached, Permanent, Retryable
from agent.llm.failures import TooLong
from agent.llm.messages import (
    Assistant,
    Cancelled,
    Context,
    Message,
    OnText,
    Provider,
    Reply,
    Request,
    System,
    ToolResult,
    User,
)
from agent.loop.agent import Agent
from agent.loop.records import Spoken
from agent.loop.session import Session

Chat: TypeAlias = Callable[[Request, OnText], Reply]
"""A call of a model."""

MOST_CALLS = 4
"""The most calls in which one answer goes on; what is longer than that is hardly wanted."""
_OVERLAP = 400
"""Characters of the end of an answer that a model may repeat when it goes on."""
_LEAST_OVERLAP = 12
"""A shorter repetition is most likely no repetition."""

logger = logging.getLogger(__name__)


def whole_reply(chat: Chat, request: Request, on_text: OnText, wish: Callable[[], str]) -> Reply:
    """The model's reply; one that its length cut off goes on, at most `MOST_CALLS` times, asked for by `wish`.

    A call that was cut off is not gone on with: the model sees that it was not carried out. If going on fails, the
    reply is what has come; its `stop` still says that it was cut off.
    """
    reply = chat(request, on_text)
    for _ in range(MOST_CALLS):
        if reply.stop != "length" or reply.message.calls:
            break
        before = reply.message.text
        partial = (Assistant(before),) if before.strip() else ()
        joint = _Joint(before, on_text)
        try:
            more = chat(replace(request, messages=(*request.messages, *partial, Context(wish(), "cut"))), joint.take)
        except (Retryable, Permanent, LimitReached) as error:
            logger.warning("an answer that was cut off could not go on: %s", error)
            break
        joint.end()
        reply = _joined(reply, more)
    return reply


class _Joint:
    """Passes on the text of a reply that goes on, without what it repeats of the text before it."""

    def __init__(self, before: str, on_text: OnText) -> None:
        self._before, self._on_text = before, on_text
        self._begin: str | None = ""

    def take(self, text: str) -> None:
        if self._begin is None:
            self._on_text(text)
            return
        self._begin += text
        if len(self._begin) >= _OVERLAP:
            self.end()

    def end(self) -> None:
        """Pass on what was held back."""
        if self._begin:
            self._on_text(_without_overlap(self._before, self._begin))
        self._begin = None


def _joined(reply: Reply, more: Reply) -> Reply:
    text = reply.message.text + _without_overlap(reply.message.text, more.message.text)
    remarks = tuple(dict.fromkeys((*reply.remarks, *more.remarks)))
    return replace(more, message=replace(more.message, text=text), usage=reply.usage + more.usage, remarks=remarks)


def _without_overlap(before: str, after: str) -> str:
    """The text without its beginning, as far as that repeats the end of the text before it."""
    most = min(len(before), len(after), _OVERLAP)
    length = next((each for each in range(most, _LEAST_OVERLAP - 1, -1) if before.endswith(after[:each])), 0)
    return after[length:]


MOST_CUTS = 3
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
    for _ in range(MOST_CUTS):
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


@dataclass(slots=True)
class ModelCall:
    """A question in a session. `cancelled`: the answer is no longer wanted; `by_person`: since the person stopped the
    run, not since its time is over. `heard` is the text that has arrived."""

    agent: Agent
    session: Session
    on_text: OnText
    cancelled: Cancelled
    by_person: Cancelled
    read: VaultReader
    heard: list[str] = field(default_factory=list)

    def reply(self, model: Provider, request: Request, window: Callable[[], Window]) -> Reply:
        """The model's reply; if the time of the run ends meanwhile, the session keeps the part that arrived."""

        def chat(request: Request, on_text: OnText) -> Reply:
            return model.chat(request, on_text, self.cancelled)

        def ask(request: Request) -> Reply:
            return whole_reply(chat, request, self._hear, lambda: fill("continue", self.read))

        try:
            reply, sent = reply_within_window(ask, request, window, self.agent.count)
        except Interrupted:
            if self.heard and not self.by_person():
                self.session.add(Spoken(Assistant("".join(self.heard))))
            raise
        if sent is not request:
            self._shorten_history(sent)
        return reply

    def _hear(self, text: str) -> None:
        self.heard.append(text)
        self.on_text(text)

    def _shorten_history(self, sent: Request) -> None:
        """Put the shortened results into the session, so that the next request is as small; its note has the whole."""
        short = {each.call: each.text for each in sent.messages if isinstance(each, ToolResult)}
        for at, record in enumerate(self.session.records):
            match record.event:
                case Spoken(ToolResult(call, _, text) as result) if short.get(call, text) != text:
                    cut = replace(record.event, message=replace(result, text=short[call]))
                    self.session.records[at] = replace(record, event=cut)
