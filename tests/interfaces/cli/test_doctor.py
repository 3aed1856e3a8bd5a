"""`vault-agent doctor` on healthy, broken and missing vaults: one line a check, then what to do, never a traceback."""

import json
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.workspace.workspace import daemon_lock
from tests.vaults import git, write


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_AUTHOR_NAME", "Anna")
    monkeypatch.setenv("GIT_AUTHOR_EMAIL", "anna@example.org")
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def vault(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["init", "--yes", "vault", "--no-hooks"]) == 0
    capsys.readouterr()
    return tmp_path / "vault"


def test_a_fresh_vault_is_healthy_to_the_last_check(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--vault", str(vault), "doctor"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("ok    ") for line in lines[: lines.index("")])
    assert "0 warn, 0 bad" in lines[lines.index("") + 1] and "Next:" not in lines


def test_outside_a_vault_the_machine_is_probed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["doctor"]) == 0
    out = capsys.readouterr().out
    assert "warn  vault: none here" in out and "ok    write: " in out and "init PATH" in out


def test_a_vault_that_was_named_and_is_none_is_bad(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--vault", "nowhere", "doctor"]) == 1
    assert "bad   vault: " in capsys.readouterr().out


def test_it_touches_neither_the_notes_nor_the_history(vault: Path) -> None:
    write(vault / "mine.md", "mine\n")
    before = git(vault, "rev-parse", "HEAD"), git(vault, "status", "--porcelain")
    assert main(["--vault", str(vault), "doctor", "--fix"]) == 0
    assert (git(vault, "rev-parse", "HEAD"), git(vault, "status", "--porcelain")) == before


def test_skills_that_cannot_be_used_are_named_with_file_line_and_reason(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(vault / "skills/tea/SKILL.md", "---\nname: tee\ndescription: Makes tea.\n---\nBoil.\n")
    write(vault / "skills/notes/SKILL.md", "Just do it.\n")
    write(
        vault / "skills/pots/SKILL.md",
        "---\nname: pots\ndescription: Cleans pots.\ntrigger_conditions: dirty\n---\nScrub.\n",
    )
    assert main(["--vault", str(vault), "doctor"]) == 0
    said = capsys.readouterr().out
    assert "warn  skills: 10 can be used, 2 cannot be used, 1 has a warning" in said
    for line in (
        "skills/tea/SKILL.md:2: name is tee, but its folder is tea; they must be the same",
        "skills/notes/SKILL.md:1: SKILL.md must begin with a header between two lines of `---`",
        "skills/pots/SKILL.md:4: trigger_conditions is not a list, so it is left unread",
    ):
        assert f"        {line}\n" in said
    assert "  mend what is named under skills; then see whether they are there: vault-agent skills list\n" in said


def test_our_own_hooks_are_no_warning(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["init", "--yes", str(vault), "--hooks"]) == 0
    assert main(["--vault", str(vault), "doctor"]) == 0
    assert "ok    trust: " in capsys.readouterr().out


def test_a_few_changes_that_the_next_search_takes_in_are_no_finding(
    vault: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["--vault", str(vault), "status"]) == 0
    assert "index    none: it is not built yet; `vault-agent search`" in capsys.readouterr().out
    assert main(["--vault", str(vault), "reindex"]) == 0
    write(vault / "mine.md", "mine\n")
    capsys.readouterr()
    assert main(["--vault", str(vault), "doctor"]) == 0
    said = capsys.readouterr().out
    assert "ok    search index: 1 change is not in it yet" in said and "0 warn" in said


def test_a_broken_index_is_bad_then_fixed_then_fine(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (vault / ".git/index").write_bytes(b"broken")
    assert main(["--vault", str(vault), "doctor"]) == 1
    assert "  vault-agent doctor --fix" in capsys.readouterr().out.splitlines()
    assert main(["--vault", str(vault), "doctor", "--fix"]) == 0
    assert "ok    index: fixed" in capsys.readouterr().out
    assert main(["--vault", str(vault), "doctor"]) == 0


def test_a_repair_is_said_before_it_is_made(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (vault / ".git/index").write_bytes(b"broken")
    write(vault / ".vault-agent-01HZZZZZZZ0000000000000001-0", "half a note")
    assert main(["--vault", str(vault), "doctor", "--fix"]) == 0
    printed = capsys.readouterr()
    said = printed.err.splitlines()
    assert said[0].startswith("repairing index: ") and said[1] == "repairing temporaries: left among the notes: 1"
    assert said[2] == "  .vault-agent-01HZZZZZZZ0000000000000001-0"
    assert "ok    index: fixed" in printed.out and "ok    temporaries: fixed" in printed.out
    assert main(["--vault", str(vault), "doctor", "--fix"]) == 0
    assert "repairing" not in capsys.readouterr().err


def test_a_key_that_only_the_daemon_lacks_is_a_finding(
    vault: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_LLM__PRESET", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-a-key-of-this-terminal-only")
    assert main(["--vault", str(vault), "doctor"]) == 0
    said = capsys.readouterr().out
    assert "ok    daemon: not running" in said
    assert "a daemon needs OPENAI_API_KEY in its environment, too" in said
    workspace = open_workspace(vault)
    lacks = "no model can be asked: OPENAI_API_KEY is not set; vault-agent config set llm.openai.api_key --prompt"
    with daemon_lock(workspace):
        workspace.daemon_state.write_text(json.dumps({"pid": 1, "problem": lacks}))
        assert main(["--vault", str(vault), "doctor"]) == 0
    said = capsys.readouterr().out
    assert "warn  daemon: it runs, and reports a problem" in said and f"        {lacks}\n" in said


def test_json_carries_every_check(vault: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(vault, "config", "core.fsmonitor", "touch canary")
    assert main(["--vault", str(vault), "--json", "doctor"]) == 0
    document = json.loads(capsys.readouterr().out)
    trust = next(check for check in document["checks"] if check["name"] == "trust")
    assert document["healthy"] is True and trust["level"] == "warn"
    assert "core.fsmonitor = touch canary" in trust["details"][0]
    assert not (vault / "canary").exists()


def _no_repository(vault: Path) -> None:
    (vault / ".git").rename(vault.parent / "gone")


def _no_head(vault: Path) -> None:
    (vault / ".git/HEAD").write_bytes(b"")


def _no_objects(vault: Path) -> None:
    (vault / ".git/objects").rename(vault.parent / "objects")


def _bad_settings(vault: Path) -> None:
    (vault / "vault-agent.yaml").write_bytes(b"vault: &a [*a]\n")


def _bad_config(vault: Path) -> None:
    (vault / ".git/config").write_bytes(b"[core\n\0")


def _linked_repository(vault: Path) -> None:
    _no_repository(vault)
    (vault / ".git").symlink_to(vault.parent / "gone")


def _unreadable_settings(vault: Path) -> None:
    (vault / "vault-agent.yaml").write_bytes(b"\xff\xfe\0")


@pytest.mark.parametrize(
    "damage",
    [_no_repository, _no_head, _no_objects, _bad_settings, _bad_config, _linked_repository, _unreadable_settings],
)
@pytest.mark.parametrize("fix", [[], ["--fix"]])
def test_a_broken_vault_is_bad_with_a_next_step_and_no_traceback(
    vault: Path, damage: object, fix: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert callable(damage)
    damage(vault)
    assert main(["--vault", str(vault), "doctor", *fix]) == 1
    captured = capsys.readouterr()
    assert "bad   " in captured.out and "Traceback" not in captured.out + captured.err
