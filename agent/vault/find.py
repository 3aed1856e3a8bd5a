"""Finds a note by its path, its name, or the `id` in its frontmatter; and notes by a line in them."""

import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING
from unicodedata import normalize

from agent.errors import BadPath, NoteGone, UserError
from agent.lazy import later
from agent.markdown.note import Note
from agent.texts import joined
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note, name_key

if TYPE_CHECKING:
    from agent.vault.listing import file_paths, listed, other_paths, others_among
else:
    file_paths = later("agent.vault.listing", "file_paths")
    listed = later("agent.vault.listing", "listed")
    other_paths = later("agent.vault.listing", "other_paths")
    others_among = later("agent.vault.listing", "others_among")

_HINT = "vault-agent search WORDS finds its path; vault-agent log shows what was moved or deleted"
_ID = re.compile(r"[0-9A-Za-z]{26}")
_LINK = re.compile(r"!?\[\[([^\[\]|#^]+)[^\[\]]*\]\]")
_ROW = re.compile(r"([^\0]+)\0([0-9]+)\0([^\n]*)\n")
"""A path, a number and a line, as git's search prints them for `-z`."""


def find_note(vault: Vault, name: str) -> str:
    """The path of the note with this `name`: a path from the vault's root, with or without `.md`, or an id.

    Raises `NoteGone` if there is none, and `UserError` for an empty name or an id that several notes have.
    """
    if not name.strip():
        raise UserError("no note is named", hint=_HINT)
    problem: Exception | None = None
    for path in (name, f"{name}.md"):
        try:
            if vault.read(path) is not None:
                return path
        except (BadPath, IsADirectoryError) as error:
            problem = problem or error
    if _ID.fullmatch(name):
        found = sorted(path for path in set(notes_with_text(vault, name)) if _has_id(vault.read(path), name))
        if len(found) > 1:
            raise UserError(
                "{count} notes have the id {name}: {paths}",
                hint="name the path of the one that you mean, and give the other one another id",
                count=len(found),
                name=name,
                paths=joined(found, ", "),
            )
        if found:
            return found[0]
    elif problem is not None:
        raise problem
    if not name.isascii() and (spelt := next((path for path in vault.note_paths() if _is_spelt(path, name)), None)):
        return spelt
    raise NoteGone("no note has the path or id {name}", hint=_HINT, name=name)


def find_named_note(vault: Vault, name: str) -> str:
    """As `find_note`, also by what a link says: `[[Rui Matos]]`, the name of one note, or an alias of it; `[[tea.pdf]]`
    for another file, which needs its ending only where a note has that name.

    Raises as `find_note` does, and `UserError` for a name that several notes have.
    """
    link = _LINK.fullmatch(name.strip())
    wanted = (link[1] if link else name).strip()
    try:
        return find_note(vault, wanted)
    except (NoteGone, BadPath):
        found = _notes_named(vault, wanted)
        if not found:
            raise
    if len(found) > 1:
        raise UserError(
            "{count} notes are named {name}: {paths}",
            hint="give the path of the one that you mean",
            count=len(found),
            name=wanted,
            paths=joined(found, ", "),
        )
    return found[0]


def _is_spelt(path: str, name: str) -> bool:
    return normalize("NFC", path) in {normalize("NFC", name), normalize("NFC", f"{name}.md")}


def is_bare_name(name: str) -> bool:
    """True for what can only be the name of a note that is there: a link, or words without a folder and an ending."""
    return _LINK.fullmatch(name.strip()) is not None or ("/" not in name and "." not in name and bool(name.strip()))


def _notes_named(vault: Vault, name: str) -> list[str]:
    """The notes of which the path ends in this name, else those with it as an alias; case does not count."""
    wanted = name_key(name.removesuffix(".md"))
    named = [each for each in vault.note_paths() if name_key(f"/{each}").endswith(f"/{wanted}.md")]
    if not named and "." in wanted:
        named = [each for each in file_paths(vault) if name_key(f"/{each}").endswith(f"/{wanted}")]
    named = named or sorted(each for each in notes_with_text(vault, name) if wanted in _aliases(vault.read(each)))
    return named or [each for each in file_paths(vault) if name_key(f"/{_stem(each)}").endswith(f"/{wanted}")]


def _stem(path: str) -> str:
    """The path of a file without its ending, by which people name a canvas or a picture, too."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}{name.rpartition('.')[0] or name}"


def files_named(vault: Vault, words: str, known: Iterable[str] | None = None) -> list[str]:
    """The files that are no notes, such as a canvas or a picture, whose paths have each of these words, in any case;
    none for no words. Of most of them nothing else can be searched. `known` are all files, for a caller that has them:
    git takes several times as long to list them as a search does."""
    wanted = words.casefold().split()
    if not wanted:
        return []
    paths = other_paths(vault) if known is None else (each for each in known if not each.endswith(".md"))
    named = [each for each in paths if all(word in each.casefold() for word in wanted)]
    return others_among(vault, listed(vault, named)) if known is not None and named else named


def _aliases(data: bytes | None) -> set[str]:
    return {name_key(each) for each in Note.parse(data or b"").aliases}


def _has_id(data: bytes | None, name: str) -> bool:
    return data is not None and (Note.parse(data).id or "").upper() == name.upper()


def notes_with_text(vault: Vault, text: str) -> list[str]:
    """The notes that contain the text in any case, in a commit or not, found by git's search."""
    command = ["grep", "-l", "-z", "-i", "-F", "--untracked", "--no-textconv", "-e", text]
    found = vault.git.fields(*command, ok=(0, 1), drivers_off=True)
    return vault.private_notes.left_of(filter(is_note, vault.place.in_vault(found)))


def numbered_lines(vault: Vault, text: str, folder: str = "") -> Iterator[tuple[str, int, str]]:
    """The lines of the notes in a folder (empty: all), in a commit or not, with this text in any case, in which `*` is
    for any characters: path, number and line, in the order of paths and lines."""
    pattern = re.sub(r"[\\.\[\](){}^$|+?]", lambda found: f"\\{found[0]}", text).replace("*", ".*")
    return (row for row in _matching_lines(vault, pattern, "-i") if row[0].startswith(folder))


def notes_with_line(vault: Vault, pattern: str) -> list[str]:
    """The notes, in a commit or not, with a line that matches a pattern in git's extended form."""
    command = ["grep", "-l", "-z", "-E", "--untracked", "--no-textconv", "-e", pattern]
    found = vault.git.fields(*command, ok=(0, 1), drivers_off=True)
    return sorted(vault.private_notes.left_of(filter(is_note, vault.place.in_vault(found))))


def lines_in_notes(vault: Vault, pattern: str) -> Iterator[tuple[str, str]]:
    """The lines of notes, in a commit or not, that match a pattern in git's extended form, each with its note's path;
    in the order of paths and lines."""
    return ((path, line) for path, _, line in _matching_lines(vault, pattern))


def _matching_lines(vault: Vault, pattern: str, *options: str) -> Iterator[tuple[str, int, str]]:
    as_rows = ("--line-number", "--no-column", "--no-color", "--no-heading", "--no-break", "--full-name")
    command = ["grep", "-z", "-I", "-E", *options, "--untracked", "--no-textconv", *as_rows, "-e", pattern]
    found = vault.git.run(*command, ok=(0, 1), drivers_off=True).decode("utf-8", "surrogateescape")
    for path, number, line in _ROW.findall(found):
        for inside in vault.place.in_vault([path]):
            if is_note(inside) and not vault.private_notes.have(inside):
                yield inside, int(number), line
