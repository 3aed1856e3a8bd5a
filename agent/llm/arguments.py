"""Strict parsing of the arguments that a model wrote; repaired only where nothing can be lost.

A call that was cut off must never run, nor a guess. Arguments that cannot be parsed for certain become a `problem`,
which the model sees. Checking the tool's name and schema is left to `tools`.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence, Set

from agent.dataclass import dataclass
from agent.llm.messages import Json, JsonObject, ToolCall

AGAIN = "nothing was done; call the tool again with one complete JSON object"

_FENCE = re.compile(r"```(?:json)?[ \t]*\n(.*)\n[ \t]*```", re.S | re.I)
_LITERAL = re.compile(r"\b(True|False|None)\b")
_TRAILING = re.compile(r"(?<![{\[,:\s]),(\s*[}\]])")
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"', re.S)
_WORDS = {"True": "true", "False": "false", "None": "null"}
_JUNK = re.compile(r"[^{\[\"':=,]*")
"""The text allowed after an object: a spare brace, a closing tag, a word; nothing that could be part of the
arguments."""
_ID = re.compile(r"[A-Za-z0-9_.:-]{1,128}")


@dataclass(frozen=True, slots=True)
class DraftCall:
    """A tool call as it arrived: `arguments` is text that should be JSON. `ended`: the stream marked the call as
    complete."""

    id: str
    name: str
    arguments: str
    ended: bool = True


def tool_calls(drafts: Iterable[DraftCall], taken: Set[str], new_id: Callable[[], str]) -> tuple[ToolCall, ...]:
    """The calls, each with parsed arguments or a `problem`, and with an id that is new: not in `taken`, and unique
    here."""
    seen = set(taken)
    calls = []
    for draft in drafts:
        arguments, problem = parse_arguments(draft.arguments, ended=draft.ended)
        name = draft.name.strip()
        if not name:
            arguments, problem = {}, "the call names no tool: nothing was done"
        id = draft.id
        if id in seen or not _ID.fullmatch(id):
            id = f"call_{new_id()}"
        seen.add(id)
        calls.append(ToolCall(id, replace_surrogates(name), arguments, problem))
    return tuple(calls)


def parse_arguments(text: str, *, ended: bool = True) -> tuple[JsonObject, str]:
    """The arguments in `text`, and the error; one of the two is empty. Never raises.

    Repaired: no text at all, a code fence around, commas before a closing brace, Python's True, False and None, an
    object inside a JSON string, words after the object, and one missing closing brace after a complete value. With
    `ended` false only a complete object is accepted and nothing is repaired.
    """
    text = text.removeprefix("\ufeff").strip()
    if not ended:
        value, _ = _strict(text)
        cut = f"the call was cut off before its arguments were complete: {AGAIN}, and a shorter one"
        return (value, "") if value is not None else ({}, cut)
    if not text:
        return {}, ""
    value, reason = _strict(text)
    if value is not None:
        return value, ""
    for candidate in _repaired(text):
        value, _ = _strict(candidate)
        if value is not None:
            return value, ""
    return {}, f"the arguments cannot be read ({reason}): {AGAIN}"


def replace_surrogates(text: str) -> str:
    """`text` with lone surrogates replaced: they can be neither printed nor stored."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _strict(text: str) -> tuple[JsonObject | None, str]:
    """The JSON object that is the whole of `text`, else None and the reason."""
    try:
        value = json.loads(
            text,
            strict=False,  # line breaks are allowed inside a string
            object_pairs_hook=_pairs,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
        if isinstance(value, dict):
            json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return None, "half a character in a string"
    except RecursionError:
        return None, "nested too deeply"
    except json.JSONDecodeError as error:
        return None, f"{error.msg} at character {error.pos + 1}"
    except ValueError as error:
        return None, str(error)[:100]
    return (value, "") if isinstance(value, dict) else (None, "not a JSON object")


def _pairs(pairs: Sequence[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("the same name twice")
    return found


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is no JSON")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise ValueError("a number that is too large")
    return number


def _repaired(text: str) -> Iterable[str]:
    """Repaired versions of `text` that lose none of it, the most likely first."""
    fenced = _FENCE.fullmatch(text)
    if fenced:
        text = fenced[1].strip()
        yield text
    if text.startswith('"'):
        inner = _string(text)
        if inner is not None:
            yield inner
        return
    if not text.startswith("{"):
        return
    pieces = _pieces(text)
    if pieces is None:  # a string is not closed: the call was cut off
        return
    mended = "".join(_mend(piece) for piece in pieces)
    yield mended
    end = _end_of_object(mended)
    if end is not None and _JUNK.fullmatch(mended, end):
        yield mended[:end]
    elif end is None and mended[-1] in '"}]':
        yield mended + "}"


def _string(text: str) -> str | None:
    try:
        value: Json = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None
    return value.strip() if isinstance(value, str) else None


def _pieces(text: str) -> list[str] | None:
    """`text` split into parts outside and inside strings, in turns (quotes with the strings); None for an unclosed
    string."""
    pieces, start = [], 0
    while (opened := text.find('"', start)) >= 0:
        string = _STRING.match(text, opened)
        if string is None:
            return None
        pieces += [text[start:opened], string[0]]
        start = string.end()
    return [*pieces, text[start:]]


def _mend(piece: str) -> str:
    if piece.startswith('"'):
        return piece
    return _TRAILING.sub(r"\1", _LITERAL.sub(lambda found: _WORDS[found[0]], piece))


def _end_of_object(text: str) -> int | None:
    """The end of the first object in `text`; None when it is not closed."""
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(text)
    except (ValueError, RecursionError):
        return None
    return end
