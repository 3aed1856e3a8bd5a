"""Sets and removes one value in a JSON text with comments and trailing commas; all other bytes stay as they are.

Sets and removes one table in a TOML text, and leaves all other lines as they are.
"""

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from agent.texts import Sentence

_STRING = r'("(?:[^"\\]|\\.)*")'
_COMMENT = re.compile(rf"{_STRING}|//[^\r\n]*|/\*.*?\*/|\ufeff", re.DOTALL)
_TRAILING = re.compile(rf"{_STRING}|,(?=[ \t\r\n]*[}}\]])", re.DOTALL)
_BLANK = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """The text is no JSON with comments; the message is a `Sentence`."""

    def __init__(self, line: int) -> None:
        super().__init__(Sentence("line {line} is no JSON", line=line))


class _Member(NamedTuple):
    """A name in an object, with the places where it and its value begin, and where the value ends."""

    name: str
    start: int
    value: int
    end: int


def parse_jsonc(text: str) -> object:
    """The value of the text; an empty text is an empty object. Raises `NotJson`, and `RecursionError`."""
    plain = _without_comments(text)
    try:
        return json.loads(plain, parse_constant=_refuse) if plain.strip() else {}
    except json.JSONDecodeError as error:
        raise NotJson(error.lineno) from error


def with_value(text: str, keys: Sequence[str], value: object) -> str:
    """The text with the value at `keys`, in objects that are added where they are missing. Raises `NotJson`, and
    `TypeError` where one of the keys has a value that is no object."""
    parse_jsonc(text)
    if not _uncommented(text).strip():
        text += "{}\n"
    plain = _without_comments(text)
    at, names, depth = _past_blanks(plain, 0), list(keys), 1
    while (member := _member(plain, at, names[0])) is not None and len(names) > 1:
        at, names, depth = member.value, names[1:], depth + 1
    if not plain.startswith("{", at):
        raise TypeError(names[0])
    unit = _indent(text)
    for key in reversed(names[1:]):
        value = {key: value}
    lines = json.dumps(value, indent=len(unit) if unit.strip("\t") else "\t", ensure_ascii=False).split("\n")
    value_lines = ("\n" + unit * depth).join(lines)
    if member is not None:
        return text[: member.value] + value_lines + text[member.end :]
    added = f"{json.dumps(names[0], ensure_ascii=False)}: {value_lines}"
    members = [*_members(plain, at)]
    if not members:
        end = _past_blanks(plain, at + 1)
        head = text[at + 1 : end].rstrip()
        return f"{text[: at + 1]}{head}\n{unit * depth}{added}\n{unit * (depth - 1)}{text[end:]}"
    bare, last = _uncommented(text), members[-1].end
    after = _past_blanks(bare, last)
    comma = bare.startswith(",", after)
    cut = after + 1 if comma else last
    beside = text[cut : _past_blanks(bare, cut)].rstrip()  # a comment after the last member stays with it
    rest = text[cut + len(beside) :]
    return f"{text[:cut]}{'' if comma else ','}{beside}\n{unit * depth}{added}{',' if comma else ''}{rest}"


def without_value(text: str, keys: Sequence[str]) -> str:
    """The text without the value at `keys`; unchanged if there is none. Raises `NotJson`."""
    parse_jsonc(text)
    plain, bare = _without_comments(text), _uncommented(text)
    at = _past_blanks(plain, 0)
    for key in keys[:-1]:
        member = _member(plain, at, key)
        if member is None:
            return text
        at = member.value
    members = [*_members(plain, at)]
    gone = next((each for each in members if each.name == keys[-1]), None)
    if gone is None:
        return text
    start, end = gone.start, gone.end
    following = _past_blanks(bare, end)
    if bare.startswith(",", following):
        end = following + 1
        line = re.compile(r"[ \t]*\r?\n").match(text, end)
        end = line.end() if line and text[:start].rstrip(" \t").endswith(("\n", "{")) else end
        start = len(text[:start].rstrip(" \t"))
    elif gone != members[0]:
        start = members[members.index(gone) - 1].end
    return text[:start] + text[end:]


def _uncommented(text: str) -> str:
    """The text with blanks in place of its comments, so that all else stays where it is."""
    return _COMMENT.sub(lambda found: found[1] or re.sub(r"[^\n]", " ", found[0]), text)


def _without_comments(text: str) -> str:
    """The text as JSON without comments and trailing commas, everything else in its place."""

    def blank(found: re.Match[str]) -> str:
        has_item = found.string[: found.start()].rstrip()[-1:] not in tuple("[{,:")
        return found[1] or (" " if has_item else ",")

    return _TRAILING.sub(blank, _uncommented(text))


def _members(plain: str, at: int) -> Iterator[_Member]:
    """The members of the object that begins there, in a text that is JSON; none of another value."""
    if not plain.startswith("{", at):
        return
    at = _past_blanks(plain, at + 1)
    while plain[at] != "}":
        name, end = _DECODER.raw_decode(plain, at)
        value = _past_blanks(plain, _past_blanks(plain, end) + 1)
        _, end = _DECODER.raw_decode(plain, value)
        yield _Member(name, at, value, end)
        at = _past_blanks(plain, end)
        at = _past_blanks(plain, at + 1) if plain[at] == "," else at


def _member(plain: str, at: int, name: str) -> _Member | None:
    return next((each for each in _members(plain, at) if each.name == name), None)


def _indent(text: str) -> str:
    """The indentation of the first line that has one; two blanks without."""
    found = re.search(r"\n([ \t]+)\S", text)
    return found[1] if found else "  "


def _past_blanks(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _refuse(name: str) -> object:
    raise json.JSONDecodeError(name, "", 0)


_TABLE = re.compile(r"[ \t]*\[\[?[ \t]*(?P<name>[^\]#]+?)[ \t]*\]\]?[ \t]*(?:#.*)?")
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def parse_toml(text: str) -> dict[str, object]:
    """The tables of the text; raises `tomllib.TOMLDecodeError`."""
    return tomllib.loads(text)


def with_table(text: str, keys: Sequence[str], values: Mapping[str, str | Sequence[str] | Mapping[str, str]]) -> str:
    """The text with this table, at the place of an older one of the name, else at the end."""
    rows = [f"[{_dotted(keys)}]", *(f"{_key(name)} = {_toml_value(value)}" for name, value in values.items())]
    rest, at = _without(text, keys)
    lines = rest.split("\n")
    if at is None:
        head = rest.rstrip("\n")
        return f"{head}\n\n{_joined(rows)}" if head else _joined(rows)
    return "\n".join([*lines[:at], *rows, *([""] if any(map(str.strip, lines[at:])) else []), *lines[at:]])


def without_table(text: str, keys: Sequence[str]) -> str:
    """The text without this table and those below it."""
    return _without(text, keys)[0]


def _without(text: str, keys: Sequence[str]) -> tuple[str, int | None]:
    """The text without the table and those below it, and the number of the line where it began."""
    wanted, rest, at, inside = list(keys), list[str](), None, False
    for row in text.split("\n"):
        found = _TABLE.fullmatch(row.rstrip("\r"))
        if found is not None:
            inside = _parts(found["name"])[: len(wanted)] == wanted
            at = len(rest) if inside and at is None else at
        if not inside:
            rest.append(row)
    return "\n".join(rest), at


def _parts(name: str) -> list[str]:
    try:
        found: object = tomllib.loads(f"[{name}]\n")
    except tomllib.TOMLDecodeError:
        return []
    parts: list[str] = []
    while isinstance(found, dict) and found:
        key = next(iter(found))
        parts.append(str(key))
        found = found[key]
    return parts


def _dotted(keys: Sequence[str]) -> str:
    return ".".join(map(_key, keys))


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else json.dumps(name)


def _toml_value(value: str | Sequence[str] | Mapping[str, str]) -> str:
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(name)} = {_toml_value(each)}" for name, each in value.items()) + " }"
    return f"[{', '.join(map(_toml_value, value))}]"


def _joined(rows: Sequence[str]) -> str:
    return "\n".join(rows) + "\n"
