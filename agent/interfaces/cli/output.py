"""Output of a command, the vault it uses, and the two exceptions for a failure after printing.

A command prints its result through `Output.emit`, once and last: as text for a person, or as one JSON document. Errors
are not printed here: a command raises, and `main` converts the error to a message and an exit code.
"""

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import date
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

from click import get_current_context

from agent.config.directories import VAULT_FILE, directories
from agent.config.masking import printable
from agent.dataclass import dataclass
from agent.errors import NotAVault
from agent.escape import escape_json
from agent.interfaces.cli.language import listed, tr
from agent.interfaces.cli.printing import Printed, at_words, encoding, is_terminal, show, show_file, size

if TYPE_CHECKING:
    from agent.deeds.result import ResultValue

PROGRAM = "vault-agent"

DONE, CHECK, FIXABLE, BUG, AGAIN, INTERRUPTED, READER_GONE = 0, 1, 2, 70, 75, 130, 141
"""The exit codes."""

_TOLD, _NAMED = "agent.interfaces.cli.output", 5
COMPLETE = "_VAULT_AGENT_COMPLETE"
"""The variable through which a shell's completion script asks the program for completions."""

Document = Union[Mapping[str, object], "ResultValue"]
Result = Printed | bytes | Callable[[], Printed | bytes]


class CheckFailed(Exception):
    """A check found a problem, and its report is already printed; exit 1."""


class CommandFailed(Exception):
    """The command failed with `error`; with `--json`, the fields of `document` are printed beside it."""

    def __init__(self, error: Exception, document: Mapping[str, object]) -> None:
        super().__init__(str(error))
        self.error = error
        self.document = document


class RelayedError(Exception):
    """An error of a run in the daemon, as it would be told here: its type, message and hint, and its exit code."""

    def __init__(self, name: str, message: str, hint: str, code: int) -> None:
        super().__init__(message)
        self.name, self.message, self.hint, self.code = name, message, hint, code

    @property
    def can_be_tried_again(self) -> bool:
        """True if the person can do something about it, or it passes: not for a bug."""
        return self.code in {FIXABLE, AGAIN}


@dataclass(frozen=True, slots=True)
class Output:
    """The output format and the vault of this call; stored in click's `ctx.obj`."""

    json: bool = False
    """One JSON document on standard output instead of text."""

    named: Path | None = None
    """`--vault`, or `VAULT_AGENT_VAULT`; None if neither is set."""

    progress: Callable[[str, str], object] | None = None
    """Told in which session, and in a line, what a run does, for a program that waits for its document; None: nobody
    does."""

    def emit(self, document: Document | Callable[[], Document], text: Result, *, raw: bool = False) -> None:
        """Print the result: `{"ok": true, **document}` with `--json`, else `text`; bytes are a file's content, which
        goes into a pipe with its control characters if it is `raw`.

        Call it once, as the command's last step. Both may be functions: only what is needed is called.
        """
        if self.json:
            found = document() if callable(document) else document
            show(to_json({"ok": True, **(found if isinstance(found, Mapping) else found.document())}))
            return
        content = text() if callable(text) else text
        if isinstance(content, bytes):
            if show_file(content, raw=raw):
                self.note(tr("control characters are written out, such as \\x1b; with --raw they are passed on"))
        elif content:
            show(content, end="" if isinstance(content, str) and content.endswith("\n") else "\n")

    def note(self, text: str) -> None:
        """Print a remark for a person on standard error; nothing with `--json`."""
        if not self.json:
            say(text)

    def warn(self, text: str) -> None:
        """Print a warning on standard error, also with `--json`."""
        say(tr("warning: {text}", text=tr(text)))

    def vault(self, *, takes_known: bool = True) -> Path:
        """The vault's root, absolute: outside of a vault, that of the only one known on this machine, of which the
        person is told, unless a command that takes something away must be told which (`takes_known`). Raises
        `NotAVault`."""
        try:
            return find_vault(Path.cwd(), self.named)
        except NotAVault as error:
            if self.named is not None:
                raise
            known: tuple[Path, ...] = import_module("agent.vault.layout").known_roots(directories().state)
            if len(known) > 1 or (known and not takes_known):
                names = listed([str(each) for each in known], _NAMED)
                hint = "name a vault: vault-agent --vault PATH …; known here: {names}"
                raise NotAVault(error.message, hint=hint, names=names) from None
            if not known:
                raise
        context = get_current_context(silent=True)
        meta: dict[str, Any] = context.find_root().meta if context is not None else {}
        if not meta.setdefault(_TOLD, False):
            meta[_TOLD] = True
            self.note(tr("you are outside of a vault; this is the only one known here: {root}", root=known[0]))
        return known[0]

    def vault_if_any(self) -> Path | None:
        """The root of the vault that was given or that the person is in, or None: settings can be read without one.
        Raises `NotAVault` for a folder that was given."""
        try:
            return find_vault(Path.cwd(), self.named)
        except NotAVault:
            if self.named is not None:
                raise
            return None


def find_vault(start: Path, named: Path | None) -> Path:
    """The root of the vault, absolute: `given`, else the nearest vault from `start` upwards.

    Raises `NotAVault` with a command that helps.
    """
    if named is not None:
        root = Path(os.path.abspath(named))  # noqa: PTH100 - resolve() would rename a vault that is a symbolic link
        if (root / VAULT_FILE).is_file():
            return root
        above = next((folder for folder in root.parents if (folder / VAULT_FILE).is_file()), None)
        raise NotAVault(
            "{given} is not a vault: it has no {file}",
            hint="vault-agent --vault {above} …" if above else "vault-agent init {given}",
            given=named,
            file=VAULT_FILE,
            above=above,
        )
    for folder in (start, *start.parents):
        if (folder / VAULT_FILE).is_file():
            return folder
    raise NotAVault(
        "no vault at {start} or above it",
        hint="vault-agent init PATH, or name a vault: vault-agent --vault PATH …",
        start=start,
    )


def exit_codes(check: str = "") -> str:
    """The closing lines of a command's help, in English; `check` is the meaning of exit 1 if the command has it."""
    lines = ["\b", "Exit codes:", "  0   done"]
    lines += [f"  1   {check}"] if check else []
    lines += ["  2   you can fix it: the message says how", "  70  a bug in vault-agent"]
    return "\n".join([*lines, "  75  try again: another writer is at work"])


def fields(value: object, names: str, **more: object) -> dict[str, object]:
    """A document with the attributes of a value, by their names with blanks between them, and what is more to say.
    `to_json` writes values of our own as their fields, moments in ISO form, and members of enums as their values."""
    return {name: getattr(value, name) for name in names.split()} | more


def to_json(document: Mapping[str, object]) -> str:
    """One line of JSON that the terminal's encoding supports, without control or invisible characters."""
    is_unicode = encoding().lower().replace("-", "") == "utf8"
    masked = printable(json.dumps(_masked(document), ensure_ascii=not is_unicode, default=str))
    return escape_json(masked)


def _masked(value: Any) -> object:
    """A value as JSON has it, with known secrets masked; masked before encoding, so that the JSON stays valid."""
    if hasattr(value, "__struct_fields__"):  # a view; those who print none do not load its module
        value = value.document()
    if isinstance(value, Enum):
        value = value.value
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, Mapping):
        return {_masked(name): _masked(each) for name, each in value.items()}
    if isinstance(value, date):
        return value.isoformat()
    if is_dataclass(value):
        return {each.name: _masked(getattr(value, each.name)) for each in dataclass_fields(value)}
    return [_masked(each) for each in value] if isinstance(value, list | tuple) else value


def say(text: str) -> None:
    """Print one remark on standard error; a terminal gets it wrapped at words."""
    show(fitted(text, error=True), error=True)


def fitted(text: str, *, error: bool = False) -> str:
    """The text for standard output or standard error; for a terminal wrapped at words, but for lines with a command of
    ours: they are copied."""
    if not is_terminal(error=error):
        return text
    width = size(error=error)[0]
    return "\n".join(line if PROGRAM in line else at_words(line, width) for line in text.split("\n"))


def progress(text: str) -> None:
    """Print a remark about slow work; only if standard error is a terminal."""
    if is_terminal(error=True):
        say(tr(text))
