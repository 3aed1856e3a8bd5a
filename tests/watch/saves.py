"""How programs save a file, as the system calls that they make; each `yield` is a moment in which somebody may look."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

Steps = Iterator[None]


def _put(path: Path, data: bytes, flags: int = os.O_CREAT | os.O_TRUNC) -> Steps:
    """Open, write in two pieces, close."""
    descriptor = os.open(path, os.O_WRONLY | flags, 0o644)
    yield
    os.write(descriptor, data[: len(data) // 2])
    yield
    os.write(descriptor, data[len(data) // 2 :])
    os.close(descriptor)
    yield


def _beside(path: Path, name: str) -> Path:
    return path.with_name(name)


def in_place(path: Path, data: bytes) -> Steps:
    """VS Code, Obsidian, nano, vim's `nowritebackup`: empty it and write."""
    yield from _put(path, data)


def obsidian(path: Path, data: bytes) -> Steps:
    """The note, and the workspace that goes with it."""
    yield from _put(path, data)
    folder = path.parent / ".obsidian"
    folder.mkdir(exist_ok=True)
    yield from _put(folder / "workspace.json", data)


def vs_code_atomic(path: Path, data: bytes) -> Steps:
    draft = _beside(path, path.name + ".vsctmp")
    yield from _put(draft, data)
    draft.rename(path)
    yield


def _vim_probe(path: Path) -> Steps:
    _beside(path, f".{path.name}.swp").write_bytes(b"b0VIM")
    probe = _beside(path, "4913")
    yield from _put(probe, b"", os.O_CREAT | os.O_EXCL)
    probe.unlink()
    yield


def vim_copy(path: Path, data: bytes) -> Steps:
    """`backupcopy=yes`: copy the old one aside, then write in place."""
    yield from _vim_probe(path)
    backup = _beside(path, path.name + "~")
    yield from _put(backup, path.read_bytes())
    yield from _put(path, data)
    backup.unlink()
    yield


def vim_rename(path: Path, data: bytes) -> Steps:
    """`backupcopy=no`: rename the old one aside, then write a new one."""
    yield from _vim_probe(path)
    backup = _beside(path, path.name + "~")
    path.rename(backup)
    yield
    yield from _put(path, data, os.O_CREAT | os.O_EXCL)
    backup.unlink()
    yield


def emacs(path: Path, data: bytes) -> Steps:
    """A lock that is a link, an auto-save, the old one renamed to a backup that stays."""
    lock, unsaved = _beside(path, f".#{path.name}"), _beside(path, f"#{path.name}#")
    lock.symlink_to("anna@desk.4711:1")
    yield from _put(unsaved, data)
    path.rename(_beside(path, path.name + "~"))
    yield
    yield from _put(path, data)
    lock.unlink()
    unsaved.unlink()
    yield


def nano_with_backup(path: Path, data: bytes) -> Steps:
    lock = _beside(path, f".{path.name}.swp")
    yield from _put(lock, b"b0nano")
    yield from _put(_beside(path, path.name + "~"), path.read_bytes())
    yield from _put(path, data)
    lock.unlink()
    yield


def jetbrains(path: Path, data: bytes) -> Steps:
    draft, old = _beside(path, path.name + "___jb_tmp___"), _beside(path, path.name + "___jb_old___")
    yield from _put(draft, data)
    path.rename(old)
    yield
    draft.rename(path)
    yield
    old.unlink()
    yield


def _renamed_into_place(path: Path, data: bytes, draft: str, modified: int | None = None) -> Steps:
    draft_path = _beside(path, draft)
    yield from _put(draft_path, data)
    if modified is not None:
        os.utime(draft_path, (modified, modified))
        yield
    draft_path.rename(path)
    yield


def sed(path: Path, data: bytes) -> Steps:
    yield from _renamed_into_place(path, data, "sedaB3xY9")


def rsync(path: Path, data: bytes) -> Steps:
    """The time stamp is the one from the other side."""
    yield from _renamed_into_place(path, data, f".{path.name}.Ab12Cd", modified=1_600_000_000)


def rsync_in_place(path: Path, data: bytes) -> Steps:
    yield from _put(path, data, os.O_CREAT)
    os.truncate(path, len(data))
    os.utime(path, (1_600_000_000, 1_600_000_000))
    yield


def syncthing(path: Path, data: bytes) -> Steps:
    yield from _renamed_into_place(path, data, f".syncthing.{path.name}.tmp", modified=1_600_000_000)


def gedit(path: Path, data: bytes) -> Steps:
    yield from _renamed_into_place(path, data, ".goutputstream-8XKQ61")


def git_checkout(path: Path, data: bytes) -> Steps:
    """git removes the old file and writes a new one."""
    path.unlink()
    yield
    yield from _put(path, data, os.O_CREAT | os.O_EXCL)


SAVES: dict[str, Callable[[Path, bytes], Steps]] = {
    each.__name__: each
    for each in (
        *(in_place, obsidian, vs_code_atomic, vim_copy, vim_rename, emacs, nano_with_backup, jetbrains),
        *(sed, rsync, rsync_in_place, syncthing, gedit, git_checkout),
    )
}
