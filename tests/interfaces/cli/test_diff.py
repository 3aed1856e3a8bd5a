"""`vault-agent diff`, as a person and as a script use it."""

import subprocess
import sys
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.interfaces.cli.vaults import Captured, ask, edit, enter, tell
from tests.vaults import head, make_vault, write

NOTE = "# Plan\n\n- [ ] Buy milk\n"


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    made = make_vault(tmp_path, {"plan.md": NOTE, "b.md": "b\n"})
    enter(monkeypatch, made, tmp_path / "home")
    return made


def test_without_a_commit_it_shows_what_is_not_committed(vault: Vault, capsys: Captured) -> None:
    assert tell(capsys, "diff") == "everything is committed\n"
    write(vault.place.root / "plan.md", NOTE.replace("[ ]", "[x]"))
    write(vault.place.root / "new.md", "new\n")
    document = ask(capsys, "diff")
    assert document["commit"] is None
    new, plan = document["files"] if isinstance(document["files"], list) else []
    assert (new["kind"], new["path"], new["changes"]) == ("created", "new.md", [])
    assert (plan["kind"], plan["path"], plan["changes"]) == ("edited", "plan.md", ["ticked: Buy milk"])
    assert "+- [x] Buy milk\n" in plan["patch"]


def test_with_a_commit_it_shows_what_that_changed(vault: Vault, capsys: Captured) -> None:
    made = edit(vault, "plan.md", NOTE + "more\n", Stamp())
    edit(vault, "b.md", "B\n", Stamp())
    assert tell(capsys, "diff", made[:9]).startswith("diff --git a/plan.md b/plan.md\n")
    assert tell(capsys, "diff", "HEAD~1") == tell(capsys, "diff", made)
    assert ask(capsys, "diff", made[:9])["commit"] == made
    assert "plan.md" in tell(capsys, "diff", "HEAD~2")


def test_a_path_narrows_it(vault: Vault, capsys: Captured) -> None:
    first = head(vault.place.root)
    said = tell(capsys, "diff", first, "--path", "b.md")
    assert "b/b.md" in said
    assert "plan.md" not in said
    assert tell(capsys, "diff", first, "--path", "nothing.md") == "no note was changed\n"


def test_the_patch_can_be_applied_as_it_comes(
    vault: Vault, tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    odd = b"caf\xe9 \x1b[31mred\r\nno end"
    write(vault.place.root / "b.md", odd)
    assert main(["diff", "--raw"]) == 0
    patch = capfdbinary.readouterr().out
    assert b"\x1b[31mred\r" in patch
    write(vault.place.root / "b.md", "b\n")
    subprocess.run(["git", "apply"], cwd=vault.place.root, input=patch, check=True)
    assert (vault.place.root / "b.md").read_bytes() == odd


def test_colours_are_for_terminals(vault: Vault, capsys: Captured, monkeypatch: pytest.MonkeyPatch) -> None:
    write(vault.place.root / "b.md", "B\n")
    assert "\x1b[" not in tell(capsys, "diff")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[32m+B" in tell(capsys, "diff")
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b[" not in tell(capsys, "diff")


def test_a_terminal_gets_the_beginning_of_a_long_change_and_a_pipe_all_of_it(
    vault: Vault, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(vault.place.root / "b.md", "a line\n" * 300_000)
    write(vault.place.root / "one line.md", "字" * 500_000)
    write(vault.place.root / "plan.md", NOTE + "more\n")
    assert tell(capsys, "diff").count("a line") == 300_000
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    said = tell(capsys, "diff")
    assert said.count("a line") < 20_000
    assert said.count("字") < 100_000
    assert "… more lines: 28" in said
    assert "+more" in said


@pytest.mark.parametrize("revision", ["--output=gotcha", "-p", "nowhere", "HEAD:plan.md"])
def test_what_is_no_commit_is_an_error_that_says_so(vault: Vault, capsys: Captured, revision: str) -> None:
    said = tell(capsys, "diff", "--", revision, code=2)
    assert "commit" in said
    assert "vault-agent log" in said
    assert not (vault.place.root / "gotcha").exists()
