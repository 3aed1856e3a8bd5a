"""Checks of the staged files, read from git's index: unreadable frontmatter, and secrets.

Only what would do harm in a commit stops it: a secret, and the marks of a merge in a header. A header that cannot be
read for another reason is the person's own text, which is committed. The working tree is not read, because the commit
would contain the staged version.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from agent.dataclass import dataclass
from agent.markdown.note import Note
from agent.texts import Sentence
from agent.vault import secrets
from agent.vault.note_templates import NoteTemplates, load_note_templates
from agent.vault.store import Vault
from agent.vault.worktree.paths import is_note

_BINARY_LOOK = 8000
_LARGEST = 5 << 20
_AT_ONCE = 200
_MERGING = re.compile(
    rb"\A(?:\xef\xbb\xbf)?---[ \t]*\r?\n(?:(?!---|\.\.\.).*\n)*?<<<<<<< .*\n(?:.*\n)*?=======\r?\n(?:.*\n)*?>>>>>>> "
)
"""A header in which the marks of a merge begin."""


@dataclass(frozen=True, slots=True)
class StagedProblem:
    """What is wrong in a file: its path in the vault, the line from 1, and the reason. Never a secret's text.

    `stops`: the file is not to be committed so.
    """

    path: str
    line: int
    why: Sentence
    is_secret: bool = False
    stops: bool = True

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.why}"


def problems(vault: Vault, index: Path | None = None) -> list[StagedProblem]:
    """The problems of the vault's staged files; `index` is an index file other than the repository's own.

    Files over 5 MB and binary files are not searched.
    """
    entries, templates = list(_changed(vault, index)), load_note_templates(vault)
    found: list[StagedProblem] = []
    for start in range(0, len(entries), _AT_ONCE):
        part = entries[start : start + _AT_ONCE]
        small = vault.git.small_blobs((oid for _, oid in part), _LARGEST)
        for path, oid in part:
            if oid in small:
                found += _judge(path, small[oid], templates)
    return found


def _changed(vault: Vault, index: Path | None) -> Iterator[tuple[str, str]]:
    """Path and blob of every staged file that is new or changed; links and submodules are left out.

    The two lists are compared here, because `git diff-index` would fail at a submodule with invalid settings.
    """
    git, head, prefix = vault.git, vault.head, vault.place.prefix
    committed = set(_rows(git.run("ls-tree", "-r", "-z", "--full-tree", head))) if head else set[tuple[str, str]]()
    for path, oid in _rows(git.run("ls-files", "-z", "--stage", index=index)):
        if path.startswith(prefix) and (path, oid) not in committed:
            yield path.removeprefix(prefix), oid


def _rows(listed: bytes) -> Iterator[tuple[str, str]]:
    """Path and blob of the regular files listed by `ls-tree` (mode, kind, id) or `ls-files` (mode, id, stage)."""
    for row in listed.decode("utf-8", "surrogateescape").split("\0"):
        facts, _, path = row.partition("\t")
        words = facts.split(" ")
        if words[0].startswith("100"):
            yield path, words[2] if words[1] == "blob" else words[1]


def _judge(path: str, data: bytes, templates: NoteTemplates) -> Iterator[StagedProblem]:
    if is_note(path) and (problem := Note.parse(data).problem) is not None:
        merging = _MERGING.search(data) is not None
        if merging or not templates.has(path, data):
            why = Sentence("the header cannot be read: {problem}", problem=problem)
            yield StagedProblem(path, problem.line, why, stops=merging)
    if b"\0" in data[:_BINARY_LOOK]:
        return
    for finding in secrets.find(data.decode("utf-8", "replace")):
        yield StagedProblem(
            path,
            finding.line,
            Sentence("this looks like a secret ({kind})", kind=Sentence(finding.kind)),
            is_secret=True,
        )
