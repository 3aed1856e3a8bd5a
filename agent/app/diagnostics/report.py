"""What helps to find a fault, in one text to attach to a report: no secret, no path, no word of a note.

What a check says is shown as the sentence of the program that it is, with its numbers; names and texts in it become
`…`. So are settings: their numbers, choices and switches are shown, of texts only that they are set.
"""

import platform
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from agent.app.diagnostics.diagnose import settings_at_hand
from agent.config.crashes import load_crashes
from agent.config.directories import directories, process_clock
from agent.config.load import Loaded
from agent.config.settings import setting_type
from agent.errors import UserError
from agent.texts import Sentence, is_known
from agent.vault.health.probe import Check, Level

_PROGRAM = "vault-agent"
_HIDDEN = "…"
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_NAME = re.compile(r"[\w.-]+")


def fault_report(checks: Sequence[Check], loaded: Loaded, crashes: Path, when: datetime) -> str:
    """The report in Markdown; `crashes` is the folder of what failed unexpectedly."""
    failed = load_crashes(crashes)
    parts: Mapping[str, Iterable[str]] = {
        "Program": _program(when),
        "Settings that are not the default": _settings(loaded),
        "Checks": _checks(checks),
        "Unexpected failures": ["```", *"\n\n".join(failed).splitlines(), "```"] if failed else ["none"],
        "Packages": _packages(),
    }
    sections = (f"## {title}\n\n" + "\n".join(lines) + "\n" for title, lines in parts.items())
    return f"# {_PROGRAM}: a report\n\n" + "\n".join(sections)


def write_report(file: Path, checks: Sequence[Check], root: Path | None) -> None:
    """Write the report to a new file that only its person can read; raises `UserError` for one that is there."""
    places = directories()
    report = fault_report(checks, settings_at_hand(root)[0], places.crashes, process_clock().now())
    try:
        file.touch(0o600, exist_ok=False)
        file.write_text(report, "utf-8")
    except FileExistsError:
        raise UserError("{path} is there already", hint="name another file", path=file) from None


def _program(when: datetime) -> Iterator[str]:
    yield f"- {_PROGRAM} {_version(_PROGRAM)}"
    yield f"- Python {platform.python_version()} ({sys.implementation.name}), {platform.platform()}"
    yield f"- texts as {sys.getfilesystemencoding()}, written on {when:%Y-%m-%d}"


def _settings(loaded: Loaded) -> Iterator[str]:
    found = [(key, loaded.values[key]) for key in sorted(loaded.origins)]
    for key, value in found:
        is_plain = isinstance(value, bool | int | float) or bool(setting_type(key).choices)
        yield f"- `{key}`: {str(value).lower() if is_plain else 'set'} ({loaded.origin(key).layer})"
    if not found:
        yield "none"


def _checks(checks: Iterable[Check]) -> Iterator[str]:
    for check in checks:
        yield f"- {check.level.value} **{without_names(check.name)}**: {without_names(check.what)}"
        details = [without_names(each) for each in check.details] if check.level is not Level.OK else []
        for line in dict.fromkeys(details):
            times = details.count(line)
            yield f"  - {line}" + (f" ({times} times)" if times > 1 else "")


def without_names(sentence: str) -> str:
    """A sentence of the program with its numbers, and `…` for all else that it was filled with."""
    english = sentence.english if isinstance(sentence, Sentence) else sentence
    if not is_known(english):
        return _HIDDEN
    if not isinstance(sentence, Sentence):
        return english
    return english.format(**{name: _without_words(value) for name, value in sentence.values.items()})


def _without_words(value: object) -> object:
    if isinstance(value, bool | int | float) or (isinstance(value, str) and _VERSION.fullmatch(value)):
        return value
    found = value if isinstance(value, Sentence) else getattr(value, "message", None)
    return _Anything(without_names(found) if isinstance(found, Sentence) else _HIDDEN)


class _Anything(str):
    """A text that every format of a placeholder leaves as it is."""

    def __format__(self, spec: str) -> str:
        return str(self)


def _packages() -> Iterator[str]:
    declared = (line for line in requires(_PROGRAM) or () if "extra ==" not in line)
    names = (found[0] for line in declared if (found := _NAME.match(line)) is not None)
    for name in sorted(names, key=str.casefold):
        yield f"- {name} {_version(name)}"


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"
