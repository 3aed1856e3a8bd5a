"""An answer that was cut off by its length goes on in a further call, and both are one answer."""

import logging
from collections.abc import Callable
from dataclasses import replace
from typing import TypeAlias

from agent.errors import LimitReached, Permanent, Retryable
from agent.llm.messages import Assistant, Context, OnText, Reply, Request

Chat: TypeAlias = Callable[[Request, OnText], Reply]
"""A call of a model."""

MOST = 4
"""The most calls in which one answer goes on; what is longer than that is hardly wanted."""
_OVERLAP = 400
"""Characters of the end of an answer that a model may repeat when it goes on."""
_LEAST_OVERLAP = 12
"""A shorter repetition is most likely no repetition."""

logger = logging.getLogger(__name__)


def whole_reply(chat: Chat, request: Request, on_text: OnText, wish: Callable[[], str]) -> Reply:
    """The model's reply; one that its length cut off goes on, at most `MOST` times, asked for by `wish`.

    A call that was cut off is not gone on with: the model sees that it was not carried out. If going on fails, the
    reply is what has come; its `stop` still says that it was cut off.
    """
    reply = chat(request, on_text)
    for _ in range(MOST):
        if reply.stop != "length" or reply.message.calls:
            break
        before = reply.message.text
        said = (Assistant(before),) if before.strip() else ()
        joint = _Joint(before, on_text)
        try:
            more = chat(replace(request, messages=(*request.messages, *said, Context(wish(), "cut"))), joint.take)
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
