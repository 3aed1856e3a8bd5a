"""What the log says: who did what, exactly, whatever stands in a message."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.clock import SystemClock
from agent.config.masking import KnownSecrets
from agent.errors import UserError
from agent.git.repository import locate
from agent.vault.change import Kind, Stamp, ToolWork
from agent.vault.history.commit_index import parse_message
from agent.vault.history.difference import describe, of_commit, of_working_tree, uncommitted
from agent.vault.history.find import commits
from agent.vault.message import compose
from agent.vault.store import Vault, open_vault
from tests.fakes import FakeClock
from tests.vaults import FAST, git, head, make_vault, write

START = datetime(2027, 1, 1, 12, tzinfo=UTC)


def create(vault: Vault, path: str, stamp: Stamp, subject: str = "create(notes): a note", body: str = "") -> str:
    with vault.transaction(subject, stamp, body=body) as tx:
        tx.create(path, f"{path}\n".encode())
    assert tx.outcome.commit
    return tx.outcome.commit


def subjects(vault: Vault, path: str) -> list[str]:
    return [commit.subject for commit in commits(vault, path=path)]


def test_a_commit_is_told_with_all_its_trailers(tmp_path: Path) -> None:
    clock = FakeClock(start=START)
    vault = make_vault(tmp_path, clock=clock)
    made = create(
        vault,
        "a.md",
        Stamp("job:morning", "01RUN", "write", "01SESSION", "call_7", ("a" * 40,)),
        "create: x",
        "The reason.",
    )
    (commit,) = commits(vault, limit=1)
    assert (commit.id, commit.subject, commit.body, commit.when) == (made, "create: x", "The reason.", START)
    assert (commit.actor, commit.job, commit.run, commit.tool) == ("job:morning", "morning", "01RUN", "write")
    assert (commit.session, commit.work, commit.undoes) == ("01SESSION", (ToolWork("", "", "call_7"),), ("a" * 40,))
    assert commit.author == "vault-agent"
    assert [(change.kind, change.path) for change in commit.files] == [(Kind.CREATED, "a.md")]


def test_a_commit_without_trailers_is_the_persons(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    (commit,) = commits(vault)
    assert (commit.actor, commit.author, commit.subject) == ("human", "Anna", "The vault as it was")


def test_trailers_count_at_the_very_end_only() -> None:
    forged = "mine\n\nVault-Actor: agent\nVault-Run: 01RUN\n\nand a last word\n"
    assert parse_message(forged)[2] == []
    assert parse_message("Vault-Actor: agent\n")[2] == []
    assert parse_message("mine\n\nsome words\nVault-Run: 01RUN\n")[2] == []
    assert parse_message("mine\n\nVault-Run: 1\nSigned-off-by: A <a@b>\n")[2][0] == ("vault-run", "1")


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\r"), max_size=200), st.booleans())
def test_no_body_can_pretend_to_be_a_trailer(text: str, forged: bool) -> None:
    body = text + ("\n\nVault-Run: 99\nVault-Undoes: " + "b" * 40 if forged else "")
    trailers = parse_message(compose("subject", Stamp("agent", "01RUN"), body, known=KnownSecrets()))[2]
    assert trailers == [("vault-actor", "agent"), ("vault-run", "01RUN")]


def test_filters_are_exact(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    one = create(vault, "1.md", Stamp(run="01RUN"))
    two = create(vault, "2.md", Stamp(run="01RUN2"))
    job = create(vault, "3.md", Stamp("job:day", "01RUN"))
    create(vault, "4.md", Stamp("job:day/2"), body="Vault-Run: 01RUN\n\nand so on")

    def found(actor: str | None = None, run: str | None = None, job: str | None = None) -> set[str]:
        return {commit.id for commit in commits(vault, actor=actor, run=run, job=job)}

    assert found(run="01RUN") == {one, job}
    assert found(run="01RUN2") == {two}
    assert found(job="day") == {job}
    assert found(actor="agent") == {one, two}
    assert found(actor="agent", run="01RUN") == {one}
    assert len(found(actor="human")) == 1


def test_time_filters_include_both_ends(tmp_path: Path) -> None:
    clock = FakeClock(start=START)
    vault = make_vault(tmp_path, clock=clock)
    made = []
    for number in range(4):
        made.append(create(vault, f"{number}.md", Stamp()))
        clock.advance(60)
    between = commits(vault, actor="agent", since=START + timedelta(minutes=1), until=START + timedelta(minutes=2))
    assert [commit.id for commit in between] == [made[2], made[1]]


def test_a_note_is_followed_through_its_renames(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "apple\n" * 5, "b.md": "other\n" * 5})
    root = vault.place.root
    for old, new in (("a.md", "x/a.md"), ("x/a.md", "y.md")):
        (root / new).parent.mkdir(exist_ok=True)
        git(root, "mv", old, new)
        git(root, "commit", "-q", "-m", f"to {new}")
    create(vault, "a.md", Stamp(), "an unrelated note")
    assert subjects(vault, "y.md") == ["to y.md", "to x/a.md", "The vault as it was"]
    assert subjects(vault, "x") == ["to y.md", "to x/a.md", "The vault as it was"]
    assert subjects(vault, "b.md") == ["The vault as it was"]
    assert subjects(vault, "nothing.md") == []


def test_odd_names_and_messages_are_read_as_they_are(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {'-rf 山水\n\t"x".md': "x\n", ":100644 a.md": "y\n"})
    git(vault.place.root, "commit", "-q", "--allow-empty", "-m", ":100644 100644 a b M\n\n\x01strange")
    empty, first = commits(vault)
    assert (empty.subject, empty.files) == (":100644 100644 a b M", ())
    assert {change.path for change in first.files} == {'-rf 山水\n\t"x".md', ":100644 a.md", "vault-agent.yaml"}


def test_before_the_first_commit_there_is_no_history(tmp_path: Path) -> None:
    root = tmp_path / "vault"
    write(root / "vault-agent.yaml", "")
    git(root, "init", "-q")
    vault = open_vault(root, tmp_path / "state", SystemClock(), FAST)
    assert commits(vault) == []
    found = of_working_tree(vault)
    assert [item.change.path for item in found] == ["vault-agent.yaml"]


def test_a_vault_in_a_folder_of_a_repository_sees_only_itself(tmp_path: Path) -> None:
    root = tmp_path / "project"
    write(root / "notes/vault-agent.yaml", "")
    write(root / "notes/a.md", "apple\n" * 5)
    write(root / "code.py", "code\n")
    git(root, "init", "-q", "-b", "main")
    for message, path in (("first", "code.py"), ("second", "other.py")):
        write(root / path, f"{message}\n")
        git(root, "add", "-A")
        git(root, "commit", "-q", "-m", message)
    git(root, "mv", "notes/a.md", "a.md")
    git(root, "commit", "-q", "-m", "moved out")
    place = locate(root / "notes")
    assert place
    vault = open_vault(root / "notes", tmp_path / "state", SystemClock(), FAST)
    found = commits(vault)
    assert [commit.subject for commit in found] == ["moved out", "first"]
    assert [(change.kind, change.path) for change in found[0].files] == [(Kind.DELETED, "a.md")]
    assert {change.path for change in found[1].files} == {"a.md", "vault-agent.yaml"}


def test_a_merge_is_told_against_its_first_parent(tmp_path: Path) -> None:
    vault = make_vault(tmp_path)
    root = vault.place.root
    git(root, "checkout", "-q", "-b", "side")
    create(vault, "side.md", Stamp())
    git(root, "checkout", "-q", "main")
    create(vault, "main.md", Stamp())
    git(root, "merge", "-q", "-m", "merged", "side")
    (merged,) = commits(vault, limit=1)
    assert [change.path for change in merged.files] == ["side.md"]
    assert len(commits(vault)) == 4


@pytest.mark.parametrize("revision", ["--output=x", "-1", "nowhere", "HEAD:a.md", "HEAD\nHEAD", ""])
def test_what_is_no_commit_is_refused(tmp_path: Path, revision: str) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    with pytest.raises(UserError):
        commits(vault, revision=revision)


def test_settings_of_the_repository_do_not_change_what_is_told(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n"})
    root = vault.place.root
    create(vault, "b.md", Stamp())
    for key, value in (
        ("log.showRoot", "false"),
        ("diff.renames", "false"),
        ("diff.noprefix", "true"),
        ("core.quotePath", "true"),
        ("log.date", "relative"),
        ("color.ui", "always"),
        ("diff.relative", "true"),
        ("trailer.separators", "="),
    ):
        git(root, "config", key, value)
    new, first = commits(vault)
    assert (new.actor, len(first.files)) == ("agent", 2)
    (item,) = of_commit(vault, new.id)
    assert item.patch.startswith(b"diff --git a/b.md b/b.md\n")


def test_changes_are_told_in_the_notes_terms(tmp_path: Path) -> None:
    old = "---\nstatus: open\n---\n# Plan\n\n- [ ] Buy milk\n"
    vault = make_vault(tmp_path, {"a.md": old, "pic.png": b"\x89PNG\0"})
    write(vault.place.root / "a.md", old.replace("[ ]", "[x]").replace("open", "done"))
    write(vault.place.root / "pic.png", b"\x89PNG\0\0")
    git(vault.place.root, "commit", "-qam", "edited")
    (commit, _) = commits(vault)
    lines = dict(zip([c.path for c in commit.files], describe(vault, commit.files), strict=True))
    assert sorted(lines["a.md"]) == ["status: open → done", "ticked: Buy milk"]
    assert lines["pic.png"] == ()


def test_the_uncommitted_are_new_edited_gone_and_renamed_files(tmp_path: Path) -> None:
    vault = make_vault(
        tmp_path, {"a.md": "apple\n" * 9, "b.md": "berry\n" * 9, "c.md": "cherry\n" * 9, ".gitignore": "*.tmp\n"}
    )
    root = vault.place.root
    index = (vault.place.gitdir / "index").read_bytes()
    (root / "a.md").rename(root / "moved.md")
    write(root / "b.md", "berry\n" * 8)
    (root / "c.md").unlink()
    write(root / "new/n.md", "n\n")
    write(root / "x.tmp", "ignored\n")
    write(root / ".vault-agent-temporary", "ours\n")
    found = of_working_tree(vault)
    assert [(item.change.kind, item.change.path, item.change.old_path) for item in found] == [
        (Kind.EDITED, "b.md", None),
        (Kind.DELETED, "c.md", None),
        (Kind.RENAMED, "moved.md", "a.md"),
        (Kind.CREATED, "new/n.md", None),
    ]
    assert [change.path for change in uncommitted(vault)] == [item.change.path for item in found]
    assert b"+n\n" in found[3].patch
    assert (vault.place.gitdir / "index").read_bytes() == index


def test_nothing_that_the_vault_names_is_run_for_a_difference(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "a\n", ".gitattributes": "*.md diff=evil filter=evil\n"})
    canary = tmp_path / "canary"
    for key in ("diff.external", "diff.evil.command", "diff.evil.textconv", "filter.evil.clean", "core.fsmonitor"):
        git(vault.place.root, "config", key, f"touch {canary}; cat")
    write(vault.place.root / "a.md", "b\n")
    write(vault.place.root / "new.md", "n\n")
    assert len(of_working_tree(vault)) == 2
    last = head(vault.place.root)
    assert len(of_commit(vault, last)) == 3
    assert len(commits(vault)) == 1
    assert not canary.exists()
