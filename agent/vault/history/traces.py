"""What git has beside the current branch and the backups of purges: other references, staged text, loose objects."""

import os
from collections.abc import Iterator
from pathlib import Path

from agent.git.reference_logs import all_ids
from agent.git.repository import branch, common_folder
from agent.vault.history.holders import detached, stashed
from agent.vault.history.purge import is_backup
from agent.vault.store import Vault

_TOGETHER = 500


def messages(vault: Vault, *revisions: str) -> Iterator[tuple[str, str]]:
    """The commits of these revisions (as for `git log`), each with its message."""
    out = vault.git.run("log", "-z", "--format=%H%n%B", "--encoding=UTF-8", *revisions, "--", ok=(0, 128))
    for record in filter(None, out.decode("utf-8", "surrogateescape").split("\0")):
        oid, _, message = record.partition("\n")
        yield oid, message


def other_revisions(vault: Vault) -> dict[str, str]:
    """The references beside the branch and the backups, stashes and detached work trees: names and revisions."""
    current = branch(vault.place.gitdir)
    names = vault.git.run("for-each-ref", "--format=%(refname)").decode("utf-8", "surrogateescape").splitlines()
    found = {name: name for name in names if name != current and not is_backup(name)}
    return found | dict(stashed(vault.git)) | dict(detached(vault.git))


def staged(vault: Vault) -> Iterator[tuple[str, bytes]]:
    """The files that are staged and differ from the last commit, each with its staged bytes."""
    fields = iter(vault.git.fields("diff-index", "--cached", "--no-renames", "--no-abbrev", "-z", "HEAD", ok=(0, 128)))
    rows = [(path, row.split(" ")[3]) for row in fields if (path := next(fields, ""))]
    named = [(path, blob) for path, blob in rows if blob.strip("0")]
    yield from (
        (path, data)
        for (path, _), data in zip(named, vault.read_blobs([blob for _, blob in named]), strict=True)
        if data is not None
    )


def unreferenced(vault: Vault) -> Iterator[tuple[str, bytes]]:
    """The objects, by id, that neither a reference nor the index leads to."""
    every = all_ids(vault.git)
    reached = vault.git.run("rev-list", "--objects", "--no-object-names", "--all", "--indexed-objects")
    loose = sorted(every - set(reached.decode().split()))
    for start in range(0, len(loose), _TOGETHER):
        yield from ((each.oid, each.data) for each in vault.git.objects(loose[start : start + _TOGETHER]) if each)


def logged(vault: Vault) -> Iterator[bytes]:
    """The logs of HEAD and the branch."""
    yield from (log.read_bytes() for log in _logs(vault) if log.is_file())


def git_files(vault: Vault) -> Iterator[Path]:
    """The files of the repository that are no objects, without the logs of HEAD and the branch."""
    gitdir, logs = vault.place.gitdir, _logs(vault)
    for parent, folders, names in os.walk(gitdir):
        folders[:] = sorted(name for name in folders if name not in {"objects", "hooks"})
        yield from (path for name in sorted(names) if (path := Path(parent, name)) not in logs)


def _logs(vault: Vault) -> list[Path]:
    gitdir = vault.place.gitdir
    current = branch(gitdir)
    return [gitdir / "logs" / "HEAD", *([common_folder(gitdir) / "logs" / current] if current else [])]
