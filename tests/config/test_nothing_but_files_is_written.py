"""What the program writes are files: a device, a pipe or a socket in the place of one stays what it is.

A settings file that is a link to `/dev/null` is no wish to have `/dev/null` replaced by the settings.
"""

import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.config import durable, private
from agent.config.file import replace_file
from agent.config.secrets import save_key
from agent.errors import UserError
from agent.interfaces.mcp.install.installing import Edited
from agent.interfaces.mcp.install.installing import write as write_configuration

WRITERS: dict[str, Callable[[Path], object]] = {
    "private.write": lambda path: private.write(path, b"x"),
    "private.replace": lambda path: private.replace(path, "x"),
    "private.touch": private.touch,
    "durable.replace": lambda path: durable.replace(path, "x"),
    "durable.append": lambda path: durable.append(path, "x"),
    "replace_file": lambda path: replace_file(path, "x"),
    "save_key": lambda path: save_key(path.parent, path.name, "key"),
    "mcp install": lambda path: write_configuration(Edited(path, "", "x")),
}


def pipe(path: Path) -> None:
    os.mkfifo(path)


def listening(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(path))


def device(path: Path) -> None:
    try:
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    except PermissionError:
        pytest.skip("only root makes devices")


@pytest.mark.parametrize("writer", WRITERS)
@pytest.mark.parametrize("made", [pipe, listening, device])
@pytest.mark.parametrize("through_a_link", [False, True])
def test_what_is_no_file_stays(tmp_path: Path, writer: str, made: Callable[[Path], None], through_a_link: bool) -> None:
    (tmp_path / "x").mkdir(0o700)
    path = real = tmp_path / "x" / "f"
    if through_a_link:
        real = tmp_path / "real"
        path.symlink_to(real)
    made(real)
    before = real.stat()
    with pytest.raises(UserError, match="is not written to"):
        WRITERS[writer](path)
    now = real.stat()
    assert (now.st_mode, now.st_ino, path.is_symlink()) == (before.st_mode, before.st_ino, through_a_link)
    assert {each.name for each in path.parent.iterdir() if not each.name.endswith(".new")} == {"f"}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_file_is_written(tmp_path: Path, writer: str) -> None:
    (tmp_path / "x").mkdir(0o700)
    WRITERS[writer](tmp_path / "x" / "f")
    assert (tmp_path / "x" / "f").is_file()


def test_the_mode_of_what_is_no_folder_stays(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f", 0o600)
    (tmp_path / "f").chmod(0o666)
    private.own_folder(tmp_path / "f")
    assert (tmp_path / "f").stat().st_mode & 0o777 == 0o666
