"""What the program says to people, by language; the sentences are in `agent/texts/`.

What stands in notes, chats and pages has a key (`text`). What stands on a terminal (errors, hints, help) is English in
the code, and its own key in the other languages' files (`translated`), as with gettext. A third language is two more
files.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

Language: TypeAlias = Literal["en", "zh"]
"""A language that a vault's notes can be written in."""
LANGUAGES: tuple[Language, ...] = get_args(Language)


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


_FOLDER = Path(__file__).with_suffix("")


def text(key: str, language: Language, /, **values: object) -> str:
    """The sentence of this key (`section.name`) with its `{placeholders}` filled in.

    Raises `KeyError` for a key that the language's file does not have, and for a placeholder without a value.
    """
    sentence = _sentences(language)[key]
    return sentence.format(**values) if values else sentence


def in_all_languages(key: str) -> tuple[str, ...]:
    """The sentence in each language: for reading back what was written, whatever the vault's language is now."""
    return tuple(_sentences(language)[key] for language in LANGUAGES)


def translated(english: str, language: Language, /, **values: object) -> str:
    """An English sentence of the terminal in a language, with its `{placeholders}` filled in; English, if it has no
    translation. A value that is a sentence or an error is translated, too."""
    if isinstance(english, Sentence):
        return translated(english.english, language, **english.values)
    return _filled(english if language == "en" else _terminal(language).get(english, english), values, language)


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
    """The sentences of the terminal in a language, by their English."""
    found: Mapping[str, str] = _load(f"terminal.{language}.yaml")
    return found


@cache
def _sentences(language: Language) -> Mapping[str, str]:
    sections = _load(f"{language}.yaml")
    return {f"{section}.{name}": said for section, names in sections.items() for name, said in (names or {}).items()}


def _load(name: str) -> Any:
    import yaml  # English help needs no file

    return yaml.load((_FOLDER / name).read_bytes(), yaml.CSafeLoader)
