"""Forgetting what only the history still has, after an earlier forgetting or a person's own deletion.

A plain `forget`, and a crash between the two steps of `forget --purge`, leave the same state: a commit that deleted the
note and all that said the same, and took lines out of others. Those are the words that are looked for in the history.
"""

import re
from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from pathlib import PurePosixPath

from agent.errors import NoteGone, UserError
from agent.markdown.note import Note
from agent.memory.entry import parse_entry
from agent.memory.forgetting.entry_text import persons_words
from agent.memory.forgetting.forget import ignore, plan_for
from agent.memory.forgetting.forgotten_statements import forgotten_statements
from agent.memory.forgetting.places import Forgetting, Report, find_places
from agent.memory.forgetting.tombstones import SENTENCE
from agent.texts import Language, text
from agent.vault.change import FORGET, Kind
from agent.vault.folders import FORGOTTEN, AgentFolder
from agent.vault.history.commit_index import id_of, load_index, needle
from agent.vault.history.commits import Commit, read_commits
from agent.vault.history.find import commits
from agent.vault.history.versions import commits_of_path, versions
from agent.vault.store import Vault

_END = len("-123456.md")
"""The characters at the end of a name that come from the note's id."""
_LOOKED_AT = 200
"""The newest commits of the note among which its last version and earlier forgettings are searched."""


def is_in_history(vault: Vault, path: str, revision: str = "HEAD") -> bool:
    """True if a commit of the revision's history has changed the path."""
    return bool(commits_of_path(vault, path, revision, limit=1))


def plan_past(vault: Vault, path: str, language: Language, report: Report = ignore) -> Forgetting:
    """The plan for forgetting a note that only the history has. Raises `NoteGone` if the history does not have it.

    Raises `UserError` if the last commit still has it, because the person deleted it without a commit.
    """
    names = vault.home.with_archived(path)  # the upkeep may have archived it first
    ids = list(dict.fromkeys(oid for name in names for oid in commits_of_path(vault, name, limit=_LOOKED_AT)))
    if not ids:
        raise NoteGone(
            "neither the vault nor its history has {path}", hint="vault-agent log lists what was there", path=path
        )
    for name in names:
        if vault.read_at("HEAD", name) is not None:
            raise UserError(
                "the last commit still has {name}", hint="vault-agent commit; then forget that path again", name=name
            )
    asked = [(oid + end, name) for oid in ids for end in ("", "^") for name in names]
    data = next((each.data for each in versions(vault, asked) if each is not None), None)
    found = Forgetting() if data is None else plan_for(vault, path, data, language, report)
    earlier = (commit for oid in ids for commit in commits(vault, revision=oid, limit=1) if commit.tool == FORGET)
    past = {*names} | {name for commit in earlier for name in _taken(commit, vault.home) if vault.read(name) is None}
    gone = tuple((name, before) for name, before in found.gone if name not in past)
    return replace(found, gone=gone, past=(path, *sorted(past - {*names})))


def forgotten_since(vault: Vault, head: str) -> Commit | None:
    """The last commit after `head` that forgot something."""
    rows = takewhile(lambda row: id_of(row) != head, load_index(vault).rows)
    possible = [id_of(row) for row in rows if needle(FORGET) in row]
    return next((commit for commit in read_commits(vault, possible) if commit.tool == FORGET), None)


def plan_of(vault: Vault, commit: Commit, language: Language) -> Forgetting:
    """The plan for taking out of the history what this forgetting has taken out of the notes."""
    taken = sorted(_taken(commit, vault.home))
    texts = [_text_of(each.data) for each in versions(vault, [(f"{commit.id}^", path) for path in taken]) if each]
    edited = {each.path: each.path for each in commit.files if each.kind is Kind.EDITED} | _moved(commit, vault.home)
    before = versions(vault, [(f"{commit.id}^", path) for path in edited])
    after = versions(vault, [(commit.id, path) for path in edited.values()])
    mark = text("forgetting.mark", language)
    for one, other in zip(before, after, strict=True):
        texts += _lost(one.data, other.data, mark) if one and other else ()
    found = find_places(vault, forgotten_statements(texts, (), mark), {}, ignore)
    return replace(found, past=tuple(path for path in taken if vault.read(path) is None))


def _text_of(data: bytes) -> str:
    entry = parse_entry(data)
    return Note.parse(data).body if entry is None else persons_words(entry)


def _lost(before: bytes, after: bytes, mark: str) -> Iterator[str]:
    """The words that a note has lost: those for which a mark stands, or sentences that are gone, not their rows."""
    old, new = (data.decode("utf-8", "surrogateescape").splitlines() for data in (before, after))
    if len(old) != len(new):
        stay, text = set(new), "\n".join(new)
        sentences = (sentence for row in old if row not in stay for sentence in SENTENCE.findall(row))
        yield from (sentence for sentence in sentences if sentence.strip("; ") not in text)
        return
    for row, left in zip(old, new, strict=True):
        if row != left and (found := re.fullmatch("(.+?)".join(map(re.escape, left.split(mark))), row)):
            yield from found.groups()


def _taken(commit: Commit, home: AgentFolder) -> set[str]:
    """The notes that a forgetting deleted."""
    return _left(commit, home) - _moved(commit, home).keys()


def _moved(commit: Commit, home: AgentFolder) -> dict[str, str]:
    """The notes that a forgetting gave another name, old path to new: the end of the name is the same."""
    new = [each.path for each in commit.files if each.kind in {Kind.CREATED, Kind.RENAMED}]
    pairs = ((old, path) for old in _left(commit, home) for path in new if path[-_END:] == old[-_END:])
    return {old: path for old, path in pairs if PurePosixPath(old).parent == PurePosixPath(path).parent}


def _left(commit: Commit, home: AgentFolder) -> set[str]:
    """The paths that are there no more; git may report one of them as renamed to the tombstone."""
    names = {each.path if each.kind is Kind.DELETED else each.old_path for each in commit.files}
    there = {each.path for each in commit.files if each.kind in {Kind.EDITED, Kind.CREATED}}
    return {name for name in names - there if name is not None and not home.holds(name, FORGOTTEN)}
