"""Writes of small files outside the vault that must survive a crash: atomic, and flushed when the call returns."""

import os
from pathlib import Path

from agent.config.private import clear_way, make_folder


def append(path: Path, text: str) -> None:
    """Add text at the end of a file, which is created if it is missing; readable by its owner only."""
    make_folder(path.parent)
    clear_way(path)
    is_new = not path.exists()
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "ab") as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        os.fsync(descriptor)
    if is_new:
        flush_folder(path.parent)


def replace(path: Path, text: str) -> None:
    """Write a whole file; readable by its owner only."""
    make_folder(path.parent)
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode("utf-8", "replace"))
        file.flush()
        os.fsync(descriptor)
    clear_way(path)
    draft.replace(path)
    flush_folder(path.parent)


def flush_folder(folder: Path) -> None:
    """Flush a folder to disk, so that new names in it survive a crash."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
