"""Rules for the paths of notes, checked as text before any file is opened.

`files` checks links and moved folders on open descriptors. What is read has fewer rules than what is written: the names
of notes that a person has made are as they are.
"""

import unicodedata

from agent.errors import BadPath

RESERVED = frozenset({".git", ".gitattributes", ".gitmodules", ".obsidian", "vault-agent.yaml", "vault-agent.yml"})
TEMPORARY = ".vault-agent-"

_OTHER_NAME = "use another path"
_NAME_BYTES = 255
_PATH_BYTES = 3000


def name_key(name: str) -> str:
    """The same text for all spellings of a name or path: case does not count, nor whether an accent is a character of
    its own, as programs of macOS write it."""
    return name.casefold() if name.isascii() else unicodedata.normalize("NFC", name).casefold()


def check(path: str, *, system: bool = False, arrives: bool = False) -> str:
    """Return `path` if it is a plain relative POSIX path that a note may be given; raises `BadPath` otherwise.

    `system` allows the reserved names, for `init` and `undo`; `.git` is never allowed. `arrives` allows names that are
    no UTF-8, which a file from an older system may have; nobody gives a note such a name here.
    """
    if path.startswith("~") or "\\" in path or ":" in path.split("/")[0][1:2]:
        raise BadPath(
            "{path} is not a path inside the vault", hint="give it relative to the vault, with /", path=_safe(path)
        )
    closed = {"Cc"} if arrives else {"Cc", "Cs"}
    for part in check_inside(path, system=system).split("/"):
        if not part.isprintable() and any(unicodedata.category(c) in closed for c in part):
            raise BadPath("{path} has control characters in it", hint=_OTHER_NAME, path=_safe(path))
        if not _folded(part):
            raise BadPath("{path} has a name of nothing but dots and spaces", hint=_OTHER_NAME, path=_safe(path))
    return path


def check_inside(path: str, *, system: bool = True) -> str:
    """Return `path` if a file of this name may be read in the vault; raises `BadPath` otherwise.

    A name that `check` refuses for a new note, since other systems cannot have it, may be that of a note of the
    person's: `Q: tea.md`. `system` as in `check`.
    """
    if not path or len(path.encode("utf-8", "surrogatepass")) > _PATH_BYTES:
        raise BadPath("a note's path must have between 1 and 3,000 bytes", hint=_OTHER_NAME)
    if path.startswith("/"):
        raise BadPath(
            "{path} is not a path inside the vault", hint="give it relative to the vault, with /", path=_safe(path)
        )
    for part in path.split("/"):
        _check_name(part, path, system)
    return path


def _check_name(name: str, path: str, system: bool) -> None:
    if name in {"", ".", ".."}:
        raise BadPath(
            "{path} leaves the vault or is not plain",
            hint="give it relative to the vault, with /",
            path=_safe(path),
        )
    if len(name.encode("utf-8", "surrogatepass")) > _NAME_BYTES:
        raise BadPath("a name in {path} is longer than 255 bytes", hint=_OTHER_NAME, path=_safe(path))
    if not name.isprintable() and any(c == "\0" or _is_no_text(c) for c in name):
        raise BadPath("{path} has control characters in it", hint=_OTHER_NAME, path=_safe(path))
    plain = _folded(name)
    if plain == ".git" or plain.startswith(("git~", ".git~")):
        raise BadPath("{path} belongs to git", hint=_OTHER_NAME, path=_safe(path))
    if name.startswith(TEMPORARY):
        raise BadPath("{path} is a name for temporary files", hint=_OTHER_NAME, path=_safe(path))
    if not system and plain in RESERVED:
        raise BadPath(
            "{path} is not for notes: it can change how programs behave",
            hint="edit it yourself if you mean to",
            path=_safe(path),
        )


def _is_no_text(character: str) -> bool:
    """True for half of a character that is no byte of a file's name either: names need not be UTF-8 (`os.fsdecode`)."""
    return unicodedata.category(character) == "Cs" and not "\udc80" <= character <= "\udcff"


def _folded(name: str) -> str:
    """The name as the most tolerant file system reads it: no case, invisible characters, final dots or streams."""
    visible = name
    if not name.isascii():
        visible = "".join(c for c in unicodedata.normalize("NFKC", name) if unicodedata.category(c) != "Cf")
    plain = visible.casefold().rstrip(". ")
    return plain.partition(":")[0].rstrip(". ") or plain


def _safe(path: str) -> str:
    return ascii(path) if len(path) < 200 else ascii(path[:200]) + "…"


def is_temporary(path: str) -> bool:
    """True if the path is that of a temporary file of this program."""
    return path.rpartition("/")[2].startswith(TEMPORARY)


def is_note(path: str) -> bool:
    """True if the file is a note: Markdown, and not inside a dot folder."""
    return path.endswith(".md") and not path.startswith(".") and "/." not in path
