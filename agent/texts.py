"""What the program says to people, by language; the sentences are in `agent/texts/`.

What stands in notes, chats and pages has a key (`text`). What stands on a terminal (errors, hints, help) is English in
the code, and its own key in the other languages' files (`translated`), as with gettext. A language is one that has a
file there; what a file does not say, is said in English.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

_FOLDER = Path(__file__).with_suffix("")
Language: TypeAlias = str
"""A language that a vault's notes can be written in: one of `LANGUAGES`."""
ENGLISH: Language = "en"


def _with_a_file() -> tuple[Language, ...]:
    files = (path.name.partition(".") for path in _FOLDER.iterdir())
    others = sorted(name for name, _, kind in files if kind == "yaml" and name != ENGLISH)
    return (ENGLISH, *others)


LANGUAGES: tuple[Language, ...] = _with_a_file()
"""Those that have a file `LANGUAGE.yaml`, English first."""


class Sentence(str):
    """An English sentence of the terminal, filled in, that can still be said in another language: it knows the
    `{placeholders}` and their values. It is a `str`, so that what only stores or prints English need not know of it."""

    __slots__ = ("english", "values")
    english: str
    values: Mapping[str, object]

    def __new__(cls, english: str, /, **values: object) -> "Sentence":
        if isinstance(english, Sentence) and not values:
            return english
        self = super().__new__(cls, _filled(english, values, "en"))
        self.english, self.values = english, values
        return self


_SECTION = re.compile(r"^(?=[a-z])", re.MULTILINE)
_INDENTATION = re.compile(r"^  ", re.MULTILINE)
_WORDS = re.compile(r"^[^#\n]", re.MULTILINE)
_FIRST = r"[^\s'\"?:#&*!|>%@`{}\[\],-]"
_ENTRY = re.compile(
    rf"^(?![^\n]* \#)(?:(?P<key>{_FIRST}[^\n:]*)|'(?P<quoted_key>(?:[^'\n]|'')*)'): "
    rf"(?:(?P<words>{_FIRST}[^\n]*)|'(?P<quoted_words>(?:[^'\n]|'')*)'|\"(?P<other_words>[^\"\\\n]*)\")\n(?! )",
    re.MULTILINE,
)
"""A line `key: words` of a file that needs no parser: of a long file, a command needs a few sentences."""


def text(key: str, language: Language, /, **values: object) -> str:
    """The sentence of this key (`section.name`) with its `{placeholders}` filled in; in English, if the language's
    file does not have it.

    Raises `KeyError` for a key that English does not have, and for a placeholder without a value.
    """
    section, _, name = key.partition(".")
    own = _section(language, section)
    sentence = own[name] if name in own else _section(ENGLISH, section)[name]
    return sentence.format(**values) if values else sentence


def in_all_languages(key: str) -> tuple[str, ...]:
    """The sentence in each language: for reading back what was written, whatever the vault's language is now."""
    return tuple(text(key, language) for language in LANGUAGES)


def translated(english: str, language: Language, /, **values: object) -> str:
    """An English sentence of the terminal in a language, with its `{placeholders}` filled in; English, if it has no
    translation. A value that is a sentence or an error is translated, too."""
    if isinstance(english, Sentence):
        return translated(english.english, language, **english.values)
    if language == "en":
        return _filled(english, values, language)
    found = _terminal(language).get(english) or _terminal_others(language).get(english, english)
    return _filled(found, values, language)


def is_known(english: str) -> bool:
    """True for a sentence of the terminal that some language has a translation of."""
    others = (each for each in LANGUAGES if each != ENGLISH)
    return any(english in _terminal(each) or english in _terminal_others(each) for each in others)


def either(names: Sequence[str]) -> Sentence:
    """The names as a choice, as in "a or b"."""
    found = Sentence("{name}", name=names[0])
    for name in names[1:]:
        found = Sentence("{first} or {name}", first=found, name=name)
    return found


def joined(parts: Iterable[str], between: str) -> Sentence:
    """The parts as one text, with `between` (a comma, a line end) between them; empty for none. Sentences among them
    are translated, names stay."""
    first, *others = [*parts] or [""]
    found = Sentence("{first}", first=first) if first else Sentence("")
    for each in others:
        found = Sentence("{first}{between}{next}", first=found, between=Sentence(between), next=each)
    return found


def _filled(sentence: str, values: Mapping[str, object], language: Language) -> str:
    return sentence.format(**{name: _in(value, language) for name, value in values.items()}) if values else sentence


def _in(value: object, language: Language) -> object:
    """A placeholder's value as it is said: a sentence, or the message of an error, in the language."""
    found = value if isinstance(value, str) else getattr(value, "message", None)
    return translated(found, language) if isinstance(found, Sentence) else value


@cache
def _terminal(language: Language) -> Mapping[str, str]:
    """The sentences of the terminal in a language, by their English, as far as they are `key: words` on one line."""
    return _quick(_read(f"terminal.{language}.yaml"))


@cache
def _terminal_others(language: Language) -> Mapping[str, str]:
    """The few that are written in another form."""
    found: Mapping[str, str] = _parsed(_ENTRY.sub("", _read(f"terminal.{language}.yaml"))) or {}
    return found


def _quick(written: str) -> Mapping[str, str]:
    """The entries that are `key: words` on one line."""
    found = _ENTRY.finditer(written)
    return {
        _unquoted(one["key"], one["quoted_key"]): _unquoted(one["words"] or one["other_words"], one["quoted_words"])
        for one in found
    }


def _unquoted(plain: str | None, quoted: str | None) -> str:
    return plain if plain is not None else (quoted or "").replace("''", "'")


@cache
def _section(language: Language, name: str) -> Mapping[str, str]:
    """The sentences of one section, by name; none for a section that the language's file does not have."""
    written = _INDENTATION.sub("", _sections(language).get(name, "").partition("\n")[2])
    others = _ENTRY.sub("", written)
    return {**_quick(written), **(_parsed(others) if _WORDS.search(others) else {})}


@cache
def _sections(language: Language) -> Mapping[str, str]:
    """The sections of a language's file as they are written: a command needs a few of them."""
    return {each.partition(":")[0]: each for each in _SECTION.split(_read(f"{language}.yaml"))}


def _read(name: str) -> str:
    """The text of a file; empty for a language that has no words for a terminal."""
    try:
        return (_FOLDER / name).read_text("utf-8")
    except FileNotFoundError:
        return ""


def _parsed(text: str) -> Any:
    import yaml  # English help needs no file

    return yaml.load(text, yaml.CSafeLoader)
