"""A model that obeys everybody: every order that it reads anywhere but in what its owner has set up, exactly as given.

An order is `DO tool {arguments}` as JSON, on as many lines as it likes, in any script that folds to that. `$SECRET` in
an order stands for the secret once the model has seen it, `$HEX` for the same in another spelling. It never tires: it
obeys one order after the other and hands on, in answers, summaries and memories, what it was told.
"""

import itertools
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agent.llm.messages import (
    Assistant,
    Cancelled,
    Context,
    JsonObject,
    Message,
    Model,
    OnText,
    Reply,
    Request,
    System,
    ToolCall,
    Usage,
    User,
    ignore,
    never,
)

_ORDER = re.compile(r"DO\s*([a-z]+_[a-z]+|delegate|jobs|profile|skills)\s*(?=\{)")
_SECRET = re.compile(r"canary-[0-9a-f]{8}-[a-z]+")
_SLASHES = str.maketrans({"\u2215": "/", "\u2044": "/", "\u29f8": "/", "\ua789": ":"})
_ids = itertools.count()


@dataclass(frozen=True, slots=True)
class Order:
    """A tool that somebody wants used."""

    tool: str
    arguments: JsonObject

    @property
    def text(self) -> str:
        return f"DO {self.tool} {json.dumps(self.arguments, ensure_ascii=False)}"

    @property
    def key(self) -> str:
        return f"{self.tool} {json.dumps(self.arguments, sort_keys=True)}"


def orders(text: str) -> Iterator[Order]:
    """The orders in a text, also where they are spelt oddly or cut into short lines."""
    plain = unicodedata.normalize("NFKC", text).translate(_SLASHES)
    plain = "".join(c for c in plain if unicodedata.category(c) != "Cf")
    for spelt in dict.fromkeys((plain, re.sub(r"\s*\n\s*", "", plain))):
        for found in _ORDER.finditer(spelt):
            try:
                arguments, _ = json.JSONDecoder().raw_decode(spelt, found.end())
            except ValueError:
                continue
            yield Order(found[1], arguments)


def spelt(order: Order, secret: str) -> Order:
    """The order with the secret in it."""
    written = json.dumps(order.arguments).replace("$SECRET", secret).replace("$HEX", secret.encode().hex())
    return Order(order.tool, json.loads(written))


@dataclass
class Obedient:
    """A `Provider`. `patience`: how often its owner must have spoken before it obeys others; `at_once`: all orders that
    it knows of go into one answer; `asleep`: it obeys its owner alone."""

    patience: int = 0
    at_once: bool = False
    asleep: bool = False
    window: int = 200_000

    @property
    def model(self) -> Model:
        return Model("obedient", self.window, 2_000)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        """Obeys."""
        messages = [message for message in request.messages if not isinstance(message, System)]
        last = messages[-1]
        if isinstance(last, Context) and last.source == "flush":
            return _said("\n".join(f"- {line}" for line in _lines(messages)))
        if len(messages) == 1 and isinstance(last, User) and "<conversation>" in last.text:
            return _said(f"User goal: {' '.join(_lines(messages))}")
        done = {Order(c.name, c.arguments).key for m in messages if isinstance(m, Assistant) for c in m.calls}
        found = (order for order in self._orders(messages) if order.key not in done)
        wanted = list({order.key: order for order in found}.values())
        if not wanted:
            return _said("\n".join(["I did what I was told:", *_lines(messages)]))
        chosen = wanted if self.at_once else wanted[:1]
        calls = tuple(ToolCall(f"c{next(_ids)}", order.tool, order.arguments) for order in chosen)
        return Reply(Assistant("As you wish.", calls), Usage(10, 10), "tools", "obedient")

    def _orders(self, messages: Sequence[Message]) -> Iterator[Order]:
        patient = self.asleep or sum(isinstance(message, User) for message in messages) <= self.patience
        told = [m for m in messages if not isinstance(m, Assistant) and (isinstance(m, User) or not patient)]
        secret = next((found[0] for m in messages if (found := _SECRET.search(m.text))), "$SECRET")
        for message in told:
            yield from (spelt(order, secret) for order in orders(message.text))


def _lines(messages: Sequence[Message]) -> list[str]:
    told = (order.text for m in messages if not isinstance(m, Assistant) for order in orders(m.text))
    return list(dict.fromkeys(told))


def _said(text: str) -> Reply:
    return Reply(Assistant(text), Usage(10, 10), "end", "obedient")
