"""The vault's notes as resources (`note:///PATH`), three of them by name: the profile, MEMORY.md and today's note."""

from collections.abc import Callable, Iterable
from urllib.parse import quote, unquote

from agent.dataclass import dataclass
from agent.errors import NoteGone, UserError
from agent.interfaces.mcp.clients import Client
from agent.tools.builtin.notes import Notes
from agent.tools.note_access import check_readable, may_read
from agent.tools.taint import frame
from agent.tools.text_origin import text_origin_of
from agent.vault.folders import MEMORY_NOTE, PROFILE
from agent.workspace.workspace import Workspace

NOTE = "note:///"
MARKDOWN = "text/markdown"
PAGE = 200
"""The most notes in one part of the list."""
_HINT = "list the resources, or find the note with the tool search"


@dataclass(frozen=True, slots=True)
class VaultResource:
    """A resource: its URI, and what it is called."""

    uri: str
    name: str
    description: str = ""


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of one vault."""

    workspace: Workspace

    def page(self, cursor: str) -> tuple[list[VaultResource], str]:
        """The resources after a cursor (empty: from the beginning), and the cursor of the next part; empty for none."""
        vault = self.workspace.vault
        paths = [path for path in vault.note_paths() if path > cursor and may_read("owner", path, vault.home)]
        found = [] if cursor else [VaultResource(uri, name, about) for uri, (name, about, _) in self._named().items()]
        found += [VaultResource(NOTE + quote(path), path) for path in paths[:PAGE]]
        return found, paths[PAGE - 1] if len(paths) > PAGE else ""

    def paths(self, uri: str) -> tuple[str, ...]:
        """The notes that a resource shows; raises `UserError` for a URI that names none, and `BadPath`."""
        named = self._named().get(uri)
        if named is not None:
            return tuple(named[2]())
        if not uri.startswith(NOTE):
            raise UserError("there is no resource {uri}", hint=_HINT, uri=ascii(uri)[1:-1])
        return (check_readable(unquote(uri.removeprefix(NOTE))),)

    def read(self, uri: str, client: Client) -> str:
        """The text of a resource; text of strangers is framed and taints the program. Raises as `paths`, and
        `NoteGone`."""
        vault = self.workspace.vault
        notes = Notes(vault, text_origin_of(vault))
        parts: list[str] = []
        paths = self.paths(uri)
        for path in paths:
            with client.lock:
                data = vault.read(path)
                if data is None and len(paths) > 1:
                    continue
                if data is None or b"\0" in data[:8000]:
                    raise NoteGone("there is no note {path}", hint=_HINT, path=path)
                client.context.shown.show(path, data)
            text = vault.masked(data.decode("utf-8", "replace"))
            source = notes.origin_of(path, data)
            if source:
                client.context.taint.mark(source)
                text = frame(text, source)
            parts.append(text if len(paths) == 1 else f"<!-- {path} -->\n{text}")
        return "\n\n".join(parts)

    def _named(self) -> dict[str, tuple[str, str, Callable[[], Iterable[str]]]]:
        vault, today = self.workspace.vault, self.workspace.clock.now().date()
        place = vault.home.at(PROFILE)

        def profile() -> Iterable[str]:
            return (path for path in vault.note_paths(place) if not path.rpartition("/")[2].startswith(("_", "About")))

        return {
            "vault:///profile": ("profile", "What the agent knows about the person.", profile),
            "vault:///memory": (MEMORY_NOTE, "Long-term facts.", lambda: [vault.home.at(MEMORY_NOTE)]),
            "vault:///today": ("today", "The daily note of today.", lambda: [vault.home.day_note(today)]),
        }
