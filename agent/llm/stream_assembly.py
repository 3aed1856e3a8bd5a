"""Builds a reply from text and tool calls that arrive in pieces, and passes text on at once.

Each wire creates one for each attempt, and parses the provider's JSON itself. Reasoning and calls that a model writes
into its text are taken out of it (`answer_text`), as the text goes into notes.

Calls that a model wrote as text, because its server has no parser for its template.

Only what is certainly a call counts: a form of a known template with a name, at the end of the text; a bare object only
if it names a tool that was described. The arguments are parsed as strictly as those of other calls.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Set
from dataclasses import field

from agent.dataclass import dataclass
from agent.errors import Permanent
from agent.llm.answer_text import CALL_BEGIN, Attempt, IncomingText
from agent.llm.arguments import DraftCall, parse_arguments, replace_surrogates, tool_calls
from agent.llm.messages import Assistant, Json, JsonObject, OnText, StopReason, Usage, items, mapping, text
from agent.llm.thinking import call_mark, thinking_field

_NAME = r"[A-Za-z_][\w.-]{0,63}"
_JSON_CALLS = re.compile(
    r"<tool_call>\s*(?=[{\[])(.*?)\s*(?:</tool_call>|$)"
    r"|<\|tool_call(?:_start|_begin)?\|>\s*(?=[{\[])(.*?)\s*(?:<\|/?tool_call(?:_end)?\|>|$)"
    r"|\[TOOL_CALLS\]\s*(?=[{\[])(.*)$|<\|python_tag\|>\s*(?=\{)(.*?)\s*(?:<\|e\w+\|>|$)"
    r"|```tool_call\s*(?=[{\[])(.*?)```|\[TOOL_REQUEST\]\s*(?=\{)(.*?)\s*(?:\[END_TOOL_REQUEST\]|$)",
    re.S,
)
"""An object, or a list of them, in the tags of a template."""
_NAMED_CALLS = re.compile(
    rf"<function=({_NAME})>\s*(?=\{{)(.*?)\s*(?:</function>|$)"
    rf"|\[TOOL_CALLS\]\s*({_NAME})(?:\[CALL_ID\]\w+)?\[ARGS\]\s*(.*?)\s*(?=\[TOOL_CALLS\]|$)"
    rf"|<\|channel\|>\s*commentary\s+to=(?:functions\.)?({_NAME}).*?<\|message\|>(.*?)(?:<\|call\|>|<\|end\|>|$)"
    rf"|<\|tool_call_begin\|>\s*(?:functions\.)?({_NAME})(?::\d+)?\s*<\|tool_call_argument_begin\|>(.*?)"
    r"(?:<\|tool_call_end\|>|$)"
    rf"|<｜tool▁call▁begin｜>(?:function<｜tool▁sep｜>)?({_NAME})(?:<｜tool▁sep｜>)?\s*(?:```json\s*)?(\{{.*?\}})"
    r"\s*(?:```)?\s*(?:<｜tool▁call▁end｜>|$)",
    re.S,
)
"""A name, then its arguments as an object."""
_TAGGED_CALLS = re.compile(
    rf"<function=({_NAME})>(.*?)(?:</function>|$)"
    rf"|<(?:｜DSML｜)?invoke name=\"({_NAME})\">(.*?)(?:</(?:｜DSML｜)?invoke>|$)"
    rf"|<tool_call>\s*({_NAME})\s*(?=<arg_key>|</tool_call>)(.*?)(?:</tool_call>|$)",
    re.S,
)
"""A name, then its arguments as tags."""
_PARAMETER = re.compile(
    rf"<(?:｜DSML｜)?parameter(?:=| name=\")({_NAME})\"?(?: string=\"\w+\")?>\n?(.*?)\n?</(?:｜DSML｜)?parameter>"
    rf"|<arg_key>({_NAME})</arg_key>\s*<arg_value>(.*?)</arg_value>",
    re.S,
)
_BLOCK = re.compile(r"^(`{3,}|~{3,})[^\n`]*\n.*?^\1[ \t]*$(?=\s*\S)", re.M | re.S)
"""A block of code after which the answer goes on."""
_MARKS = ("«»", "“”", "「」", "『』")
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.S)


def calls_in(answer: str, tools: Set[str], new_id: Callable[[], str]) -> tuple[str, tuple[DraftCall, ...]]:
    """The text before the calls of an answer, and the calls; the whole text and none if it holds none."""
    blocks = [found.span() for found in _BLOCK.finditer(answer)]
    if begun := next(
        (each for each in CALL_BEGIN.finditer(answer) if not _is_quoted(answer, each.start(), blocks)), None
    ):
        found = [DraftCall(f"call_{new_id()}", name, arguments) for name, arguments in _marked(answer[begun.start() :])]
        return (answer[: begun.start()].rstrip(), tuple(found)) if found else (answer, ())
    whole = answer.strip()
    fenced = _FENCE.fullmatch(whole)
    bare = list(_objects(fenced[1] if fenced else whole)) if whole.startswith(("{", "[", "```")) else []
    if bare and all(name in tools for name, _ in bare):
        return "", tuple(DraftCall(f"call_{new_id()}", name, arguments) for name, arguments in bare)
    return answer, ()


def _is_quoted(answer: str, at: int, blocks: list[tuple[int, int]]) -> bool:
    """True for a call that the answer only shows: in a piece or a block of code before the end, in a quotation, or
    in quotation marks."""
    row = answer[answer.rfind("\n", 0, at) + 1 : at].lstrip()
    is_open = row.count('"') % 2 == 1 or any(row.count(pair[0]) > row.count(pair[1]) for pair in _MARKS)
    is_cited = row.startswith(">") or row.endswith(("`", "'")) or is_open
    return is_cited or any(begin < at < end for begin, end in blocks)


def _marked(answer: str) -> Iterator[tuple[str, str]]:
    for found in _JSON_CALLS.finditer(answer):
        yield from _objects(_groups(found)[0])
    taken: set[int] = set()
    for found in _NAMED_CALLS.finditer(answer):
        taken.add(found.start())
        name, arguments = _groups(found)
        yield name, arguments
    for found in _TAGGED_CALLS.finditer(answer):
        if found.start() not in taken:
            name, parameters = _groups(found)
            yield name, json.dumps(dict(_parameters(parameters)), ensure_ascii=False)


def _parameters(tags: str) -> Iterator[tuple[str, Json]]:
    """The arguments in tags. A value is text; the check of the arguments takes `3` for a number where one is asked."""
    for found in _PARAMETER.finditer(tags):
        name, value = (group for group in found.groups() if group is not None)
        parsed, problem = parse_arguments(value) if value.lstrip().startswith("{") else ({}, "no object")
        yield name, value if problem else parsed


def _objects(written: str) -> Iterator[tuple[str, str]]:
    """The names and arguments of the calls in JSON: one object, a list, or several objects behind one another."""
    decoder, at = json.JSONDecoder(strict=False), 0
    while at < len(written):
        try:
            value, end = decoder.raw_decode(written, at)
        except (ValueError, RecursionError):
            name = re.search(rf'"name"\s*:\s*"({_NAME})"', written[at:])
            if name is not None:  # the model must see that it cannot be parsed
                yield name[1], written[at:]
            return
        yield from _named(items(value) or [value])
        at = end + len(written[end:]) - len(written[end:].lstrip(" \n\t;,"))


def _groups(found: re.Match[str]) -> list[str]:
    """The groups of the form of call that was found."""
    return [group for group in found.groups() if group is not None]


def _named(values: Iterable[Json]) -> Iterator[tuple[str, str]]:
    for value in map(mapping, values):
        call: JsonObject = mapping(value.get("function")) or value
        name = text(call.get("name"))
        arguments = next((call[key] for key in ("arguments", "parameters", "args", "input") if key in call), None)
        if name and (arguments is not None or value.get("type") == "function"):
            yield name, arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


MOST_CALLS = 512
"""The most tool calls in one answer. No model needs as many; an answer with more is broken or an attack, and reading
stops. The loop's `run.calls_per_reply` limits how many are carried out."""
_PATH = re.compile(r"[/\\~.]|[A-Za-z]:\\")
_HALF_AT_END = re.compile("[\ud800-\udbff]$")


@dataclass(slots=True)
class PartialCall:
    """A tool call that may be incomplete; `index` is its number in the stream, -1 if the stream gives none. `extra`
    goes back with it unchanged."""

    index: int = -1
    id: str = ""
    name: str = ""
    arguments: list[str] = field(default_factory=list)
    extra: JsonObject = field(default_factory=dict)

    def has_other_id(self, id: str) -> bool:
        """True if both ids are known and differ."""
        return bool(id and self.id) and id != self.id


@dataclass(slots=True)
class StreamAssembly:
    """The part of a reply that has arrived so far; all text is added to `attempt`.

    `stop` is None until the server has given a reason, `usage` until it has given one; `whole_usage` is true when
    `usage` covers the whole answer.
    """

    on_text: OnText
    attempt: Attempt
    calls: list[PartialCall] = field(default_factory=list)
    blocks: list[JsonObject] = field(default_factory=list)
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

    def call_at(self, index: int) -> PartialCall | None:
        """The last call with this number."""
        return next((call for call in reversed(self.calls) if call.index == index), None)

    def call_of(self, id: str, name: str) -> PartialCall | None:
        """The last call with this id (empty: the last one); None if a `name` begins the next one."""
        last = next((call for call in reversed(self.calls) if id in ("", call.id)), None)
        return None if last and name and not id and any(last.arguments) else last

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
        return Assistant(text, calls, tuple(self._thinking()) if calls else ()), stop

    def _thinking(self) -> Iterator[JsonObject]:
        """The parts that go back with the calls: blocks in their order, else fields of the message, and marks of
        calls."""
        yield from self.blocks
        fields: dict[str, Json] = {name: "".join(pieces) for name, pieces in self.thoughts.items()}
        if self.details:
            fields = {"reasoning_details": self.details}
        yield from (thinking_field(name, value) for name, value in fields.items())
        yield from (call_mark(number, call.extra) for number, call in enumerate(self.calls) if call.extra)

    def _give(self, text: str) -> None:
        if text:
            self.on_text(text)
