"""Prompts are files with strict variables: the package's own, or the owner's in the vault's folder `prompts/`.

A variable is a name in double braces. One that nobody knows, and one that is missing, is an error: a prompt that says
less than it should would fail silently for ever after. `safety.md` is always the package's own.
"""

import re
from collections.abc import Callable
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from agent.errors import UserError
from agent.markdown.note import Note
from agent.vault.folders import PROMPTS

Read: TypeAlias = Callable[[str], bytes | None]
"""A note's bytes by its path in the vault, None where there is none."""

LANGUAGES = MappingProxyType({"en": "English", "zh": "Chinese (中文)"})
"""What a prompt calls the language of a vault."""
_OWN = Path(__file__).parents[1] / "prompts"
_FIXED = frozenset({"safety"})
_VARIABLE = re.compile(r"\{\{([^{}\n]*)\}\}")


def nothing(path: str) -> bytes | None:
    """For callers without a vault: there is no note."""
    return None


def fill(name: str, read: Read = nothing, /, **values: str) -> str:
    """The prompt of this name with its variables replaced; what is put in is not looked at again.

    Raises `UserError` for a variable that is unknown or missing.
    """
    text, path = _text(name, read)
    for found in _VARIABLE.finditer(text):
        if found[1].strip() not in values:
            line = text.count("\n", 0, found.start()) + 1
            raise UserError(
                f"{path}, line {line} of the text: {found[0]} is not a variable of this prompt",
                hint=f"it has {_named(values) or 'none'}",
            )
    used = {found[1].strip() for found in _VARIABLE.finditer(text)}
    missing = sorted(values.keys() - used)
    if missing:
        raise UserError(
            f"{path} does not use {_named(missing)}",
            hint=f"put it in, or delete {path} to have the original back",
        )
    return _VARIABLE.sub(lambda found: values[found[1].strip()], text)


def _text(name: str, read: Read) -> tuple[str, str]:
    path = f"{PROMPTS}{name}.md"
    data = None if name in _FIXED else read(path)
    if data is not None and (body := Note.parse(data).body.strip()):
        return body, path
    return (_OWN / f"{name}.md").read_text("utf-8").strip(), path


def _named(names: "dict[str, str] | list[str]") -> str:
    return ", ".join("{{" + name + "}}" for name in sorted(names))
