"""The machine's own files are their owner's alone: folders 0700 and files 0600, whatever the umask.

What is cached, logged or kept as state repeats what stands in the vault, which may be closed to others. Libraries write
some files by themselves; the folder around them keeps those private.
"""

import os
from pathlib import Path

FOLDER, FILE = 0o700, 0o600
_OTHERS = 0o077


def make_folder(path: Path) -> None:
    """Make a folder, and every missing one above it, for its owner alone. One that is there keeps its mode."""
    if path.is_dir():
        return
    make_folder(path.parent)
    path.mkdir(FOLDER, exist_ok=True)
    path.chmod(FOLDER)  # a umask can only take away


def own_folder(path: Path) -> None:
    """As `make_folder`; and take group's and others' access from a folder that is there. Where only its owner may do
    that, it stays as it is."""
    try:
        if path.stat().st_mode & _OTHERS:
            path.chmod(FOLDER)
    except FileNotFoundError:
        make_folder(path)
    except OSError:
        return


def own_files(folder: Path) -> None:
    """Take group's and others' access from the files right in a folder, which a library has written."""
    with os.scandir(folder) as found:
        for each in found:
            if each.is_file(follow_symlinks=False) and each.stat(follow_symlinks=False).st_mode & _OTHERS:
                os.chmod(each.path, FILE)  # noqa: PTH101 - an entry has its path as text


def touch(path: Path) -> None:
    """Make an empty file that a library will write to, if there is none."""
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, FILE))


def clear_way(path: Path) -> None:
    """Move a folder that lies where one of our files belongs aside, under a name that ends in `.damaged`."""
    if path.is_dir() and not path.is_symlink():
        path.rename(path.with_name(f"{path.name}.{os.getpid()}-{os.urandom(3).hex()}.damaged"))


def write(path: Path, data: bytes) -> None:
    """Write a file whole, in place; it may be half written after a crash."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, FILE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def replace(path: Path, text: str) -> None:
    """Put a file in the place of another at once, without waiting for the disk. What is not text is written as `?`."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    write(draft, text.encode("utf-8", "replace"))
    clear_way(path)
    draft.replace(path)
