"""`vault-agent undo`, as a person and as a script use it."""

from pathlib import Path

import pytest

from agent.vault.change import Stamp
from agent.vault.store import Vault
from tests.interfaces.cli.vaults import Captured, ask, edit, enter, tell
from tests.vaults import git, head, make_vault, write

NOTE = "one\ntwo\nthree\n"


@pytest.fixture
def vault(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Vault:
    made = make_vault(tmp_path, {"plan.md": NOTE, "b.md": "b\n"})
    enter(monkeypatch, made, tmp_path / "home")
    return made


def test_a_run_is_undone_and_the_way_back_is_named(vault: Vault, capsys: Captured) -> None:
    edit(vault, "plan.md", NOTE.replace("two", "TWO"), Stamp(run="01RUN"))
    edit(vault, "new.md", "new\n", Stamp(run="01RUN"))
    said = tell(capsys, "undo", "--run", "01RUN").splitlines()
    last = head(vault.place.root)[:10]
    assert said == [
        f"undid 2 commits in {last}:",
        "  deleted: new.md",
        "  edited: plan.md",
        f"to have it again: vault-agent undo {last}",
    ]
    assert vault.read("plan.md") == NOTE.encode()
    assert "undid 1 commit in" in tell(capsys, "undo", last)
    assert vault.read("new.md") == b"new\n"


def test_a_script_gets_everything(vault: Vault, capsys: Captured) -> None:
    made = edit(vault, "plan.md", NOTE + "four\n", Stamp("job:day"))
    document = ask(capsys, "undo", "--job", "day")
    assert document == {
        "ok": True,
        "commit": head(vault.place.root),
        "dry_run": False,
        "queued": None,
        "undone": [made],
        "partial": [],
        "files": [{"kind": "edited", "path": "plan.md", "old_path": None}],
        "kept": [],
        "refused": [],
        "skipped": [],
        "conflicts": [],
        "human_commits_kept": 0,
    }


def test_nothing_to_undo_is_no_error(vault: Vault, capsys: Captured) -> None:
    assert "no change here is of a run none" in tell(capsys, "undo", "--run", "none", code=2)
    made = edit(vault, "plan.md", "x\n", Stamp())
    tell(capsys, "undo", made)
    assert tell(capsys, "undo", made) == f"nothing to undo\n  skipped: {made[:8]}: it is undone already\n"


def test_a_change_that_was_taken_back_by_hand_says_so(vault: Vault, capsys: Captured) -> None:
    made = edit(vault, "plan.md", NOTE + "four\n", Stamp())
    edit(vault, "plan.md", NOTE, Stamp())
    assert tell(capsys, "undo", made) == "nothing to undo\n  skipped: plan.md: it is as it was before that already\n"
    git(vault.place.root, "commit", "--quiet", "--allow-empty", "-m", "nothing")
    assert "it changed no note" in tell(capsys, "undo", "HEAD")


def test_since_counts_what_it_keeps(vault: Vault, capsys: Captured) -> None:
    edit(vault, "plan.md", NOTE + "four\n", Stamp())
    said = tell(capsys, "undo", "--since", "1h")
    assert "1 of your own commits was kept" in said
    assert vault.read("plan.md") == NOTE.encode()
    assert vault.read("b.md") == b"b\n"


def test_a_conflict_names_the_note_and_the_way_out(vault: Vault, capsys: Captured) -> None:
    made = edit(vault, "plan.md", NOTE.replace("two", "TWO"), Stamp())
    edit(vault, "b.md", "B\n", Stamp(run="01RUN"))
    write(vault.place.root / "plan.md", NOTE.replace("two", "2"))
    said = tell(capsys, "undo", made, "HEAD", code=2)
    assert "plan.md: the same lines were changed since" in said
    assert "--partial" in said
    said = tell(capsys, "undo", made, "HEAD", "--partial")
    assert "not undone: plan.md" in said
    assert vault.read("plan.md") == NOTE.replace("two", "2").encode()
    assert vault.read("b.md") == b"b\n"


def test_a_dry_run_only_says(vault: Vault, capsys: Captured) -> None:
    made = edit(vault, "plan.md", "x\n", Stamp())
    assert tell(capsys, "undo", "--dry-run", made).splitlines() == [
        "would undo 1 commit; nothing is changed yet:",
        "  edited: plan.md",
    ]
    assert head(vault.place.root) == made


def test_many_notes_need_a_yes(vault: Vault, capsys: Captured) -> None:
    with vault.transaction("create(notes): many", Stamp(run="01RUN")) as tx:
        for number in range(30):
            tx.create(f"many/{number}.md", b"text\n")
    assert "--yes" in tell(capsys, "undo", "--run", "01RUN", code=2)
    assert ask(capsys, "undo", "--run", "01RUN", "--yes")["ok"] is True
    assert not (vault.place.root / "many").exists()


@pytest.mark.parametrize(
    "args", [[], ["HEAD", "--run", "x"], ["--run", "x", "--job", "y"], ["HEAD", "--include-human"], ["--since", "soon"]]
)
def test_what_to_undo_has_to_be_said_once(vault: Vault, capsys: Captured, args: list[str]) -> None:
    before = head(vault.place.root)
    assert "hint" in tell(capsys, "undo", *args, code=2)
    assert head(vault.place.root) == before


def test_what_one_program_did_is_undone_and_nothing_else(vault: Vault, capsys: Captured) -> None:
    edit(vault, "plan.md", NOTE + "theirs\n", Stamp("mcp:claude-code"))
    edit(vault, "b.md", "B\n", Stamp("mcp:cursor"))
    tell(capsys, "undo", "--actor", "mcp:claude-code", "--since", "1h")
    assert (vault.read("plan.md"), vault.read("b.md")) == (NOTE.encode(), b"B\n")
    nobody = "nothing to undo\n  skipped: mcp:nobody: no change here is of it\n"
    assert tell(capsys, "undo", "--actor", "mcp:nobody") == nobody
    assert "--include-human" in tell(capsys, "undo", "--actor", "human", code=2)
    assert "one of them" in tell(capsys, "undo", "--actor", "mcp:cursor", "--job", "day", code=2)
