"""An index of HEAD's history: for each commit its parents, its time, its trailers and the paths it changed.

A walk over a long history takes git seconds; a search in the index takes milliseconds. The index only chooses commits:
what is shown or undone is read from git. It is one file outside the vault, with a checksum, and can be deleted at any
moment: a missing or damaged one is made anew. A commit never changes, so its row stays valid while HEAD moves.
"""

import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from agent.config import private
from agent.dataclass import dataclass
from agent.git.identities import RAW, git_time
from agent.git.repository import common_folder
from agent.vault.change import FileChange, Kind, parse_raw, parse_raw_lists
from agent.vault.store import Vault

HUMAN = "human"
"""The actor of a commit without trailers."""

_TRAILER = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*:(.*)")
_COMMIT_ID = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def is_commit_id(text: str) -> bool:
    """True if the text is a full commit id."""
    return _COMMIT_ID.fullmatch(text) is not None


def parse_message(message: str) -> tuple[str, str, list[tuple[str, str]]]:
    """A message as (subject, body, trailers with names in lower case).

    Trailers count only in a last paragraph that has nothing else, and never in the first paragraph.
    """
    paragraphs = [part for part in re.split(r"\n(?:[ \t]*\n)+", message.strip("\n")) if part.strip()]
    if not paragraphs:
        return "", "", []
    trailers = _trailers(paragraphs[-1]) if len(paragraphs) > 1 else []
    body = paragraphs[1:-1] if trailers else paragraphs[1:]
    return " ".join(paragraphs[0].split()), "\n\n".join(body), trailers


def _trailers(paragraph: str) -> list[tuple[str, str]]:
    found: list[tuple[str, str]] = []
    for line in paragraph.split("\n"):
        match = _TRAILER.fullmatch(line)
        if match:
            found.append((match[1].lower(), match[2].strip()))
        elif line[:1] in {" ", "\t"} and found:
            found[-1] = (found[-1][0], f"{found[-1][1]} {line.strip()}")
        elif not line.startswith("(cherry picked from commit "):
            return []
    return found


NAME = "history.index"
"""The file in the vault's private folder. It has paths, and no text of a note."""
_VERSION = "commit-index 1"
_SAVED_FROM = 200
"""New commits from which the file is written again: until then each process adds them itself."""
_TOGETHER = 5_000
"""Commits that one git process reads: bounds its time and the memory."""
_BLOB = 16
"""Hex digits of a blob id in the index: enough to tell which changes may be two halves of one move."""
_LONGEST = 200
"""Bytes of the first line, at most."""
_OTHER_SIDE, _UNDOES = ">", "^"
_FORMAT = "--format=" + "%x00".join(("%H", "%P", "%ad", "%B"))
_ESCAPED = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})
_UNESCAPED = {"\\\\": "\\", "\\t": "\t", "\\n": "\n", "\\r": "\r"}


@dataclass(frozen=True, slots=True)
class IndexedChange:
    """One changed path; `old_path` is set for a rename. `blob` is the start of the content's id, where a file began or
    ended."""

    kind: Kind
    path: str
    old_path: str | None
    blob: str


@dataclass(frozen=True, slots=True)
class IndexedCommit:
    """What the index has of one commit. The trailers are as written: whether they count, provenance knows.

    `sides` are the changes against each parent, the first parent first.
    """

    id: str
    parents: tuple[str, ...]
    seconds: int
    actor: str
    run: str
    tool: str
    undoes: tuple[str, ...]
    is_signed: bool
    sides: tuple[tuple[IndexedChange, ...], ...]


class CommitIndex:
    """The rows of all commits in HEAD's history, in the order of `git log --topo-order`, each with a line end."""

    def __init__(self, content: bytes = b"") -> None:
        self.content = content

    @cached_property
    def rows(self) -> list[bytes]:
        """The rows, without line ends."""
        return self.content.split(b"\n")[:-1]

    def first(self, count: int) -> list[bytes]:
        """The rows of the newest commits."""
        return self.content.split(b"\n", count)[:-1][:count]

    def undos(self) -> list[IndexedCommit]:
        """The commits that undo others, newest first."""
        return [commit for commit in self.having(field_start(_UNDOES)) if commit.undoes]

    def all(self) -> Iterator[IndexedCommit]:
        """All commits, newest first."""
        return map(parse_row, self.rows)

    def ids_having(self, *needles: bytes) -> Iterator[str]:
        """The ids of the commits whose rows have one of the needles, newest first."""
        scan = Scan(self.content, needles)
        while (row := scan.row()) is not None:
            yield id_of(row)

    def having(self, *needles: bytes) -> Iterator[IndexedCommit]:
        """The commits whose rows have one of the needles, newest first; needles do not span rows."""
        scan = Scan(self.content, needles)
        while (row := scan.row()) is not None:
            yield parse_row(row)


class Scan:
    """A search through the rows for several needles at once; further needles count for the rest."""

    def __init__(self, content: bytes, needles: Iterable[bytes]) -> None:
        self.content = content
        self.end = 0
        """The end of the last row that was found."""
        self._next = {each: self._find(each) for each in needles}

    def add(self, needle: bytes) -> None:
        """Also search for this, from here on."""
        self._next.setdefault(needle, self._find(needle))

    def row(self) -> bytes | None:
        """The next row that has a needle, without its line end; None at the end."""
        at = min(self._next.values(), default=len(self.content))
        if at >= len(self.content):
            return None
        start, self.end = self.content.rfind(b"\n", 0, at) + 1, self.content.index(b"\n", at) + 1
        for each, found in self._next.items():
            if found < self.end:
                self._next[each] = self._find(each)
        return self.content[start : self.end - 1]

    def _find(self, needle: bytes) -> int:
        found = self.content.find(needle, self.end)
        return found if found >= 0 else len(self.content)


def load_index(vault: Vault) -> CommitIndex:
    """The index of HEAD's present history, brought up to date; empty before the first commit."""
    head = vault.head
    if head is None:
        return CommitIndex()
    if not _is_whole(vault):
        return CommitIndex(_joined(_rows(vault, _order(vault, head))))
    file = vault.private_folder / NAME
    known, content = _load(file, head)
    if known == head:
        return CommitIndex(content)
    new = _on_top(vault, head, known) if known else None
    if new is not None:
        content = _joined(new) + content
    else:
        order, by_id = _order(vault, head), {id_of(row): row for row in content.split(b"\n")[:-1]}
        made = iter(_rows(vault, [commit for commit in order if commit not in by_id]))
        content = _joined(by_id[commit] if commit in by_id else next(made) for commit in order)
    if new is None or len(new) >= _SAVED_FROM:
        with suppress(OSError):  # a full disk only makes the next search slow
            private.replace_bytes(file, _first_line(head, content) + content)
    return CommitIndex(content)


def has_index(vault: Vault) -> bool:
    """True if there is a file, so that the index costs little."""
    return (vault.private_folder / NAME).is_file()


def drop_index(vault: Vault) -> None:
    """Delete the file: after a purge it would still name what is gone."""
    (vault.private_folder / NAME).unlink(missing_ok=True)


def parse_row(row: bytes) -> IndexedCommit:
    """The commit of a row."""
    fields = row[:-1].decode("utf-8", "surrogateescape").split("\t")
    commit, parents, seconds, actor, run, tool, undoes, signed, *rest = fields
    sides, at = list[tuple[IndexedChange, ...]](), list[IndexedChange]()
    for position in range(0, len(rest), 4):
        kind, path, old, blob = rest[position : position + 4]
        if kind == _OTHER_SIDE:
            sides.append(tuple(at))
            at = []
        else:
            at.append(IndexedChange(_KINDS[kind], _plain(path), _plain(old) if old else None, blob))
    sides.append(tuple(at))
    known = tuple(parents.split())
    return IndexedCommit(
        commit,
        known,
        int(seconds),
        _plain(actor) or HUMAN,
        _plain(run),
        _plain(tool),
        tuple(undoes.removeprefix(_UNDOES).split()),
        bool(signed),
        tuple(sides),
    )


def indexed(change: FileChange) -> IndexedChange:
    """What the index has of a change."""
    entry = change.after if change.kind is Kind.CREATED else change.before if change.kind is Kind.DELETED else None
    blob = f"#{entry.oid[:_BLOB]}" if entry is not None else ""
    return IndexedChange(change.kind, change.path, change.old_path, blob)


def seconds_of(row: bytes) -> int:
    """The time of a row's commit, in seconds since 1970, without parsing the rest."""
    return int(row.split(b"\t", 3)[2])


def id_of(row: bytes) -> str:
    """The id of a row's commit, without parsing the rest."""
    return row[: row.index(b"\t")].decode()


def needle(text: str) -> bytes:
    """The text as a whole field of a row."""
    return b"\t" + text.translate(_ESCAPED).encode("utf-8", "surrogateescape") + b"\t"


def field_start(text: str) -> bytes:
    """The text as the start of a field of a row."""
    return b"\t" + text.translate(_ESCAPED).encode("utf-8", "surrogateescape")


_LETTERS = {Kind.CREATED: "C", Kind.EDITED: "E", Kind.DELETED: "D", Kind.RENAMED: "R"}
_KINDS = {letter: kind for kind, letter in _LETTERS.items()}


def _plain(text: str) -> str:
    if "\\" not in text:
        return text
    found, position = list[str](), 0
    while position < len(text):
        pair = text[position : position + 2]
        found.append(_UNESCAPED.get(pair, text[position]))
        position += 2 if pair in _UNESCAPED else 1
    return "".join(found)


def _is_whole(vault: Vault) -> bool:
    """True if commits have the parents that they were made with: a shallow clone, and grafts, can change later."""
    common = common_folder(vault.place.gitdir)
    return not (common / "shallow").exists() and not (common / "info" / "grafts").exists()


def _load(file: Path, head: str) -> tuple[str, bytes]:
    """The commit that the file is about, and its rows; nothing if it is missing or damaged."""
    try:
        with file.open("rb") as opened:
            first = opened.readline(_LONGEST)
            content = opened.read()
        known = first.decode("ascii").rsplit(" ", 2)[1]
    except (OSError, ValueError, IndexError):
        return "", b""
    return (known, content) if len(known) == len(head) and first == _first_line(known, content) else ("", b"")


def _joined(rows: Iterable[bytes]) -> bytes:
    return b"".join(row + b"\n" for row in rows)


def _first_line(head: str, content: bytes) -> bytes:
    return f"{_VERSION} {head} {zlib.crc32(content, zlib.crc32(head.encode())):08x}\n".encode()


def _on_top(vault: Vault, head: str, known: str) -> list[bytes] | None:
    """The rows of the commits since `known`; None if they are not one line of commits on top of it."""
    command = ["rev-list", "--topo-order", "--parents", f"--max-count={_TOGETHER}", "--end-of-options", head]
    lines = vault.git.run(*command, f"^{known}", "--", ok=(0, 128)).decode().split("\n")[:-1]
    found = [line.split(" ") for line in lines]
    chain = [*found, [known]]
    if not found or any(row[1:] != [below[0]] for row, below in pairwise(chain)):
        return None
    return _rows(vault, [row[0] for row in found])


def _order(vault: Vault, head: str) -> list[str]:
    return vault.git.run("rev-list", "--topo-order", "--end-of-options", head, "--").decode().split()


def _rows(vault: Vault, commits: Sequence[str]) -> list[bytes]:
    """The rows of these commits, read from git."""
    parts = [commits[start : start + _TOGETHER] for start in range(0, len(commits), _TOGETHER)]
    return [row for part in parts for row in _read_rows(vault, _log(vault, part))]


def _log(vault: Vault, commits: Sequence[str]) -> bytes:
    """What git has of these commits."""
    options = ["--no-walk=unsorted", "--stdin", "--root", "--diff-merges=first-parent", "--raw", "--no-abbrev", "-M"]
    options += ["--no-relative", "--no-show-signature", "--encoding=UTF-8", RAW, _FORMAT]
    return vault.git.run("log", "-z", *options, stdin="".join(f"{commit}\n" for commit in commits).encode())


def _read_rows(vault: Vault, text: bytes) -> Iterator[bytes]:
    fields = text.decode("utf-8", "surrogateescape").split("\0")
    position, found = 0, list[tuple[Sequence[str], tuple[FileChange, ...]]]()
    while position + 4 <= len(fields):
        head = fields[position : position + 4]
        files, position = parse_raw(fields, position + 4, vault.place.prefix)
        found.append((head, files))
    pairs = [(head[0], parent) for head, _ in found for parent in head[1].split()[1:]]
    others = dict(zip(pairs, against(vault, pairs), strict=True))
    for (commit, parents, date, message), files in found:
        more = [(parent, others[commit, parent]) for parent in parents.split()[1:]]
        yield _row(commit, parents, date, message, files, more)


def against(vault: Vault, pairs: Sequence[tuple[str, str]]) -> list[tuple[FileChange, ...]]:
    """The changes of each commit against one of its parents, for (commit, parent), read by one process."""
    if not pairs:
        return []
    asked = "".join(f"{commit} {parent}\n" for commit, parent in pairs).encode()
    command = ["diff-tree", "--stdin", "--always", "-r", "-z", "-M", "--raw", "--no-abbrev", "--ignore-submodules=all"]
    fields = vault.git.run(*command, stdin=asked).decode("utf-8", "surrogateescape").split("\0")
    return list(parse_raw_lists(fields, vault.place.prefix))


def _row(
    commit: str,
    parents: str,
    date: str,
    message: str,
    files: Iterable[FileChange],
    more: Sequence[tuple[str, Iterable[FileChange]]],
) -> bytes:
    trailers = parse_message(message)[2] if "vault-" in message.lower() else []
    named = {name: value for name, value in reversed(trailers)}
    undoes = " ".join(value for name, value in trailers if name == "vault-undoes" and is_commit_id(value))
    actor, run, tool, *others = (named.get(f"vault-{name}", "") for name in ("actor", "run", "tool", "session", "call"))
    signed = bool((actor or HUMAN) != HUMAN or run or tool or undoes or any(others))
    fields = [commit, parents, str(int(git_time(date).timestamp()))]
    fields += [text.translate(_ESCAPED) for text in (actor, run, tool)]
    fields += [f"{_UNDOES}{undoes}" if undoes else "", "signed" if signed else ""]
    fields += [text for change in files for text in _change(change)]
    for parent, changes in more:
        fields += [_OTHER_SIDE, parent, "", ""]
        fields += [text for change in changes for text in _change(change)]
    return ("\t".join(fields) + "\t").encode("utf-8", "surrogateescape")


def _change(change: FileChange) -> tuple[str, str, str, str]:
    known = indexed(change)
    path, old = known.path.translate(_ESCAPED), (known.old_path or "").translate(_ESCAPED)
    return _LETTERS[known.kind], path, old, known.blob
