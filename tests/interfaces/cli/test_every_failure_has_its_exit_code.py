"""What a person and a script get when a command fails: one place decides, for all commands."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from agent.interfaces.cli.commands import COMMANDS, LazyCommand
from agent.interfaces.cli.main import main

Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def failing_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    here = "tests.interfaces.cli"
    monkeypatch.setitem(COMMANDS, "fail", LazyCommand(f"{here}.raising", "Fail as told."))
    monkeypatch.setitem(COMMANDS, "absent", LazyCommand(f"{here}.not_written_yet", "Not there."))
    monkeypatch.setitem(COMMANDS, "broken", LazyCommand(f"{here}.broken", "Its own import fails."))
    monkeypatch.delenv("VAULT_AGENT_DEBUG", raising=False)


CODES = {
    "not": 0,
    "check": 1,
    "bad-note": 2,
    "not-a-vault": 2,
    "permanent": 2,
    "bad-option": 2,
    "no-permission": 2,
    "disk-full": 2,
    "bug": 70,
    "no-file": 70,
    "stop-run": 70,
    "agent-error": 70,
    "broken-pipe": 70,
    "lock-held": 75,
    "retryable": 75,
    "interrupt": 130,
    "abort": 130,
}


@pytest.mark.parametrize(("how", "code"), CODES.items())
def test_the_exit_code_follows_from_the_error(how: str, code: int, capsys: Captured) -> None:
    assert main(["fail", how]) == code
    out, err = capsys.readouterr()
    assert bool(out) == (code in (0, 1))
    assert bool(err) == (code not in (0, 1) and how != "interrupt")
    assert "Traceback" not in err


@pytest.mark.parametrize("how", [how for how in CODES if how != "interrupt"])
@pytest.mark.parametrize("before", [True, False])
def test_json_is_one_document_whatever_happens(how: str, before: bool, capsys: Captured) -> None:
    code = main(["--json", "fail", how] if before else ["fail", how, "--json"])
    out, err = capsys.readouterr()
    document = json.loads(out)
    assert (code, err) == (CODES[how], "")
    assert document["ok"] is (code == 0)
    if code > 1:
        assert set(document["error"]) == {"type", "message", "hint"}


def test_a_person_reads_one_line_and_a_hint(capsys: Captured) -> None:
    main(["fail", "bad-note"])
    assert capsys.readouterr().err == "error: a.md:3: not YAML\n  hint: mend line 3\n"


def test_a_bug_asks_for_a_report_and_cannot_drive_the_terminal(capsys: Captured) -> None:
    main(["fail", "bug"])
    err = capsys.readouterr().err
    assert "error: ValueError: unexpected \\x1b[2J" in err
    assert "please report it" in err


def test_the_traceback_is_shown_only_when_asked_for(monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    monkeypatch.setenv("VAULT_AGENT_DEBUG", "1")
    assert main(["--json", "fail", "bug"]) == 70
    out, err = capsys.readouterr()
    assert json.loads(out)["error"]["type"] == "ValueError"
    assert "Traceback (most recent call last)" in err


@pytest.mark.parametrize(
    "args", [["fail"], ["fail", "not", "--number", "x"], ["fail", "not", "--nunber", "3"], ["--nothing"], ["fial"]]
)
def test_a_wrong_command_line_is_a_usage_error(args: list[str], capsys: Captured) -> None:
    assert main(args) == 2
    assert capsys.readouterr().out == ""
    assert main([*args, "--json"]) == 2
    out, err = capsys.readouterr()
    error = json.loads(out)["error"]
    assert (error["type"], err) == ("UsageError", "")
    assert error["hint"].startswith("vault-agent") and error["hint"].endswith("--help")


def test_json_after_two_dashes_is_text_and_no_option(capsys: Captured) -> None:
    assert main(["fail", "--", "echo:--json"]) == 0
    assert capsys.readouterr().out == "--json\n"
    assert main(["fail", "--", "--json"]) == 70
    assert capsys.readouterr().out == ""


def test_an_unknown_command_is_told_its_neighbours(capsys: Captured) -> None:
    assert main(["stauts"]) == 2
    assert "Did you mean: status?" in capsys.readouterr().err
    assert main(["frob"]) == 2
    assert "Did you mean" not in capsys.readouterr().err, "nothing is near enough"


def test_a_command_that_is_missing_or_broken_breaks_no_other(capsys: Captured) -> None:
    assert main(["absent"]) == 2
    assert "this version has no command absent" in capsys.readouterr().err
    assert main(["broken"]) == 70
    assert "no_such_library" in capsys.readouterr().err
    assert main(["fail", "not"]) == 0
    assert main(["--help"]) == 0


def run(args: list[str], **settings: str) -> subprocess.CompletedProcess[bytes]:
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("LC_", "LANG", "PYTHON"))}
    return subprocess.run(
        [sys.executable, "-m", "agent", *args],
        capture_output=True,
        env=environ | {"PYTHONPATH": str(Path(__file__).parents[3])} | settings,
        check=False,
    )


def test_a_reader_who_leaves_is_no_error() -> None:
    read, write = os.pipe()
    os.close(read)
    done = subprocess.run(
        [sys.executable, "-m", "agent", "--help"], stdout=write, stderr=subprocess.PIPE, check=False, cwd=Path.cwd()
    )
    os.close(write)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize("more", [[], ["--json"]])
def test_a_full_disk_is_told_where_it_can_be_told(more: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "agent", "config", "list", *more], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert (done.returncode, done.stderr) == (2, b"" if more else b"error: no space left on device\n")


def test_a_closed_output_is_no_error() -> None:
    script = f"{sys.executable} -m agent --version >&-"
    done = subprocess.run(["sh", "-c", script], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_can_show_any_path(encoding: str, tmp_path: Path) -> None:
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe-\xe4\xb8\xad-\xf0\x9f\x98\x80")
    plain = run(["--vault", odd, "config", "list"], PYTHONIOENCODING=encoding)
    assert (plain.returncode, plain.stdout) == (2, b"")
    assert b"is not a vault" in plain.stderr and b"Traceback" not in plain.stderr
    as_json = run(["--vault", odd, "config", "list", "--json"], PYTHONIOENCODING=encoding)
    assert (as_json.returncode, as_json.stderr) == (2, b"")
    assert odd in json.loads(as_json.stdout.decode(encoding))["error"]["message"]


@pytest.mark.parametrize(
    ("args", "quotes"),
    [(["get", "My", "note"], True), (["tasks", "show", "green", "tea"], True), (["chat", "hi"], False)],
)
def test_words_without_quotes_are_told_of_them(
    args: list[str], quotes: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(args) == 2
    said = capsys.readouterr().err
    assert ("put words that belong together in quotes" in said) == quotes
    assert f"vault-agent {' '.join(args[: -2 if quotes else -1])} --help" in said
