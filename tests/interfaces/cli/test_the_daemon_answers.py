"""The daemon answers a command as the command itself would, and whatever keeps it from that is no error."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.daemon import Daemon
from agent.interfaces.cli import entry
from agent.interfaces.cli.main import main
from agent.interfaces.cli.served import answering, own_routes
from agent.interfaces.http.door.browsers import load_token, token_file
from agent.interfaces.http.serving import doors_of
from agent.workspace.daemon_socket import bindable, socket_path
from tests.daemon.house import furnish
from tests.vaults import git, make_vault

NOTES = {
    "green.md": "# Green tea\n\nsencha leaves, \x1b[31mred\u202e and the key sk-hidden-0123456789\n",
    "deep/black.md": "# Black tea\n\nassam leaves\n",
    "milk.md": "---\nid: 01HZZZZZZZ0000000000000001\n---\n# Milk\n\noats for tea\n",
}
SAME = [
    ["search", "tea"],
    ["search", "tea", "--json"],
    ["--json", "search", "tea leaves", "-n", "1", "--passages", "--explain"],
    ["search", "nothing-like-this", "--limit=3"],
    ["search", "tea", "--explain"],
    ["search", "tea", "-n", "many"],
    ["search"],
    ["search", "after:someday tea"],
    ["search", "after:someday tea", "--json"],
    ["recall", "tea", "--all"],
    ["recall", "tea", "--json", "-n", "2"],
    ["recall", " "],
    ["status", "--json"],
    ["status"],
    ["status", "--notes"],
    ["remember", " "],
]
OTHERWISE = [
    ["search", "tea", "--open", "1"],
    ["search", "tea", "--as-of", "HEAD"],
    ["search", "--queries", "file"],
    ["search", "--help"],
    ["remember", "-"],
    ["recall", "tea", "--as", "anna"],
    ["log"],
    ["search", "-n5", "tea"],
    ["search", "--", "tea"],
    [],
    ["--version"],
]
MOVING = re.compile(r'"took_ms": [0-9.]+|, \d+ ms$|"(?:at|since|seen|time|turn|now)": [^,}]+|\d+ s ago', re.MULTILINE)


@dataclass
class House:
    root: Path

    def ask(self, *args: str, **environ: str) -> Mapping[str, object] | None:
        return entry.ask_daemon(["--vault", str(self.root), *args], {**os.environ, **environ})


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with made(tmp_path_factory.mktemp("served")) as found:
        yield found


@contextmanager
def made(folder: Path) -> Iterator[House]:
    """A daemon in this process that has stopped looking, so that nothing changes while it answers."""
    with pytest.MonkeyPatch.context() as patch:
        furnish(folder / "home", patch.setenv)
        patch.setenv("SOME_API_KEY", "sk-hidden-0123456789")
        workspace = open_workspace(make_vault(folder, NOTES).place.root)
        with (
            Daemon(workspace).live() as live,
            doors_of(live, own_routes(live)),
            answering(workspace),
        ):
            for _ in range(5):
                live.turn(0.1)
            yield House(workspace.vault.place.root)


@pytest.mark.parametrize("args", SAME, ids=" ".join)
def test_the_answer_is_that_of_the_command(house: House, args: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    answer = house.ask(*args)
    code = main(["--vault", str(house.root), *args])
    printed = capfd.readouterr()
    assert answer is not None
    there = {"out": answer["out"], "err": answer["err"], "code": answer["code"]}
    here = {"out": printed.out, "err": printed.err, "code": code}
    assert moved(there) == moved(here)
    assert "\x1b" not in str(answer["out"]) and "sk-hidden" not in str(answer["out"])


@pytest.mark.parametrize("args", [["search", "tea"], ["recall", "tea"], ["status"], ["remember", "Zoe likes oolong"]])
def test_it_answers_for_a_terminal(house: House, args: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(entry, "_terminal", lambda stream: [60, 20])
    answer = house.ask(*args)
    assert answer is not None and answer["code"] == 0 and str(answer["out"]).strip()


def moved(answer: Mapping[str, object]) -> Mapping[str, object]:
    """The answer without the times in it."""
    return {name: MOVING.sub("", value) if isinstance(value, str) else value for name, value in answer.items()}


@pytest.mark.parametrize("args", OTHERWISE, ids=" ".join)
def test_what_needs_this_process_is_not_asked(house: House, args: list[str]) -> None:
    assert house.ask(*args) is None


@pytest.mark.parametrize("named", [["--vault", ""], ["--vault="], ["--vault", " "]])
def test_a_vault_without_a_name_is_not_the_one_at_hand(
    house: House, named: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(house.root)
    assert entry.ask_daemon(["search", "tea"], os.environ) is not None
    assert entry.ask_daemon([*named, "search", "tea"], os.environ) is None


def test_a_memory_is_written_as_the_command_writes_it(house: House) -> None:
    assert main(["--vault", str(house.root), "remember", "Ben likes oolong"]) == 0
    own = git(house.root, "log", "-1", "--format=%B")
    answer = house.ask("remember", "Anna likes oolong", "-k", "tea")
    assert answer is not None and answer["code"] == 0
    assert git(house.root, "log", "-1", "--format=%B") == own.replace("Ben", "Anna")
    again = house.ask("remember", "Anna likes oolong")
    assert again is not None and "remembered already" in str(again["out"])


def test_who_would_answer_otherwise_is_not_asked(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    assert house.ask("search", "tea") is not None
    assert house.ask("search", "tea", VAULT_AGENT_INDEX__KEYWORD="whoosh") is None
    assert house.ask("search", "tea", OTHER_API_KEY="sk-another-0123456789") is None
    assert house.ask("search", "tea", TZ="Asia/Tokyo") is None
    assert house.ask("search", "tea", VAULT_AGENT_HOME=str(house.root)) is None
    file = house.root / "vault-agent.yaml"
    before, then = file.read_bytes(), file.stat().st_mtime_ns
    file.write_bytes(before + b"\n# changed\n")
    assert house.ask("search", "tea") is None
    file.write_bytes(before)
    os.utime(file, ns=(then, then))
    monkeypatch.setattr(entry, "PROTOCOL", entry.PROTOCOL + 1)
    assert house.ask("search", "tea") is None


def test_the_language_is_that_of_the_caller(house: House) -> None:
    chinese = house.ask("search", "nothing-like-this", LANG="zh_CN.UTF-8", VAULT_AGENT_VAULT__LANGUAGE="zh")
    assert chinese is None, "the setting differs from the daemon's"
    here, there = house.ask("search", "tea"), house.ask("search", "tea", LC_ALL="zh_CN.UTF-8")
    assert here is not None and "hybrid" in str(here["out"])
    assert there is not None and "混合" in str(there["out"])


def test_a_note_is_found_a_second_after_it_was_saved(tmp_path: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        furnish(tmp_path / "home", patch.setenv)
        workspace = open_workspace(make_vault(tmp_path, NOTES).place.root)
        with Daemon(workspace).live() as live, doors_of(live, own_routes(live)), answering(workspace):
            house = House(workspace.vault.place.root)
            assert (
                "fenugreek" not in str((house.ask("search", "fenugreek", "--json") or {})["out"]).partition("hits")[2]
            )
            (house.root / "new.md").write_text("# New\n\nfenugreek\n")
            for _ in range(10):
                live.turn(0.1)
            assert "new.md" in str((house.ask("search", "fenugreek", "--json") or {})["out"])


def test_many_ask_at_once(house: House) -> None:
    wanted = moved(house.ask("search", "tea", "--json") or {})
    found: list[Mapping[str, object]] = []

    def ask() -> None:
        for _ in range(10):
            found.append(moved(house.ask("search", "tea", "--json") or {}))

    threads = [threading.Thread(target=ask) for _ in range(6)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert len(found) == 60 and all(each == wanted for each in found)


@contextmanager
def pretending(root: Path, answer: bytes | None) -> Iterator[None]:
    """A socket in the daemon's place that gives this answer to everyone; None: it never answers."""
    workspace = open_workspace(root)
    load_token(workspace)
    path = socket_path(workspace)
    path.unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening, answering(workspace):
        with bindable(path) as name:
            listening.bind(name)
        listening.listen()
        over = threading.Event()

        def serve() -> None:
            with suppress(OSError):  # nobody may come, or leave before the answer
                connection, _ = listening.accept()
                with connection:
                    connection.recv(100_000)
                    if answer is None:
                        over.wait(30)
                    else:
                        connection.sendall(answer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            with suppress(OSError):
                listening.shutdown(socket.SHUT_RDWR)
            thread.join(5)


BROKEN = [
    b"",
    b"HTTP/1.1 200 OK\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\n{}",
    b'HTTP/1.1 200 OK\r\n\r\n{"out": 1, "err": "", "code": 0}',
    b'HTTP/1.1 200 OK\r\n\r\n{"out": "cut of',
    b'HTTP/1.1 200 OK\r\n\r\n["out"]',
    b'HTTP/1.1 409 Conflict\r\n\r\n{"out": "", "err": "", "code": 0}',
    b"\xff\xfe",
]


@pytest.mark.parametrize("answer", [*BROKEN, None])
def test_a_daemon_that_answers_badly_is_done_without(
    root: Path, answer: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(entry.SERVED, "search", (0.2, entry.SERVED["search"][1]))
    with pretending(root, answer):
        assert House(root).ask("search", "tea") is None


def test_without_a_daemon_the_command_answers(root: Path, tmp_path: Path) -> None:
    run = [sys.executable, "-m", "agent", "--vault", str(root), "search", "tea", "--json"]
    here = json.loads(subprocess.run(run, capture_output=True, text=True, check=True).stdout)
    assert here["ok"] and House(root).ask("search", "tea") is None
    with pretending(root, b""):
        pass  # a daemon that was killed leaves its socket, and here its pointer too
    workspace = open_workspace(root)
    with answering(workspace):
        token_file(workspace).unlink()
        again = subprocess.run(run, capture_output=True, text=True, check=True)
    assert json.loads(again.stdout)["hits"] == here["hits"] and again.stderr == ""


def test_the_way_to_the_daemon_loads_next_to_nothing(house: House) -> None:
    code = (
        "import sys, os; from agent.interfaces.cli import entry;"
        f"found = entry.ask_daemon(['--vault', {str(house.root)!r}, 'search', 'tea'], os.environ);"
        "print(found is not None, sorted(each for each in ('click', 'pathlib', 'dataclasses', 'typing_extensions',"
        "'numpy', 'yaml', 'http.client', 'asyncio', 'inspect', 'agent.errors', 'agent.texts') if each in sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", code], env=dict(os.environ), capture_output=True, text=True, check=True, cwd=HERE
    )
    assert done.stdout == "True []\n"


HERE = Path(__file__).parents[3]
