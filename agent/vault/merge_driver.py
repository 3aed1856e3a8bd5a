"""git's merge driver for notes: merges three files by `markdown.merging`, and keeps what contradicts it in a copy.

git calls it for each note that both sides changed, in a merge, rebase, cherry-pick or stash, also where there is no
vault. The merged note never has markers; if a whole version must be kept, it becomes a new file beside the note, which
git shows as untracked. `merge_driver_setup` tells git of it.
"""

import hashlib
import os
from collections.abc import Iterator
from itertools import count
from pathlib import Path

from agent.clock import SystemClock
from agent.config.directories import VAULT_FILE
from agent.errors import BadNote, ConfigError, NoteExists, UserError
from agent.markdown.merging.notes import merge_notes
from agent.markdown.yaml_read import parse_header
from agent.vault.folders import AT_ROOT, AgentFolder, agent_folder, is_log
from agent.vault.worktree.files import Files
from agent.vault.worktree.paths import check
from agent.vault.write.resolve import conflict_copy_path, conflict_note, link_conflict

_MOST = 1 << 16
"""The most bytes of the vault's settings that are read."""


def merge_files(base: Path, ours: Path, theirs: Path, path: str, worktree: Path) -> str | None:
    """Write the merged note to `ours`; returns the path of the conflict copy in `worktree`, None if there is none.

    `path` is the note's, relative to the work tree; an empty `base` is none. Raises `UserError` where no copy can be
    written, with `ours` as it was.
    """
    prefix = _vault_of(path, worktree)
    note = path.removeprefix(prefix)
    old = base.read_bytes() or None
    merged = merge_notes(old, ours.read_bytes(), theirs.read_bytes(), is_log=is_log(note, _home(worktree / prefix)))
    if merged.other is None:
        ours.write_bytes(merged.data)
        return None
    copy = _keep(worktree, path, conflict_note(merged.other, note))
    ours.write_bytes(link_conflict(merged.data, copy.removeprefix(prefix)))
    return copy


def _vault_of(path: str, worktree: Path) -> str:
    """The folder of the nearest vault around a note, empty or ending in a slash; empty if there is no vault."""
    folders = path.split("/")[:-1]
    for depth in range(len(folders), 0, -1):
        if worktree.joinpath(*folders[:depth], VAULT_FILE).is_file():
            return "/".join(folders[:depth]) + "/"
    return ""


def _home(vault: Path) -> AgentFolder:
    """The agent's folder in a vault, by its settings; the root if they do not say it."""
    try:
        with (vault / VAULT_FILE).open("rb") as file:
            text = file.read(_MOST).decode()
        settings = {entry.key: entry.value for entry in parse_header(text, 1)}
        section = settings.get("vault")
        folder = section.get("folder") if isinstance(section, dict) else None
        return agent_folder(folder) if isinstance(folder, str) else AT_ROOT
    except (OSError, UnicodeDecodeError, BadNote, ConfigError):
        return AT_ROOT


def _keep(worktree: Path, path: str, data: bytes) -> str:
    """Write a conflict copy beside the note, once; returns its path. Its name depends on what it holds."""
    if not os.path.lexists(worktree / ".git"):
        raise UserError("{path}: there is no work tree for a conflict copy", hint="merge in a work tree", path=path)
    clock = SystemClock()
    files = Files(worktree, clock)
    for copy in _names(path, data):
        check(copy, system=True)
        token = f"vault-agent-merge.{clock.new_id()}"
        files.stage(copy, token, data, None)
        try:
            files.publish(copy, token)
        except NoteExists:
            files.discard(copy, token)
            if files.read(copy) != data:
                continue
        return copy
    raise AssertionError("there is always another name")


def _names(path: str, data: bytes) -> Iterator[str]:
    mark = hashlib.sha256(data).hexdigest()[:8]
    yield conflict_copy_path(path, mark)
    yield from (conflict_copy_path(path, f"{mark}-{number}") for number in count(2))
