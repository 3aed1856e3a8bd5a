"""Builds a reply from text and tool calls that arrive in pieces, and passes text on at once.

Each wire creates one for each attempt, and parses the provider's JSON itself. Reasoning and calls that a model writes
into its text are taken out of it (`answer_text`), as the text goes into notes.
"""

import re
from collections.abc import Callable, Iterator, Set
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.llm.answer_text import Attempt, IncomingText
from agent.llm.arguments import DraftCall, replace_surrogates, tool_calls
from agent.llm.kept_thinking import call_mark, thinking_field
from agent.llm.messages import Assistant, Json, JsonObject, OnText, StopReason, Usage
from agent.llm.text_calls import calls_in

MOST_CALLS = 512
"""The most tool calls in one answer. No model needs as many; an answer with more is broken or an attack, and reading
stops. The loop's `run.calls_per_reply` limits how many are carried out."""
_PATH = re.compile(r"[/\\~.]|[A-Za-z]:\\")
_HALF_AT_END = re.compile("[\ud800-\udbff]$")


@dataclass(slots=True)
class PartialCall:
    """A tool call that may be incomplete; `index` is its number in the stream, -1 if the stream gives none. `kept` goes
    back with it unchanged."""

    index: int = -1
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    kept: JsonObject = field(default_factory=dict)


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
    thoughts: dict[str, list[str]] = field(default_factory=dict)
    details: list[JsonObject] = field(default_factory=list)
    stop: StopReason | None = None
    usage: Usage | None = None
    whole_usage: bool = False
    model: str = ""
    events: int = 0
    answer: IncomingText = field(default_factory=IncomingText)
    _half: str = ""

    def name(self, model: str) -> None:
        """Set the model's name from the server's answer; of a path to a file only the last part is kept."""
        self.model = re.split(r"[/\\]", model)[-1] if _PATH.match(model) else model or self.model

    def say(self, text: str) -> None:
        """Add text; the first half of a surrogate pair waits for the second, and reasoning is left out."""
        self.attempt.add(text)
        text = self._half + text
        self._half = text[-1] if _HALF_AT_END.search(text) else ""
        self._give(self.answer.take(replace_surrogates(text[: len(text) - len(self._half)])))

    def think(self, text: str, field: str = "") -> None:
        """Add reasoning that came apart from the text: it is paid for, and no part of the answer. It goes back in the
        `field` of that name, if there is one."""
        if text:
            self.attempt.add(text)
            self.answer.expect_no_reasoning()
            if field:
                self.thoughts.setdefault(field, []).append(text)

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
        """The answer so far."""
        return self.answer.answer

    def finish(
        self, taken: Set[str], new_id: Callable[[], str], tools: Set[str] = frozenset(), *, may_call: bool = True
    ) -> tuple[Assistant, StopReason]:
        """The complete message, and its stop reason. `tools` are the names of those that were described to the model.

        An incomplete call may be repaired only if the server reported a normal end; calls in the text count only then,
        and if there are no others. They are no part of the answer, also where the model may not call any.
        """
        if self._half:
            self._give(self.answer.take(replace_surrogates(self._half)))
            self._half = ""
        ended = self.stop in ("end", "tools")
        drafts = [DraftCall(call.id, call.name, "".join(call.arguments), ended) for call in self.calls]
        text = self.answer.answer
        if ended and not drafts and tools:
            text, found = calls_in(text, tools, new_id)
            drafts = list(found) if may_call else []
        self._give(self.answer.left(text))
        calls = tool_calls(drafts, taken, new_id)
        stop = self.stop or "end"
        if stop in ("end", "tools"):
            stop = "tools" if calls else "end"
        return Assistant(text, calls, tuple(self._kept()) if calls else ()), stop

    def _kept(self) -> Iterator[JsonObject]:
        """What goes back with the calls: blocks in their order, else fields of the message, and marks of calls."""
        yield from self.kept
        fields: dict[str, Json] = {name: "".join(pieces) for name, pieces in self.thoughts.items()}
        if self.details:
            fields = {"reasoning_details": self.details}
        yield from (thinking_field(name, value) for name, value in fields.items())
        yield from (call_mark(number, call.kept) for number, call in enumerate(self.calls) if call.kept)

    def _give(self, text: str) -> None:
        if text:
            self.on_text(text)
