"""Adds a vault to the configuration file of a program, or takes it out again; everything else in the file stays."""

import os
import tomllib
from collections.abc import Callable, Sequence
from copy import deepcopy
from difflib import unified_diff
from pathlib import Path
from typing import Any

from agent.config.private import FILE, check_file
from agent.dataclass import dataclass
from agent.errors import UserError, os_reason
from agent.interfaces.mcp.install import edits
from agent.interfaces.mcp.install.programs import ClientProgram
from agent.platform.here import platform
from agent.texts import Sentence

_MOST = 5_000_000
"""The largest file that is read: a program keeps its whole history in there."""


@dataclass(frozen=True, slots=True)
class ServerEntry:
    """How a program starts the server: the words of the command line, and what its environment needs besides."""

    command: str
    args: tuple[str, ...]
    env: tuple[tuple[str, str], ...] = ()

    def as_values(self, program: ClientProgram) -> dict[str, Any]:
        """The entry as the program's file has it."""
        kind = {"type": "stdio"} if program.typed else {}
        env = {"env": dict(self.env)} if self.env else {}
        return {**kind, "command": self.command, "args": list(self.args), **env}


@dataclass(frozen=True, slots=True)
class Edited:
    """A configuration file before and after; the same for one that needs no change."""

    path: Path
    before: str
    after: str

    @property
    def is_changed(self) -> bool:
        """True if the file must be written."""
        return self.before != self.after

    @property
    def diff(self) -> str:
        """The change, line by line."""
        rows = (self.before.splitlines(), self.after.splitlines())
        return "\n".join(unified_diff(*rows, "before", "after", n=0, lineterm=""))


def added(program: ClientProgram, path: Path, name: str, entry: ServerEntry) -> Edited:
    """The file with the server `name`. Raises `UserError` for a file that cannot be read as what it should be, or that
    has another server of this name."""
    values = entry.as_values(program)
    text, tables = _load(program, path)
    known = _servers(program, path, tables).get(name)
    if known == values:
        return Edited(path, text, text)
    if known is not None and not _is_ours(known, entry):
        raise UserError(
            "{path} has another server named {name}",
            hint="give this one another name with --name, or take the other one out with --remove",
            path=path,
            name=name,
        )
    wanted = deepcopy(tables)
    wanted.setdefault(program.table, {})[name] = values
    keys = (program.table, name)
    if program.form == "toml":
        return _checked(program, path, text, lambda: edits.with_table(text, keys, values), wanted)
    return _checked(program, path, text, lambda: edits.with_value(text, keys, values), wanted)


def removed(program: ClientProgram, path: Path, name: str) -> Edited:
    """The file without the server `name`; raises `UserError` for a file that cannot be read."""
    text, tables = _load(program, path)
    if name not in _servers(program, path, tables):
        return Edited(path, text, text)
    wanted = deepcopy(tables)
    del wanted[program.table][name]
    keys = (program.table, name)
    if program.form == "toml":
        if not wanted[program.table]:
            del wanted[program.table]
        return _checked(program, path, text, lambda: edits.without_table(text, keys), wanted)
    return _checked(program, path, text, lambda: edits.without_value(text, keys), wanted)


def write(edited: Edited) -> None:
    """Replace the file at once, with the mode that it had; through a link, the file that it leads to."""
    path = edited.path.resolve()
    check_file(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = path.stat().st_mode & 0o777 if path.exists() else FILE
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(edited.after.encode())
            file.flush()
            platform().flush(descriptor)
        draft.chmod(mode)
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise UserError("{path} cannot be written: {reason}", path=path, reason=os_reason(error)) from error


def load_text(path: Path) -> str:
    """The text of a file; empty without one. Raises `UserError` for one that cannot be read."""
    try:
        text = path.read_bytes()[: _MOST + 1].decode() if path.exists() else ""
        if len(text) > _MOST:
            raise ValueError(Sentence("it is too long"))
    except ValueError as error:
        raise _unreadable(path, _reason(error)) from error
    except OSError as error:
        raise _unreadable(path, os_reason(error)) from error
    return text


def _load(program: ClientProgram, path: Path) -> tuple[str, dict[str, Any]]:
    """The text of the file and its tables; empty without a file."""
    text = load_text(path)
    try:
        tables = edits.parse_toml(text) if program.form == "toml" else edits.parse_jsonc(text)
    except (ValueError, RecursionError) as error:
        raise _unreadable(path, _reason(error)) from error
    if not isinstance(tables, dict):
        raise _unreadable(path, Sentence("it is no object"))
    return text, tables


def _servers(program: ClientProgram, path: Path, tables: dict[str, Any]) -> dict[str, Any]:
    found = tables.get(program.table, {})
    if not isinstance(found, dict):
        raise _unreadable(path, Sentence("{table} is no object", table=program.table))
    return found


def _reason(error: Exception) -> str:
    """The sentence in an error of ours, or the words of a library's."""
    found = error.args[0] if error.args else ""
    return found if isinstance(found, Sentence) else str(error)


def _unreadable(path: Path, reason: str) -> UserError:
    return UserError(
        "{path} is not changed, since it cannot be understood: {reason}",
        hint="mend the file first, or add the server by hand",
        path=path,
        reason=reason,
    )


def _is_ours(known: object, entry: ServerEntry) -> bool:
    """True for an entry of this program for the same vault, which may have another command or other options."""
    args: Sequence[object] = known.get("args", ()) if isinstance(known, dict) else ()
    ours = list(entry.args[: entry.args.index("mcp")])[-2:]
    return isinstance(args, list) and any(args[at : at + 2] == ours for at in range(len(args)))


def _checked(program: ClientProgram, path: Path, text: str, edit: Callable[[], str], wanted: dict[str, Any]) -> Edited:
    """The edited text, if it says what was there before and nothing but the change besides."""
    try:
        after = edit()
        now = edits.parse_toml(after) if program.form == "toml" else edits.parse_jsonc(after)
    except (TypeError, ValueError, tomllib.TOMLDecodeError) as error:
        raise _unreadable(path, _reason(error)) from error
    if now != wanted:
        raise _unreadable(path, Sentence("{table} is written there in an unusual way", table=program.table))
    return Edited(path, text, after)
