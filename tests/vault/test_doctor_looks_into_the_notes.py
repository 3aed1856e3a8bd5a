"""The doctor's checks of notes and files: what a person should look at, where, and what helps; nothing is changed."""

from pathlib import Path

import pytest

from agent.vault.health import note_checks
from agent.vault.health.probe import Check, Level
from agent.vault.options import Options
from agent.vault.store import Vault
from tests.vaults import git, make_vault, write


def look(vault: Vault) -> dict[str, Check]:
    return {check.name: check for check in note_checks.notes(vault)}


def test_marks_of_a_merge_are_found_with_their_line(tmp_path: Path) -> None:
    merged = "# Tea\n\n<<<<<<< HEAD\ngreen\n=======\nblack\n>>>>>>> theirs\n"
    heading = "Tea\n=======\n\n<<<<<<< not a merge\n"
    notes = {"tea.md": merged, "windows.md": merged.replace("\n", "\r\n"), "heading.md": heading}
    found = look(make_vault(tmp_path, notes))["merges"]
    assert found.level is Level.WARN and found.details == ("tea.md:3", "windows.md:3")
    assert "delete the lines with the marks" in found.next


def test_links_of_the_agents_that_lead_nowhere_are_found_and_the_persons_are_not(tmp_path: Path) -> None:
    there = "[[sessions/2026/11/Tea]] [[Sessions/2026/11/Tea|said]] [[2026-11-22-tea-is-green-abc]]"
    gone = "[[sessions/2026/11/Gone|how]], [[entries/2026/11/moved#x]] and [[2026-11-22-forgotten-xyz]]"
    notes = {
        "sessions/2026/11/Tea.md": "# Tea\n",
        "entries/2026/11/2026-11-22-tea-is-green-abc.md": "Tea is green.\n",
        "archive/entries/2026/11/moved.md": "Moved.\n",
        "daily/2026-11-22.md": f"{there}\n{gone}\n[[2026-11-23]]\n",
        "sessions/2026/11/Example.md": "[[2026-03-09-an-example-in-a-prompt]]\n",
        "mine.md": "[[Not written yet]] [[2026-11-22-a-plan-of-mine]] [[entries]]\n",
    }
    found = look(make_vault(tmp_path, notes))["links"]
    assert found.details == (
        "daily/2026-11-22.md: [[sessions/2026/11/Gone]]",
        "daily/2026-11-22.md: [[entries/2026/11/moved]] is archive/entries/2026/11/moved.md now",
        "daily/2026-11-22.md: [[2026-11-22-forgotten-xyz]]",
    )
    assert "vault-agent log" in found.next


def test_large_files_are_named_with_what_git_has_of_them(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"old.bin": b"x" * 3_000_000}, options=Options(durable=False, largest=2_000_000))
    write(vault.place.root / "new.bin", b"x" * 4_000_000)
    write(vault.place.root / "ignored.bin", b"x" * 4_000_000)
    write(vault.place.root / ".gitignore", "ignored.bin\n")
    found = look(vault)["large files"]
    assert (found.what, set(found.details)) == (
        "2 are larger than 2 MB",
        {"new.bin: 4 MB, not in git, so it has no history", "old.bin: 3 MB, in git, also after it is deleted"},
    )
    assert ".gitignore" in found.next


def test_a_person_whom_git_does_not_know_is_told_how_to_say_who_they_are(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault = make_vault(tmp_path)
    for name in ("GIT_AUTHOR_NAME", "GIT_AUTHOR_EMAIL"):
        monkeypatch.delenv(name, raising=False)
    assert look(vault)["your name"].level is Level.OK
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    git(vault.place.root, "config", "--unset", "user.name")
    git(vault.place.root, "config", "--unset", "user.email")
    found = look(vault)["your name"]
    assert found.level is Level.WARN and "without an address" in found.what
    assert found.next.startswith('git config --global user.name "…"')
