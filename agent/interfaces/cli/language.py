"""The language of the terminal: that of the vault at hand, else that of the locale; and what is said in it.

Read without the settings, since it is wanted for help and for errors in the settings too. One process has one terminal.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar, copy_context
from pathlib import Path
from typing import TypeVar

from agent.config.directories import VAULT_FILE
from agent.config.text_file import parse_plain_settings
from agent.dataclass import dataclass
from agent.interfaces.cli.printing import padded
from agent.texts import ENGLISH, LANGUAGES, Language, translated

T = TypeVar("T")
_SETTING = "VAULT_AGENT_VAULT__LANGUAGE"
_MOST = 65_536
"""The most bytes that are read of a vault's settings."""
_LOCALE = ("LC_ALL", "LC_MESSAGES", "LANG")


@dataclass(slots=True)
class _Terminal:
    language: Language = "en"


_TERMINAL = _Terminal()
_HERE: ContextVar[Language | None] = ContextVar("here", default=None)
"""The language of a command that is answered by another process than its own."""


def speak(language: Language) -> None:
    """Say everything in this language from now on."""
    _TERMINAL.language = language


def speak_here(language: Language) -> None:
    """Say everything of this context in this language, whatever the process speaks."""
    _HERE.set(language)


def speaking(language: Language, work: Callable[[], T]) -> T:
    """The result of work in which everything is said in this language."""
    context = copy_context()
    context.run(_HERE.set, language)
    return context.run(work)


def spoken() -> Language:
    """The language of the terminal."""
    return _HERE.get() or _TERMINAL.language


def tr(english: str, /, **values: object) -> str:
    """An English sentence in the language of the terminal, with its placeholders filled in."""
    return translated(english, spoken(), **values)


def counted(number: int, one: str, more: str, /, **values: object) -> str:
    """What is said of one thing, or of more, as in "1 note" and "{count} notes"."""
    return tr(one, **values) if number == 1 else tr(more, count=number, **values)


def listed(names: Iterable[str], most: int | None = None) -> str:
    """The names as a list within a sentence; of more than `most`, the first and how many more there are."""
    found = list(names)
    text = tr(", ").join(found[:most])
    return (
        text
        if most is None or len(found) <= most
        else tr("{shown} and {count} more", shown=text, count=len(found) - most)
    )


def first_lines(lines: Iterable[str], most: int, indent: str = "") -> Iterator[str]:
    """The first lines, each behind the indent, and how many more there are."""
    found = list(lines)
    yield from (indent + each for each in found[:most])
    if len(found) > most:
        yield indent + tr("and {count} more", count=len(found) - most)


def row(label: str, words: str) -> str:
    """A line whose first word, its label, has a column of its own."""
    return padded(tr(label), 9) + words


def terminal_language(args: Sequence[str], environ: Mapping[str, str] = os.environ) -> Language:
    """The language for the person who has typed these words; English if nothing says another one."""
    found = environ.get(_SETTING) or _of_vault(_vault(args, environ)) or _of_locale(environ)
    return found if found in LANGUAGES else ENGLISH


def asks_json(args: Sequence[str]) -> bool:
    """True if `--json` is among the words; click is not used, as it may have failed to parse them."""
    options = list(args)
    return "--json" in options[: options.index("--") if "--" in options else None]


def _vault(args: Sequence[str], environ: Mapping[str, str]) -> Path | None:
    """The folder of the vault at hand, as the command line finds it; None without one."""
    words = list(args)
    root = next((word.partition("=")[2] for word in words if word.startswith("--vault=")), "")
    if not root and "--vault" in words[:-1]:
        root = words[words.index("--vault") + 1]
    root = root or environ.get("VAULT_AGENT_VAULT", "")
    try:
        start = Path.cwd()
    except OSError:
        return None
    places = [Path(root)] if root else [start, *start.parents]
    return next((folder for folder in places if (folder / VAULT_FILE).is_file()), None)


def _of_vault(vault: Path | None) -> str:
    """The language that a vault's settings name; empty if they cannot be read."""
    if vault is None:
        return ""
    try:
        with (vault / VAULT_FILE).open("rb") as file:
            text = file.read(_MOST).decode("utf-8-sig")
    except (OSError, ValueError):
        return ""
    plain = parse_plain_settings(text)
    if plain is not None:
        return plain.get("vault.language", ("", 0))[0]
    import yaml  # most vaults' files need no such parser, which is slow to load

    try:
        settings = yaml.load(text, yaml.CSafeLoader)
    except (yaml.YAMLError, RecursionError, ValueError):
        return ""
    section = settings.get("vault") if isinstance(settings, dict) else None
    return str(section.get("language") or "") if isinstance(section, dict) else ""


def _of_locale(environ: Mapping[str, str]) -> str:
    """The language of the locale, as in `zh_CN.UTF-8`."""
    name = next((environ[variable] for variable in _LOCALE if environ.get(variable)), "")
    return name.partition(".")[0].partition("_")[0].casefold()
