"""Commits as documents for JSON, the same for every interface."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from agent.vault.history.commits import Commit
from agent.vault.history.difference import FileDifference

ChangeLines: TypeAlias = Sequence[Sequence[str]]
"""For each file of a commit, the lines that describe its changes."""


def commit_document(commit: Commit, changes: ChangeLines) -> Mapping[str, object]:
    """A commit with the lines about each of its files."""
    return {
        "commit": commit.id,
        "when": commit.when.isoformat(),
        "actor": commit.actor,
        "author": commit.author,
        "claims": commit.claims or None,
        "subject": commit.subject,
        "run": commit.run or None,
        "tool": commit.tool or None,
        "session": commit.session or None,
        "undoes": list(commit.undoes),
        "files": [
            {"kind": change.kind, "path": change.path, "old_path": change.old_path, "changes": list(lines)}
            for change, lines in zip(commit.files, changes, strict=True)
        ],
    }


def difference_document(item: FileDifference) -> Mapping[str, object]:
    """A changed file with its patch."""
    return {
        "kind": item.change.kind,
        "path": item.change.path,
        "old_path": item.change.old_path,
        "changes": list(item.lines),
        "patch": item.patch.decode("utf-8", "replace"),
    }
