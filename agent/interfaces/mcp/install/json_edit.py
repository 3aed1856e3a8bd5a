"""Sets and removes one value in a JSON text with comments and trailing commas; all other bytes stay as they are."""

import json
import re
from collections.abc import Sequence
from dataclasses import field

from agent.dataclass import dataclass
from agent.texts import Sentence

_BLANK = re.compile(r"(?:[ \t\r\n\ufeff]+|//[^\r\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\.)*"')
_SCALAR = re.compile(r"-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null")
_DEEPEST = 100


class NotJson(ValueError):
    """The text is no JSON with comments; the message is a `Sentence`."""

    def __init__(self, text: str, at: int) -> None:
        super().__init__(Sentence("line {line} is no JSON", line=text.count("\n", 0, at) + 1))


@dataclass(slots=True)
class _Member:
    """A name and its value in an object, with their places in the text."""

    name: str
    start: int
    value: "_Value"


@dataclass(slots=True)
class _Value:
    """A value in the text from `start` to `end`; `members` if it is an object."""

    start: int
    end: int
    plain: object
    members: list[_Member] = field(default_factory=list)

    def member(self, name: str) -> _Member | None:
        return next((each for each in self.members if each.name == name), None)


def parse(text: str) -> object:
    """The value of the text; an empty text is an empty object. Raises `NotJson`."""
    return _root(text).plain


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """The text with the value at `keys`, in objects that are added where they are missing. Raises `NotJson`, and
    `TypeError` where one of the keys has a value that is no object."""
    if _past_blanks(text, 0) == len(text):
        text += "{}\n"
    return _set(text, _root(text), list(keys), value, 1)


def without_value(text: str, keys: Sequence[str]) -> str:
    """The text without the value at `keys`; unchanged if there is none. Raises `NotJson`."""
    found = _root(text)
    for key in keys[:-1]:
        member = found.member(key)
        if member is None:
            return text
        found = member.value
    gone = found.member(keys[-1])
    if gone is None:
        return text
    at = found.members.index(gone)
    start, end = gone.start, gone.value.end
    following = _BLANK.match(text, end)
    assert following is not None
    if text[following.end() : following.end() + 1] == ",":
        end = following.end() + 1
        line = re.compile(r"[ \t]*\r?\n").match(text, end)
        end = line.end() if line and text[:start].rstrip(" \t").endswith(("\n", "{")) else end
        start = len(text[:start].rstrip(" \t"))
    elif at:
        start = found.members[at - 1].value.end
    return text[:start] + text[end:]


def _set(text: str, place: _Value, keys: list[str], value: object, depth: int) -> str:
    if not isinstance(place.plain, dict):
        raise TypeError(keys[0])
    member = place.member(keys[0])
    if member is not None and len(keys) > 1:
        return _set(text, member.value, keys[1:], value, depth + 1)
    unit = _indent(text)
    for key in reversed(keys[1:]):
        value = {key: value}
    lines = json.dumps(value, indent=len(unit) if unit.strip("\t") else "\t", ensure_ascii=False).split("\n")
    shown = ("\n" + unit * depth).join(lines)
    if member is not None:
        return text[: member.value.start] + shown + text[member.value.end :]
    added = f"{json.dumps(keys[0], ensure_ascii=False)}: {shown}"
    if not place.members:
        inner = text[place.start + 1 : place.end - 1]
        kept = inner.rstrip() if inner.strip() else ""
        return f"{text[: place.start + 1]}{kept}\n{unit * depth}{added}\n{unit * (depth - 1)}{text[place.end - 1 :]}"
    last = place.members[-1].value.end
    after = _BLANK.match(text, last)
    assert after is not None
    comma = text[after.end() : after.end() + 1] == ","
    cut = after.end() + 1 if comma else last
    beside = text[cut : _past_blanks(text, cut)].rstrip()  # a comment after the last member stays with it
    rest = text[cut + len(beside) :]
    return f"{text[:cut]}{'' if comma else ','}{beside}\n{unit * depth}{added}{',' if comma else ''}{rest}"


def _indent(text: str) -> str:
    """The indentation of the first line that has one; two blanks without."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _root(text: str) -> _Value:
    start = _past_blanks(text, 0)
    if start == len(text):
        return _Value(start, start, {})
    found = _value(text, start, 0)
    end = _past_blanks(text, found.end)
    if end != len(text):
        raise NotJson(text, end)
    return found


def _past_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _value(text: str, at: int, depth: int) -> _Value:
    if depth > _DEEPEST:
        raise NotJson(text, at)
    if text.startswith("{", at):
        return _object(text, at, depth)
    if text.startswith("[", at):
        return _array(text, at, depth)
    found = (_STRING if text.startswith('"', at) else _SCALAR).match(text, at)
    if found is None:
        raise NotJson(text, at)
    try:
        return _Value(at, found.end(), json.loads(found[0]))
    except ValueError as error:
        raise NotJson(text, at) from error


def _object(text: str, at: int, depth: int) -> _Value:
    members: list[_Member] = []
    here = _past_blanks(text, at + 1)
    while not text.startswith("}", here):
        name = _STRING.match(text, here)
        if name is None:
            raise NotJson(text, here)
        colon = _past_blanks(text, name.end())
        if not text.startswith(":", colon):
            raise NotJson(text, colon)
        value = _value(text, _past_blanks(text, colon + 1), depth + 1)
        members.append(_Member(json.loads(name[0]), here, value))
        here = _after_comma(text, value.end, "}")
    return _Value(at, here + 1, {each.name: each.value.plain for each in members}, members)


def _array(text: str, at: int, depth: int) -> _Value:
    plain: list[object] = []
    here = _past_blanks(text, at + 1)
    while not text.startswith("]", here):
        value = _value(text, here, depth + 1)
        plain.append(value.plain)
        here = _after_comma(text, value.end, "]")
    return _Value(at, here + 1, plain)


def _after_comma(text: str, at: int, closing: str) -> int:
    """The place of the next member, or of the closing bracket."""
    here = _past_blanks(text, at)
    if text.startswith(",", here):
        return _past_blanks(text, here + 1)
    if not text.startswith(closing, here):
        raise NotJson(text, here)
    return here
