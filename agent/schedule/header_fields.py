"""The fields in the header of a job or a task: each is checked, and a wrong one is kept with its name."""

import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import field
from hashlib import sha256
from typing import TypeVar

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.markdown.note import Note
from agent.markdown.yaml_write import Value, is_list
from agent.texts import either

_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@-")
_MOST_BYTES = 180
"""The bytes of an id: with a day and an hour behind it, it is the name of a file, which has 255 at most."""
_T = TypeVar("_T")
_Name = TypeVar("_Name", bound=str)


class WrongField(UserError):
    """A value of the header that a job or a task cannot have."""


@dataclass(slots=True)
class CheckedFields:
    """The header's fields, each with the error of its value; an empty value counts as not given. `read` are the keys
    that were asked for."""

    header: Mapping[str, Value]
    problems: list[tuple[str, UserError]] = field(default_factory=list)
    read: set[str] = field(default_factory=set)

    def take(self, key: str, parse: Callable[[Value], _T], default: _T) -> _T:
        """The parsed value under a key; the default without one, and for a wrong one, whose error is kept."""
        self.read.add(key)
        value = self.header.get(key)
        if value is None or value == "":
            return default
        try:
            return parse(value)
        except UserError as error:
            self.problems.append((key, error))
            return default


def identity(value: Value) -> str:
    """An id as a commit, a claim and the name of a file can have it; raises `WrongField`."""
    text = unicodedata.normalize("NFC", str(value))
    if not text or len(text) > 80 or len(text.encode("utf-8", "replace")) > _MOST_BYTES or not all(map(_fits, text)):
        hint = "letters, digits and - _ . @, at most 80, or 60 Chinese ones"
        raise WrongField("{value} cannot be an id", hint=hint, value=text[:80])
    return text


def plain_id(stem: str, kind: str) -> str:
    """A stem as an id: a note that a person names freely needs none in its header."""
    plain = "".join(each if each in _PLAIN else "-" for each in stem).strip("-")[:60]
    return plain if plain == stem else f"{plain or kind}-{_digest(stem)}"


def readable_id(stem: str, kind: str) -> str:
    """The id for the header of a new note of this stem, in letters of whatever script."""
    stem = unicodedata.normalize("NFC", stem)
    plain = "".join(each if _fits(each) else "-" for each in stem)
    cut = plain.strip("-").encode()[: _MOST_BYTES - 7].decode("utf-8", "ignore")[:60]
    return cut if cut == stem else f"{cut or kind}-{_digest(stem)}"


def _fits(letter: str) -> bool:
    return letter in _PLAIN or unicodedata.category(letter)[0] in "LMN"


def _digest(stem: str) -> str:
    return sha256(stem.encode("utf-8", "surrogateescape")).hexdigest()[:6]


def title_of(note: Note, stem: str) -> str:
    """The title of a note: the header's, else its first heading, else the stem of its name."""
    first = note.body.strip().partition("\n")[0]
    return note.string("title") or (first[2:].strip() if first.startswith("# ") else stem)


def one_of(names: tuple[_Name, ...]) -> Callable[[Value], _Name]:
    """The parser of a field that is one of these words."""

    def parse(value: Value) -> _Name:
        found = next((each for each in names if each == value), None)
        if found is None:
            raise WrongField("{value} is not known", hint="{names}", value=short_value(value), names=either(names))
        return found

    return parse


def number(least: int, most: int) -> Callable[[Value], int]:
    """The parser of a whole number between two others."""

    def parse(value: Value) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise WrongField(
                "{value} is no such number",
                hint="from {least} to {most}",
                value=short_value(value),
                least=least,
                most=most,
            )
        return value

    return parse


def yes_no(value: Value) -> bool:
    """True or false; raises `WrongField`."""
    if not isinstance(value, bool):
        raise WrongField("{value} is neither true nor false", hint="true or false", value=short_value(value))
    return value


def word(value: Value) -> str:
    """A short text on one line; raises `WrongField`."""
    text = str(value).strip()
    if isinstance(value, bool | Mapping) or is_list(value) or len(text) > 200 or "\n" in text:
        raise WrongField("{value} is not one word", hint="one word or name", value=short_value(value))
    return text


def short_value(value: Value) -> str:
    """A value as a message shows it."""
    return " ".join(str(value).split())[:80]
