"""Prompts: files with strict variables, the package's own or the owner's in the vault's folder `prompts/`.

A variable is a name in double braces. An unknown variable is an error, and so is a missing one: a prompt without it
would fail silently. `safety.md` is always the package's own.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

from agent.errors import UserError
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.vault.folders import PROMPTS

VaultReader: TypeAlias = Callable[[str], bytes | None]
"""The bytes of the note at a path in the vault, None if it does not exist."""

_OWN = Path(__file__).parents[1] / "prompts"
_FIXED = frozenset({"safety"})
_VARIABLE = re.compile(r"\{\{([^{}\n]*)\}\}")


def nothing(path: str) -> bytes | None:
    """Always None: for callers without a vault."""
    return None


def fill(name: str, read: VaultReader = nothing, /, **values: str) -> str:
    """The prompt of this name with its variables replaced; variables in the values are not replaced again.

    Raises `UserError` for a variable that is unknown or missing.
    """
    text, path = _text(name, read)
    for found in _VARIABLE.finditer(text):
        if found[1].strip() not in values:
            line = text.count("\n", 0, found.start()) + 1
            raise UserError(
                "{path}, line {line} of the text: {found} is not a variable of this prompt",
                hint="it has {variables}",
                path=path,
                line=line,
                found=found[0],
                variables=_named(values) or Sentence("none"),
            )
    used = {found[1].strip() for found in _VARIABLE.finditer(text)}
    missing = sorted(values.keys() - used)
    if missing:
        raise UserError(
            "{path} does not use {missing}",
            hint="put it in, or delete {path} to have the original back",
            path=path,
            missing=_named(missing),
        )
    return _VARIABLE.sub(lambda found: values[found[1].strip()], text)


def _text(name: str, read: VaultReader) -> tuple[str, str]:
    path = f"{PROMPTS}{name}.md"
    data = None if name in _FIXED else read(path)
    if data is not None and (body := Note.parse(data).body.strip()):
        return body, path
    return (_OWN / f"{name}.md").read_text("utf-8").strip(), path


def _named(names: "dict[str, str] | list[str]") -> str:
    return ", ".join("{{" + name + "}}" for name in sorted(names))
