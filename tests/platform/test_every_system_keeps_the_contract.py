"""What the program asks of a system holds on each: on this one, and on those that are made of it."""

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from agent.errors import NoteExists
from agent.platform.here import platform
from agent.platform.posix import UNKNOWN, Posix
from agent.vault.change import Stamp
from agent.workspace.daemon_socket import bindable
from tests.platform.systems import SYSTEMS, WindowsDisk, on
from tests.vaults import git, make_vault


@pytest.fixture(params=SYSTEMS, ids=lambda name: name.replace(" ", "-"))
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Posix:
    return on(monkeypatch, SYSTEMS[request.param]())


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[int]:
    (tmp_path / "one").write_text("1")
    (tmp_path / "two").write_text("2")
    opened = os.open(tmp_path, os.O_RDONLY)
    yield opened
    os.close(opened)


def test_an_exchange_is_whole_or_is_refused(system: Posix, folder: int, tmp_path: Path) -> None:
    swapped = system.exchange(folder, "one", "two")
    assert [(tmp_path / name).read_text() for name in ("one", "two")] == (["2", "1"] if swapped else ["1", "2"])
    if swapped:
        with pytest.raises(FileNotFoundError):
            system.exchange(folder, "one", "nowhere")


@pytest.mark.parametrize("linking", [True, False])
def test_a_new_name_overwrites_nothing(
    system: Posix, folder: int, tmp_path: Path, linking: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not linking:
        monkeypatch.setattr(os, "link", refuse_to_link)
    with pytest.raises(FileExistsError):
        system.rename_new(folder, "one", "two")
    system.rename_new(folder, "one", "three")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"two": "2", "three": "1"}


def refuse_to_link(*names: object, **folders: object) -> None:
    raise PermissionError(1, "a file of this disk has one name")


def test_a_lock_is_seen_by_others_and_ends_with_the_file(system: Posix, tmp_path: Path) -> None:
    first, second, third = (os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT) for _ in range(3))
    assert system.lock(first) and not system.lock(second) and not system.lock(third, shared=True)
    os.close(first)
    assert system.lock(second, shared=True) and system.lock(third, shared=True)
    os.close(second)
    os.close(third)


def test_what_is_flushed_is_there(system: Posix, folder: int, tmp_path: Path) -> None:
    system.flush(folder)
    with (tmp_path / "one").open("ab") as file:
        file.write(b"1")
        file.flush()
        system.flush(file.fileno())
    with pytest.raises(OSError):
        system.flush(9999)


def test_a_writer_is_seen_or_not_known(system: Posix, tmp_path: Path) -> None:
    (tmp_path / "note").write_text("x")
    with (tmp_path / "note").open("rb") as read:
        assert system.has_writer(read.fileno()) in (False, None)
        with (tmp_path / "note").open("ab"):
            assert system.has_writer(read.fileno()) in (True, None)


def test_a_process_is_known_by_its_start_and_ends_with_its_own(system: Posix) -> None:
    for said in (system.boot(), system.namespace(), system.started(os.getpid())):
        assert said and " " not in said
    assert system.started(0) == UNKNOWN
    with subprocess.Popen(
        [sys.executable, "-c", "import os, time; os.fork(); print(flush=True); time.sleep(60)"],
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        found = system.process(process.pid)
        assert found is not None and found[0] == os.getpid() and found[1][1] == "-c"
        system.kill_group(process.pid)
        process.stdout.read()  # its end: no process has the pipe any more
        assert process.wait() == -signal.SIGKILL
    system.kill_group(process.pid)
    assert system.process(process.pid) is None


def test_a_socket_is_reached_under_a_long_name(system: Posix, tmp_path: Path) -> None:
    place = tmp_path / ("folder with a long name " * 5) / "daemon.sock"
    place.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as server, socket.socket(socket.AF_UNIX) as client:
        with bindable(place) as name:
            server.bind(name)
        server.listen()
        with bindable(place) as name:
            client.connect(name)
    assert place.is_socket() and not Path(name).exists()


def test_a_vault_loses_nothing(system: Posix, tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "one\n", "b.md": "two\n"})
    with vault.transaction("three at once", Stamp("agent")) as change:
        change.edit("a.md", b"one\n", b"one more\n")
        change.create("c.md", b"three\n")
        change.move("b.md", "d.md")
    with pytest.raises(NoteExists), vault.transaction("over another", Stamp("agent")) as change:
        change.create("c.md", b"other\n")
    found = {path.name: path.read_text() for path in vault.place.root.glob("*.md")}
    assert found == {"a.md": "one more\n", "c.md": "three\n", "d.md": "two\n"}
    assert git(vault.place.root, "status", "--porcelain") == ""


def test_a_disk_of_windows_below_linux_cannot_exchange(monkeypatch: pytest.MonkeyPatch, folder: int) -> None:
    on(monkeypatch, SYSTEMS["Linux on a disk of Windows"]())
    assert WindowsDisk().renameat2() and not platform().exchange(folder, "one", "two")
    on(monkeypatch, SYSTEMS["Linux"]())
    assert platform().exchange(folder, "one", "two")
