"""The table of formats, in the order in which they are tried: those with a sign of their own before those that only
look like something.
"""

import zipfile
import zlib
from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Protocol, cast

from agent.dataclass import dataclass
from agent.errors import UserError
from agent.importers.export import Export
from agent.importers.values import Item


class _Reader(Protocol):
    """A module of this folder that reads one format."""

    def fits(self, source: Export) -> bool:
        """True if the source has this format."""

    def read(self, source: Export) -> Iterator[Item]:
        """What is in it, one after the other. Raises `UserError` for what is broken."""


@dataclass(frozen=True, slots=True)
class Format:
    """One format: its `name` on the command line, and the `label` of the program that writes it. With `is_own` it is
    this program's own: it may lie in the vault."""

    name: str
    label: str
    is_own: bool = False

    @property
    def _reader(self) -> _Reader:
        return cast(_Reader, import_module(f"agent.importers.{self.name.replace('-', '_')}"))

    def fits(self, source: Export) -> bool:
        """True if the source seems to have this format."""
        return self._reader.fits(source)

    def read(self, source: Export) -> Iterator[Item]:
        """What is in the source, and what of it is left out; raises `UserError` for what is broken or not safe."""
        yield from source.left
        try:
            yield from self._reader.read(source)
        except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
            hint = "the archive is damaged: download it again"
            raise UserError("{name} cannot be unpacked", hint=hint, name=source.path.name) from error
        except RecursionError as error:
            raise UserError("{name} is nested too deeply", hint="export it again", name=source.path.name) from error


FORMATS = (
    Format("chatgpt", "ChatGPT"),
    Format("claude", "Claude"),
    Format("gemini", "Gemini"),
    Format("letta", "Letta"),
    Format("evernote", "Evernote"),
    Format("mem0", "mem0"),
    Format("khoj", "Khoj"),
    Format("openclaw", "OpenClaw"),
    Format("logseq", "Logseq"),
    Format("obsidian-copilot", "Copilot"),
    Format("notion", "Notion"),
    Format("apple-notes", "Apple Notes"),
    Format("basic-memory", "Basic Memory"),
    Format("older-layout", "vault-agent", is_own=True),
)
NAMES: Sequence[str] = tuple(each.name for each in FORMATS)


def format_of(source: Export, name: str = "") -> Format:
    """The format of this name, else the one that the source has; raises `UserError` if it has none."""
    for each in FORMATS:
        if each.name == name or (not name and _fits(each, source)):
            return each
    raise UserError(
        "{path} has none of the forms that can be read",
        hint="name the program that has written it; vault-agent help import lists them",
        path=source.path.name,
    )


def _fits(format: Format, source: Export) -> bool:
    try:
        return format.fits(source)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError):
        return False
