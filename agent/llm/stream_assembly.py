"""Builds a reply from text and tool calls that arrive in pieces, and passes text on at once.

Both wires create one for each attempt, and parse the provider's JSON themselves. Local models often begin an answer
with `<think>…</think>`, which some servers leave in the text; it is taken out, as the text goes into notes.
"""

import re
from collections.abc import Callable, Set
from dataclasses import field
from typing import Literal

from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.llm.arguments import DraftCall, replace_surrogates, tool_calls
from agent.llm.attempt import Attempt
from agent.llm.messages import Assistant, JsonObject, StopReason, Usage
from agent.llm.provider import OnText

_OPEN, _CLOSE = "<think>", "</think>"
MOST_CALLS = 512
"""The most tool calls in one answer. No model needs as many; an answer with more is broken or an attack, and reading
stops. The loop's `run.calls_per_reply` limits how many are carried out."""
_PATH = re.compile(r"[/\\~.]|[A-Za-z]:\\")
_HALF_AT_END = re.compile("[\ud800-\udbff]$")


@dataclass(slots=True)
class ThinkFilter:
    """Removes one block of thinking at the very beginning of a text that arrives in pieces."""

    _place: Literal["start", "inside", "behind", "text"] = "start"
    _held: str = ""

    def without(self, piece: str) -> str:
        """The text that can be passed on after `piece`."""
        if self._place == "text":
            return piece
        self._held += piece
        if self._place == "start":
            begin = self._held.lstrip()
            if begin.startswith(_OPEN):
                self._place, self._held = "inside", begin.removeprefix(_OPEN)
            elif not _OPEN.startswith(begin):
                self._place = "text"
                return self._release()
        if self._place == "inside":
            _, closed, rest = self._held.partition(_CLOSE)
            self._place, self._held = ("behind", rest) if closed else ("inside", self._held[-len(_CLOSE) :])
        if self._place == "behind":
            self._held = self._held.lstrip()
            if self._held:
                self._place = "text"
                return self._release()
        return ""

    def rest(self) -> str:
        """The text that was held back but is not a thinking block; call it at the end of the text."""
        return self._release() if self._place == "start" else ""

    def _release(self) -> str:
        held, self._held = self._held, ""
        return held


@dataclass(slots=True)
class PartialCall:
    """A tool call that may be incomplete; `index` is its number in the stream, -1 if the stream gives none."""

    index: int = -1
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class StreamAssembly:
    """The part of a reply that has arrived so far; all text is added to `attempt`.

    `stop` is None until the server has given a reason, `usage` until it has given one; `whole_usage` is true when
    `usage` covers the whole answer.
    """

    on_text: OnText
    attempt: Attempt
    calls: list[PartialCall] = field(default_factory=list)
    kept: list[JsonObject] = field(default_factory=list)
    stop: StopReason | None = None
    usage: Usage | None = None
    whole_usage: bool = False
    model: str = ""
    events: int = 0
    _texts: list[str] = field(default_factory=list)
    _half: str = ""
    _thoughts: ThinkFilter = field(default_factory=ThinkFilter)

    def name(self, model: str) -> None:
        """Set the model's name from the server's answer; of a path to a file only the last part is kept."""
        self.model = re.split(r"[/\\]", model)[-1] if _PATH.match(model) else model or self.model

    def say(self, text: str) -> None:
        """Add text; the first half of a surrogate pair waits for the second, and a thinking block is left out."""
        self.attempt.add(text)
        text = self._thoughts.without(self._half + text)
        self._half = text[-1] if _HALF_AT_END.search(text) else ""
        self._give(text[: len(text) - len(self._half)])

    def think(self, text: str) -> None:
        """Add reasoning, which is paid for and not kept."""
        self.attempt.add(text)

    def begin(self, call: PartialCall) -> PartialCall:
        """Add a call, and return it; raises `Permanent` when the answer has more than `MOST_CALLS`."""
        if len(self.calls) >= MOST_CALLS:
            raise Permanent(
                "the model asked for more than {most_calls} uses of tools in one answer; none was carried out",
                hint="ask again in other words, or choose another llm.model",
                most_calls=MOST_CALLS,
            )
        self.calls.append(call)
        self.attempt.add(call.name + "".join(call.arguments))
        return call

    def argue(self, call: PartialCall, arguments: str) -> None:
        """Add a piece of a call's arguments."""
        call.arguments.append(arguments)
        self.attempt.add(arguments)

    def cut_off(self) -> bool:
        """True if reading must stop because the answer is far longer than requested; it then counts as ended by
        length."""
        if self.attempt.too_long:
            self.stop = "length"
        return self.attempt.too_long

    @property
    def text(self) -> str:
        """All text so far."""
        return "".join(self._texts)

    def finish(self, taken: Set[str], new_id: Callable[[], str]) -> tuple[Assistant, StopReason]:
        """The complete message, and its stop reason. An incomplete call may be repaired only if the server reported a
        normal end."""
        self._give(self._half + self._thoughts.rest())
        self._half = ""
        ended = self.stop in ("end", "tools")
        drafts = [DraftCall(call.id, call.name, "".join(call.arguments), ended) for call in self.calls]
        calls = tool_calls(drafts, taken, new_id)
        stop = self.stop or "end"
        if stop in ("end", "tools"):
            stop = "tools" if calls else "end"
        return Assistant(self.text, calls, tuple(self.kept) if calls else ()), stop

    def _give(self, text: str) -> None:
        if text:
            text = replace_surrogates(text)
            self._texts.append(text)
            self.on_text(text)
