"""An undo as a document for JSON, the same for every interface."""

from collections.abc import Mapping

from agent.vault.history.undo import Undone


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
