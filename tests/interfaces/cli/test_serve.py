"""`serve` opens a port, alone or beside a daemon, and closes it when it ends."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from agent.clock import SystemClock
from agent.texts import text
from tests import processes
from tests.daemon.house import furnish
from tests.interfaces.cli.conftest import Run
from tests.vaults import make_vault, write


@contextmanager
def started(*args: str, ends_by: signal.Signals = signal.SIGINT) -> Iterator["subprocess.Popen[str]"]:
    """A command as a process of its own, asked to end at the end of the block."""
    command = [sys.executable, "-m", "agent", *args]
    pipe = subprocess.PIPE
    with processes.started(command, stdout=pipe, stderr=pipe, text=True) as process:
        yield process
        assert processes.ended(process, ends_by) == 0


def test_it_is_the_daemon_with_a_port(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, {"green.md": "# Green tea\n"}).place.root
    with started("--vault", str(root), "serve", "--port", "0", "--json") as serve:
        opened = announced(serve)
        token = Path(opened["token_file"])
        assert {"url", "open", "token_file"} <= opened.keys()
        assert token.stat().st_mode & 0o777 == 0o600
        headers = {"Authorization": f"Bearer {token.read_text()}"}
        assert httpx.get(f"{opened['url']}api/v1/health", headers=headers).json()["ok"]
        assert httpx.get(opened["open"]).status_code == 200
        assert httpx.get(opened["open"]).status_code == 403
        with started("--vault", str(root), "serve", "--port", "0", "--json") as second:
            other = announced(second)
            assert other["token_file"] == opened["token_file"] and other["url"] != opened["url"]
            assert httpx.get(f"{other['url']}api/v1/health", headers=headers).json()["ok"]
        assert closed(other["url"])
        assert httpx.get(f"{opened['url']}api/v1/health", headers=headers).json()["ok"]
    assert closed(opened["url"])


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL])
def test_a_port_that_the_daemon_has_closed_is_told(
    ending: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, {"green.md": "# Green tea\n"}).place.root
    command = [sys.executable, "-m", "agent", "--vault", str(root), "serve", "--port", "0", "--json"]
    with processes.started(command, stdout=subprocess.PIPE, text=True) as daemon:
        announced(daemon)
        with processes.started(command, stdout=subprocess.PIPE, text=True) as beside:
            announced(beside)
            daemon.send_signal(ending)
            out, _ = beside.communicate(timeout=60)
    assert beside.returncode == 2
    assert json.loads(out)["error"]["message"] == "the daemon has ended, and closed the port"


def test_it_says_that_it_reads_the_notes_before_it_opens(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    furnish(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, {"green.md": "# Green tea\n"}).place.root
    with started("--vault", str(root), "serve", "--port", "0") as serve:
        assert serve.stderr is not None and serve.stdout is not None
        assert text("live.reading", "en") in serve.stderr.readline()
        assert serve.stdout.readline().startswith("http://127.0.0.1")


def test_the_link_is_no_argument_of_the_browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever lists the processes of this machine sees a file, which its owner alone may read, and not for long."""
    furnish(tmp_path / "home", monkeypatch.setenv)
    root = make_vault(tmp_path, {"green.md": "# Green tea\n"}).place.root
    for name in ("xdg-open", "open"):
        write(tmp_path / "bin" / name, f"#!/bin/sh\necho \"$@\" > '{tmp_path}/given'\n")
        (tmp_path / "bin" / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"), prepend=os.pathsep)
    with started("--vault", str(root), "serve", "--port", "0", "--open", "--json") as alone:
        opened = announced(alone)
        page = opening_page(tmp_path, opened["open"])
        assert httpx.get(opened["open"]).status_code == 200
        assert not page.exists(), "it is of no use any more"
        with started("--vault", str(root), "serve", "--port", "0", "--open", "--json") as beside:
            page = opening_page(tmp_path, announced(beside)["open"])
        assert not page.exists(), "the port is closed"


def opening_page(folder: Path, link: str) -> Path:
    """The page that the browser was started with, once it is."""
    given, clock = folder / "given", SystemClock()
    until = clock.monotonic() + 60
    while clock.monotonic() < until and not (given.exists() and given.read_text()):
        clock.sleep(0.05)
    argument = given.read_text().strip()
    given.unlink()
    assert link not in argument and link.rpartition("/")[2] not in argument
    page = Path(argument.removeprefix("file://"))
    assert page.stat().st_mode & 0o777 == 0o600 and page.parent.stat().st_mode & 0o777 == 0o700
    assert f"url={link}" in page.read_text()
    return page


def announced(process: "subprocess.Popen[str]") -> dict[str, str]:
    """The line that says where it listens."""
    assert process.stdout is not None
    found: dict[str, str] = json.loads(process.stdout.readline())
    return found


def closed(url: str) -> bool:
    """True once nobody listens there."""
    clock = SystemClock()
    until = clock.monotonic() + 60
    while clock.monotonic() < until:
        try:
            httpx.get(url)
        except httpx.TransportError:
            return True
        clock.sleep(0.05)
    return False


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["--listen", "0.0.0.0"], "only come in through TLS"),
        (["--listen", "0.0.0.0", "--proxy", "vault.example.org"], "is no origin"),
        (["--listen", "192.0.2.1", "--proxy", "http://vault.example.org"], "is no origin"),
        (["--certificate", "a.md"], "go together"),
        (["--listen", "0.0.0.0", "--certificate", "a.md", "--key", "b.md"], "name by which other machines"),
        (["--port", "70000"], "70000"),
    ],
)
def test_what_cannot_be_opened_is_said_before_anything_starts(run: Run, args: list[str], words: str) -> None:
    error = run("serve", *args, code=2)["error"]
    assert isinstance(error, dict) and words in error["message"]


def test_a_certificate_that_is_none_is_said(run: Run) -> None:
    error = run("serve", "--port", "0", "--certificate", "a.md", "--key", "b.md", code=2)["error"]
    assert isinstance(error, dict) and "certificate cannot be used" in error["message"]
