"""Commits and undos as documents for JSON, the same for every interface."""

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from agent.vault.history.commits import Commit
from agent.vault.history.difference import FileDifference
from agent.vault.history.undo import Undone

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


def undone_document(result: Undone, dry_run: bool) -> Mapping[str, object]:
    """The result of an undo."""
    return {
        "commit": result.commit,
        "dry_run": dry_run,
        "queued": result.queued,
        "undone": list(result.undone),
        "partial": list(result.partial),
        "files": [{"kind": item.kind, "path": item.path, "old_path": item.old_path} for item in result.files],
        "kept": [{"path": word.about, "reason": word.reason} for word in result.kept],
        "refused": [{"path": word.about, "reason": word.reason} for word in result.refused],
        "skipped": [{"about": word.about, "reason": word.reason} for word in result.skipped],
        "conflicts": list(result.conflicts),
        "human_commits_kept": result.human_commits_kept,
    }
