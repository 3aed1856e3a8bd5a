"""Calls that a model wrote as text, because its server has no parser for its template.

Only what is certainly a call counts: a form of a known template with a name, at the end of the text; a bare object only
if it names a tool that was described. The arguments are parsed as strictly as those of other calls.
"""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Set

from agent.llm.answer_text import CALL_BEGIN
from agent.llm.arguments import DraftCall, parse_arguments
from agent.llm.messages import Json, JsonObject, items, mapping, text

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
_FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.S)


def calls_in(answer: str, tools: Set[str], new_id: Callable[[], str]) -> tuple[str, tuple[DraftCall, ...]]:
    """The text before the calls of an answer, and the calls; the whole text and none if it holds none."""
    begun = CALL_BEGIN.search(answer)
    if begun is not None:
        found = [DraftCall(f"call_{new_id()}", name, arguments) for name, arguments in _marked(answer[begun.start() :])]
        return (answer[: begun.start()].rstrip(), tuple(found)) if found else (answer, ())
    whole = answer.strip()
    fenced = _FENCE.fullmatch(whole)
    bare = list(_objects(fenced[1] if fenced else whole)) if whole.startswith(("{", "[", "```")) else []
    if bare and all(name in tools for name, _ in bare):
        return "", tuple(DraftCall(f"call_{new_id()}", name, arguments) for name, arguments in bare)
    return answer, ()


def _marked(answer: str) -> Iterator[tuple[str, str]]:
    for found in _JSON_CALLS.finditer(answer):
        yield from _objects(next(group for group in found.groups() if group is not None))
    taken: set[int] = set()
    for found in _NAMED_CALLS.finditer(answer):
        taken.add(found.start())
        name, arguments = (group for group in found.groups() if group is not None)
        yield name, arguments
    for found in _TAGGED_CALLS.finditer(answer):
        if found.start() not in taken:
            name, parameters = (group for group in found.groups() if group is not None)
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


def _named(values: Iterable[Json]) -> Iterator[tuple[str, str]]:
    for value in map(mapping, values):
        call: JsonObject = mapping(value.get("function")) or value
        name = text(call.get("name"))
        given = next((call[key] for key in ("arguments", "parameters", "args", "input") if key in call), None)
        if name and (given is not None or value.get("type") == "function"):
            yield name, given if isinstance(given, str) else json.dumps(given or {}, ensure_ascii=False)
