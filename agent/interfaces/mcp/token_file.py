"""The tokens that programs show over HTTP, in files that only their person can read; each is made when first wanted.

One token is for all programs that have none of their own; the others each have the name of one program.
"""

import secrets
from contextlib import suppress
from pathlib import Path

from agent.config.durable import replace
from agent.config.private import FILE, make_folder
from agent.dataclass import dataclass
from agent.errors import Unknown, UserError
from agent.interfaces.mcp.source import CallSource, plain_name

NAME = "mcp-token"
_NAMED = "mcp-tokens"
_SHORTEST = 32
_SHARED = CallSource("http", is_program=False)


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a vault, in its private folder."""

    folder: Path

    def shared(self) -> tuple[str, Path]:
        """The token of all programs without their own, and its file; raises `UserError` for one that others could
        have read."""
        return _made(self.folder / NAME)

    def named(self, name: str) -> Path:
        """The file with the token of one program; raises `UserError` for a name of nothing, and as `shared` does."""
        return _made(self._file(name))[1]

    def names(self) -> list[str]:
        """The programs that have a token of their own."""
        return sorted(each.name for each in (self.folder / _NAMED).glob("[!.]*"))

    def remove(self, name: str) -> Path:
        """Remove a program's token, which then opens nothing any more; raises `Unknown` if it has none."""
        file = self._file(name)
        if not file.exists():
            raise Unknown("{name} has no token of its own", hint="vault-agent mcp token lists them", name=file.name)
        file.unlink()
        return file

    def sources(self) -> dict[str, CallSource]:
        """Who shows which token now."""
        found: dict[str, CallSource] = {}
        for name in (None, *self.names()):
            with suppress(UserError, FileNotFoundError):  # a token that others could have read opens nothing
                file = self.folder / NAME if name is None else self._file(name)
                if len(token := _token_in(file)) >= _SHORTEST:
                    found[token] = _SHARED if name is None else CallSource(name)
        return found

    def _file(self, name: str) -> Path:
        plain = plain_name(name)
        if not plain or plain.startswith(f"{_SHARED.name}."):
            raise UserError("{name} is no name for a program", hint="use a word, such as cursor", name=name)
        return self.folder / _NAMED / plain


def _token_in(path: Path) -> str:
    """The token in a file; raises `FileNotFoundError`, and `UserError` if it cannot be read, or others can read it."""
    try:
        found = path.stat()
        if found.st_mode & 0o077:
            raise UserError(
                "others on this machine can read the token in {path}",
                hint="delete the file; the next start makes a new one",
                path=path,
            )
        return path.read_text("ascii").strip()
    except FileNotFoundError:
        raise
    except (OSError, UnicodeDecodeError) as error:
        raise UserError("the token in {path} cannot be read", hint="delete the file", path=path) from error


def _made(path: Path) -> tuple[str, Path]:
    """The token in a file, made now if there is none."""
    make_folder(path.parent)
    try:
        token = _token_in(path)
    except FileNotFoundError:
        token = ""
    if len(token) < _SHORTEST:
        token = secrets.token_urlsafe(_SHORTEST)
        replace(path, f"{token}\n")
        path.chmod(FILE)
    return token, path
