"""Whatever a person types wrongly, the answer is one line that says what is wrong and one that says what to do."""

import io
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.stories.agents import furnish
from tests.vaults import write

WRONG: dict[str, list[str]] = {
    "no such command": ["frobnicate"],
    "a command mistyped": ["serach", "tea"],
    "a command in capitals": ["Status"],
    "an option that does not exist": ["search", "tea", "--colour"],
    "an option without its value": ["search", "tea", "--limit"],
    "an option whose value is empty": ["ask", "hello", "--as", ""],
    "an option whose value is spaces": ["undo", "--since", "1h", "--actor", " "],
    "an empty query": ["search", ""],
    "no hits at all": ["search", "tea", "--limit", "0"],
    "a folder of queries": ["search", "--queries", "vault"],
    "a hit that there is not": ["search", "tea", "--open", "99"],
    "a port without a door": ["daemon", "vault", "--port", "9"],
    "a language without a vault to make": ["daemon", "vault", "--language", "en"],
    "two kinds of research": ["research", "tea", "--deep", "--kind", "fact"],
    "a folder for a note": ["run", "sessions"],
    "a file of git's": ["get", ".git/config"],
    "a number that is none": ["search", "tea", "--limit", "many"],
    "words without quotes": ["jobs", "show", "green", "tea"],
    "an empty question": ["ask", ""],
    "a question of spaces": ["ask", "   "],
    "a session that does not exist": ["ask", "go on", "--session", "sessions/none.md"],
    "nothing to remember": ["remember", ""],
    "nothing to forget": ["forget", "notes/none.md"],
    "an empty text to forget": ["forget", ""],
    "a note that does not exist": ["get", "none.md"],
    "a path out of the vault": ["get", "../../etc/passwd"],
    "a whole path to a file elsewhere": ["get", "/etc/passwd"],
    "a note to run that is none": ["run", "none.md"],
    "a note to run elsewhere": ["run", "/etc/hostname"],
    "an undo of nothing": ["undo"],
    "an undo of no commit": ["undo", "deadbeef"],
    "a diff of no commit": ["diff", "deadbeef"],
    "an approval that does not exist": ["approvals", "yes", "none"],
    "an approval without its id": ["approvals", "yes"],
    "a question that does not exist": ["questions", "answer", "none", "green"],
    "a remote that does not exist": ["trust", "nowhere", "--only-me"],
    "a skill that does not exist": ["skills", "show", "none"],
    "a setting that does not exist": ["config", "get", "llm.modle"],
    "a section for a setting": ["config", "get", "llm"],
    "a setting without a value": ["config", "set", "llm.preset"],
    "a preset that does not exist": ["config", "set", "llm.preset", "chatgpt"],
    "a word for a number": ["config", "set", "run.steps", "lots"],
    "a number that is too large": ["config", "set", "run.steps", "99999999"],
    "an address that is none": ["config", "set", "llm.base_url", "localhost:11434"],
    "a key on the command line": ["config", "set", "llm.api_key", "sk-" + "a1B2" * 8],
    "a vault that is none": ["--vault", "nowhere", "status"],
    "a note for a vault": ["--vault", "vault/tea.md", "status"],
    "a vault to make of a file": ["init", "vault/tea.md"],
    "a vault to make in a vault": ["init", "vault/inner"],
    "a vault to make of nothing": ["init", ""],
    "a vault to make in /proc": ["init", "/proc/vault", "--yes"],
    "a language that is none": ["init", "new", "--language", "klingon"],
    "a daemon for no folder": ["daemon", "--init", "--yes"],
    "a daemon for no vault": ["daemon", "nowhere"],
    "a file to import that is none": ["import", "none.json"],
    "a shell that is none": ["completion", "tcsh"],
}


def _settings(text: str) -> Callable[[Path], None]:
    return lambda folder: write(folder / "home/config/config.yaml", text)


def _locked(folder: Path) -> None:
    (folder / "home/config").mkdir(parents=True, exist_ok=True)
    (folder / "home/config/config.yaml").mkdir()


BROKEN: dict[str, Callable[[Path], None]] = {
    "settings that are no YAML": _settings("llm: [\n"),
    "settings with a tab": _settings("llm:\n\tpreset: openai\n"),
    "settings with an unknown key": _settings("lmm:\n  preset: openai\n"),
    "settings with a wrong value": _settings("run:\n  steps: soon\n"),
    "settings with a key twice": _settings("run:\n  steps: 3\nrun:\n  steps: 4\n"),
    "settings that are a folder": _locked,
}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = furnish(tmp_path, monkeypatch.setenv)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("VAULT_AGENT_VAULT", str(root))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    (tmp_path / "gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.org\n")
    monkeypatch.setattr("sys.stdin", io.StringIO())
    return root


def told(capsys: pytest.CaptureFixture[str], args: list[str]) -> str:
    """What a wrong command line is answered on standard error."""
    code = main(args)
    out, err = capsys.readouterr()
    assert code == 2, f"exit {code}: {out}{err}"
    assert "Traceback" not in err and "this is a bug" not in err
    return err


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_command_line_says_what_to_do(what: str, root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    err = told(capsys, WRONG[what])
    first, *rest = err.strip().splitlines()
    assert first.startswith("error: ") and any(line.startswith("  hint: ") and line[8:].strip() for line in rest), err


@pytest.mark.parametrize(
    "args", [["--vault", "", "status"], ["status", "--vault="], ["init", "", "--yes"], ["daemon", ""]]
)
def test_an_empty_path_is_not_the_working_folder(
    args: list[str], root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["status"]) == 0, "there is a vault"
    assert "it is empty" in told(capsys, args)


@pytest.mark.parametrize("what", BROKEN)
def test_broken_settings_are_named_with_their_file(
    what: str, root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    BROKEN[what](tmp_path)
    err = told(capsys, ["status"])
    assert err.startswith("error: ") and ".yaml" in err and "  hint: " in err, err


def test_a_folder_without_permission_says_so(root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if os.geteuid() == 0:
        pytest.skip("root may write anywhere")
    (tmp_path / "locked").mkdir(0o500)
    assert "no permission to write" in told(capsys, ["init", "locked/vault"])


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["remember", "--keyword"], "vault-agent remember --help"),
        (["skills", "trials", "show", "--nosuch"], "vault-agent skills trials show --help"),
        (["get", "-dash.md"], "put -- before words that begin with a dash; vault-agent get --help"),
        (["completion"], "vault-agent completion --help"),
    ],
)
def test_the_hint_is_that_of_the_command(
    args: list[str], hint: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert told(capsys, args).splitlines()[1:] == [f"  hint: {hint}"]


def test_there_are_enough_wrong_inputs() -> None:
    assert len(WRONG) + len(BROKEN) >= 40
