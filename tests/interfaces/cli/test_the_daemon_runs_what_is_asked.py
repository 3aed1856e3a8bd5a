"""`ask` through the daemon prints what its own process would, and whatever keeps the daemon from that is no error."""

import json
import os
import re
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.background import asked_runs
from agent.clock import SystemClock
from agent.daemon import Daemon
from agent.interfaces.cli import ask_here, entry
from agent.interfaces.cli.main import main
from agent.interfaces.cli.served import answering, own_routes
from agent.interfaces.http.serving import doors_of
from agent.runs.registry import RunMark, run_registry
from tests.interfaces.cli.terminal import PATIENCE, terminal
from tests.stories.agents import NOTES, call, command, environment, script, settings
from tests.vaults import git, make_vault

KEY = "sk-hidden-0123456789"
READ, NOTE = call("vault_read", path="tea.md"), call("vault_append", path="log.md", text="tea")
APPROVE = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")
ASK = call("human_ask", question="Which tea?", options=["green", "black"])
AGAIN: list[object] = [call("vault_read", path="gone.md")] * 9
CASES: dict[str, tuple[list[object], list[list[str]]]] = {
    "an answer": (["It is **done**, \x1b[31mred\u202e."], [["ask", "how many?"]]),
    "tools and commits": ([READ, NOTE, "Done."], [["ask", "note it"], ["ask", "note it", "--json"]]),
    "nothing asked": ([], [["ask"], ["ask", "  ", "--json"], ["ask", "x", "--resume", "y"], ["ask", "--what"]]),
    "a failure": ([{"error": "permanent", "message": "no", "times": 0}], [["ask", "a"], ["--json", "ask", "a"]]),
    "one that passes": ([{"error": "retryable", "message": "no", "times": 0}], [["ask", "a"], ["ask", "a", "--json"]]),
    "a limit": (AGAIN, [["ask", "read it"], ["ask", "read it", "--json"]]),
    "an approval": ([APPROVE, "Done."], [["ask", "change"], ["ask", "change", "--json"]]),
    "a question": ([ASK, "Done."], [["ask", "which?"], ["ask", "which?", "--json"]]),
    "no session": (["Hm."], [["ask", "--session", "tea.md", "and?"], ["ask", "--resume", "tea.md", "--json"]]),
    "a guest": (["Hello."], [["ask", "hi", "--as", "anna", "--json"], ["ask", "hi", "--group", "g"]]),
    "a secret": ([f"The key is {KEY}."], [["ask", f"is it {KEY}?"], ["ask", "what?", "--json"]]),
    "a session that was silent": (["Hm."], [["ask", "--session", "SESSION", "and?"]]),
    "going on": ([APPROVE, "Done."], [["ask", "--resume", "WAITS"], ["ask", "--resume", "WAITS", "--json"]]),
}
MOVING = re.compile(
    r"\b(?:[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{40})\b|\b\d\d:\d\d\b|[ -](?:\d*|[0-9a-f]{8})(?=\.md\b)"
    r"|(?<=needs yes )\w+|(?<=needs no )\w+|(?<=needs answer )\w+"
)


@dataclass
class House:
    """A vault with a daemon in this process, whose model speaks from the file `said`."""

    root: Path
    said: Path
    own: Mapping[str, str]

    def waits(self) -> str:
        """The path of a session whose run waits for a yes."""
        script(self.said, APPROVE, "Done.")
        document = json.loads(subprocess.run(
            command(self.root, "ask", "change", "--json"), env=environment(self.own), capture_output=True, check=True
        ).stdout)  # fmt: skip
        return str(document["session"])


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with made(tmp_path_factory.mktemp("runs")) as found:
        yield found


@contextmanager
def made(folder: Path, **more: str) -> Iterator[House]:
    with pytest.MonkeyPatch.context() as patch, ExitStack() as stack:
        said = script(folder / "said.json", "Hm.")
        own = {**settings(folder, said), "VAULT_AGENT_RUN__STALE_HOURS": "0", "SOME_API_KEY": KEY, **more}
        for name, value in own.items():
            patch.setenv(name, value)
        workspace = open_workspace(make_vault(folder, NOTES).place.root)
        live = stack.enter_context(Daemon(workspace).live())
        stack.enter_context(doors_of(live, own_routes(live)))
        stack.enter_context(answering(workspace))
        for _ in range(5):
            live.turn(0.1)
        yield House(workspace.vault.place.root, said, own)


@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_that_of_the_command(
    house: House, name: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    replies, calls = CASES[name]
    places = {"WAITS": house.waits(), "SESSION": house.waits()} if name in {"going on", STALE} else {}
    for args in calls:
        words = ["--vault", str(house.root), *(places.get(each, each) for each in args)]
        script(house.said, *replies)
        with monkeypatch.context() as patch:
            patch.setattr(ask_here, "show_here", no_way)
            there = main(words), *capfd.readouterr()
        script(house.said, *replies)
        with monkeypatch.context() as patch:
            patch.setattr(entry, "PROTOCOL", -1)
            here = main(words), *capfd.readouterr()
        assert moved(there) == moved(here), words
        assert "\x1b" not in str(there) and KEY not in str(there)


STALE = "a session that was silent"


def no_way(*_: object) -> None:
    raise AssertionError("this process runs it")


def moved(printed: tuple[int, str, str]) -> tuple[int, str, str]:
    """What was printed without ids and numbers of notes."""
    return printed[0], MOVING.sub("", printed[1]), MOVING.sub("", printed[2])


def test_the_language_is_that_of_the_reader(
    house: House, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "zh_CN.UTF-8")
    words = ["--vault", str(house.root), "ask", "--session", "tea.md", "and?"]
    assert main(words) == 2
    there = capfd.readouterr().err
    monkeypatch.setattr(entry, "PROTOCOL", -1)
    assert main(words) == 2
    assert capfd.readouterr().err == there and "不是" in there


def test_who_has_other_settings_is_answered_by_their_own_process(
    house: House, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def here(output: object, wanted: object) -> None:
        raise KeyError("here")

    monkeypatch.setattr(ask_here, "show_here", here)
    words = ["--vault", str(house.root), "ask", "and?"]
    monkeypatch.setenv("NO_COLOR", "1")
    assert main(words) == 0, "how it is drawn is this process's own"
    for name, value in {
        "TZ": "Asia/Tokyo",
        "VAULT_AGENT_RUN__STEPS": "3",
        "OTHER_API_KEY": "sk-of-another-one",
    }.items():
        with monkeypatch.context() as patch:
            patch.setenv(name, value)
            assert main(words) == 70, name
    assert "KeyError: 'here'" in capfd.readouterr().err


def test_more_runs_than_the_daemon_takes_go_on_beside_it(
    house: House, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(asked_runs, "MOST", 0)
    script(house.said, "Here.")
    assert main(["--vault", str(house.root), "ask", "and?"]) == 0
    printed = capfd.readouterr()
    assert printed.out == "Here.\n" and printed.err.startswith("session: ")


ON_A_TERMINAL: dict[str, tuple[list[object], list[tuple[str, str]]]] = {
    "tools": ([{**call("vault_list"), "text": "Looking."}, READ, AGAIN[0], "# Three\n\n- **notes**"], []),
    "a yes": ([APPROVE, "Done."], [("or later?", "yes, gladly\n")]),
    "a no": ([APPROVE, "I see."], [("or later?", "no not now\n")]),
    "later": ([APPROVE, "Done."], [("or later?", "later\n")]),
    "an answer": ([ASK, "Black it is."], [("answer", "2\n")]),
    "two of them": ([APPROVE, ASK, "Done."], [("or later?", "yes\n"), ("answer", "puh\n")]),
    "a failure": ([READ, {"error": "permanent", "message": "no", "times": 0}], []),
    "Ctrl-C": ([NOTE, {"text": "late", "seconds": 600}], [("· vault_append", "\x03")]),
}


@pytest.mark.parametrize("name", ON_A_TERMINAL)
def test_it_looks_the_same_on_a_terminal(house: House, name: str) -> None:
    replies, typed = ON_A_TERMINAL[name]
    shown = list[tuple[int, list[str]]]()
    for own in (house.own, {**house.own, "TZ": "Etc/UTC"}):  # a daemon does not answer in another time zone
        git(house.root, "checkout", "-q", "HEAD", "--", "AGENT.md")
        (house.root / "AGENT.md").write_text(NOTES["AGENT.md"])
        script(house.said, *replies)
        with terminal(house.root, own, "ask", "change it", rows=200) as person:
            for seen, words in typed:
                person.sees(seen)
                person.type(words)
            code = person.ends()
        shown.append((code, [MOVING.sub("", line) for line in person.lines if line]))
    assert shown[0] == shown[1]
    assert len(shown[0][1]) > 1


def test_what_was_done_before_ctrl_c_is_kept(house: House) -> None:
    script(house.said, call("vault_append", path="kept.md", text="kept"), {"text": "late", "seconds": 600})
    with terminal(house.root, house.own, "ask", "keep it") as person:
        person.sees("· vault_append")
        person.type("\x03")
        assert person.ends() == 0
        assert "go on with: vault-agent ask --resume" in person.seen
    assert "kept" in git(house.root, "show", "HEAD:kept.md")


def test_a_run_ends_with_its_reader(house: House) -> None:
    script(house.said, {"text": "late", "seconds": 600})
    with terminal(house.root, house.own, "ask", "take your time") as person:
        person.shows("scripted")
        (mark,) = [each for each in marks(house.root) if not each.waits_for]
        os.kill(person.process.pid, signal.SIGKILL)
        until(lambda: mark.id not in {each.id for each in marks(house.root)}, "the run ends")
    assert "interrupted" in (house.root / mark.session).read_text()


def marks(root: Path) -> list[RunMark]:
    return list(run_registry(open_workspace(root).vault).all())


def until(holds: Callable[[], bool], what: str) -> None:
    clock = SystemClock()
    deadline = clock.monotonic() + PATIENCE
    while not holds():
        assert clock.monotonic() < deadline, what
        clock.sleep(0.05)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_daemon_that_ends_leaves_the_run_to_the_command(tmp_path: Path, number: int) -> None:
    said = script(tmp_path / "said.json", NOTE, {"text": "late", "seconds": 600})
    own = settings(tmp_path, said)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in own.items():
            patch.setenv(name, value)
        root = make_vault(tmp_path, NOTES).place.root
        daemon = subprocess.Popen(command(root, "daemon"), env=environment(own), stderr=subprocess.PIPE)
        try:
            assert daemon.stderr is not None
            while b"watching" not in (line := daemon.stderr.readline()):
                assert line, "the daemon has ended"
            with terminal(root, own, "ask", "note it") as person:
                person.sees("· vault_append")
                script(said, NOTE, "Noted.")
                daemon.send_signal(number)
                person.sees("the daemon has ended; this goes on here")
                person.sees("Noted.")
                assert person.ends() == 0
        finally:
            daemon.kill()
            daemon.wait()
            assert daemon.stderr is not None
            daemon.stderr.close()
    assert (root / "log.md").read_text().count("tea") == 1, "what was done is not done again"
    assert len(list(root.glob("sessions/**/2*.md"))) == 1
