"""What the program says to people in notes, chats and pages, by key and language; the sentences are in `agent/texts/`.

A third language is a third file with the same keys. What commands print for the terminal alone is English, and stands
where it is printed.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import yaml

Language: TypeAlias = Literal["en", "zh"]
"""A language that a vault's notes can be written in."""
LANGUAGES: tuple[Language, ...] = get_args(Language)

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


@cache
def _sentences(language: Language) -> Mapping[str, str]:
    sections = yaml.load((_FOLDER / f"{language}.yaml").read_bytes(), yaml.CSafeLoader)
    return {f"{section}.{name}": said for section, names in sections.items() for name, said in (names or {}).items()}
