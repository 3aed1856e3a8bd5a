"""`forget`, as a person types it: done at once and undoable; with --purge out of the history as well."""

import subprocess
from pathlib import Path

import pytest

from agent.interfaces.cli.main import main
from tests.interfaces.cli.conftest import Run
from tests.interfaces.cli.terminal import terminal
from tests.stories.agents import settings
from tests.vaults import git, make_vault, write

SECRET = "Anna's locker code is kelp-4711"


def history(root: Path) -> str:
    return git(root, "log", "-p", "-m", "--format=%H %an %s %b", "HEAD")


def test_a_note_is_forgotten_by_path_or_id(root: Path, run: Run) -> None:
    made = run("remember", SECRET)
    document = run("forget", str(made["id"]))
    assert document["forgotten"] == [made["path"]] and document["commit"]
    assert not (root / str(made["path"])).exists()
    run("undo", str(document["commit"]))
    assert SECRET in (root / str(made["path"])).read_text("utf-8")


def test_no_line_of_the_report_is_blank(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "MEMORY.md", f"# Facts\n\n- {SECRET}\n\n\n")
    git(root, "add", "-A")
    trailers = "Vault-Actor: agent\nVault-Tool: lifecycle"
    git(root, "commit", "-q", "-m", f"memory(upkeep): facts\n\n{trailers}")
    assert main(["--vault", str(root), "remember", SECRET]) == 0
    capsys.readouterr()
    assert main(["--vault", str(root), "forget", SECRET, "--yes"]) == 0
    said = capsys.readouterr()
    assert "forgotten in" in said.out
    assert all(line.strip() and not line.endswith("loses: ") for line in (said.out + said.err).splitlines())


def test_a_dry_run_changes_nothing(root: Path, run: Run) -> None:
    made = run("remember", SECRET)
    before = git(root, "rev-parse", "HEAD")
    assert run("forget", str(made["path"]), "--dry-run")["commit"] is None
    assert run("forget", str(made["path"]), "--purge", "--dry-run")["commit"] is None
    assert git(root, "rev-parse", "HEAD") == before


def test_search_finds_it_no_more(root: Path, run: Run) -> None:
    made = run("remember", SECRET)
    run("reindex")
    run("forget", str(made["path"]))
    found = run("search", "locker code")
    hits = found["hits"]
    assert isinstance(hits, list)
    assert all(made["path"] != hit["path"] for hit in hits)


def test_more_than_one_entry_needs_a_yes_where_nobody_is_asked(
    root: Path, run: Run, capsys: pytest.CaptureFixture[str]
) -> None:
    made = run("remember", SECRET)
    write(root / "tea.md", f"A note of hers.\n\n{SECRET}.\n")
    run("remember", f"The boat is blue. {SECRET}. The dog is called Rex.")
    before = git(root, "rev-parse", "HEAD")
    for name in (SECRET, "tea.md"):
        assert run("forget", name, code=2)["error"]
        assert main(["--vault", str(root), "forget", name]) == 2
        said = capsys.readouterr().err
        assert "--yes" in said and "goes: " in said, "what would go is shown, and what to type"
    assert git(root, "rev-parse", "HEAD") == before and (root / "tea.md").exists()
    gone = run("forget", SECRET, "--yes")
    assert made["path"] in gone["forgotten"] and gone["commit"]  # type: ignore[operator]


def test_a_note_that_stays_is_named_whoever_wrote_it(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root / "Welcome.md", f"Try to say: {SECRET}\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "init(vault): added 1 file\n\nVault-Actor: agent\nVault-Tool: init")
    assert main(["--vault", str(root), "forget", SECRET]) == 2
    said = capsys.readouterr().err
    assert "leaves alone say it: Welcome.md" in said
    assert "you wrote" not in said and "your own" not in said


def test_a_purge_needs_a_yes(root: Path, run: Run) -> None:
    made = run("remember", SECRET)
    run("forget", str(made["path"]), "--purge", code=2)
    assert (root / str(made["path"])).exists()


def test_a_purge_takes_it_out_of_the_history_and_nothing_else(root: Path, run: Run) -> None:
    run("remember", "The boat is blue")
    made = run("remember", SECRET)
    write(root / "b.md", "two and a half\n")
    run("commit")
    run("remember", "My sister lives in Lyon")
    write(root / "staged.md", "at work on\n")
    git(root, "add", "staged.md")
    write(root / "a.md", "unsaved\n")
    before = git(root, "log", "--format=%an %ae %at %s", "HEAD").splitlines()
    status = git(root, "status", "--porcelain")
    files = {path.name: path.read_bytes() for path in root.glob("*.md") if path.name != "MEMORY.md"}
    document = run("forget", str(made["path"]), "--purge", "--yes")
    purged = document["purged"]
    assert isinstance(purged, dict)
    assert "kelp-4711" not in history(root) and "locker" not in history(root)
    after = git(root, "log", "--format=%an %ae %at %s", "HEAD").splitlines()
    assert [row for row in before if "locker" not in row] == [
        row for row in after if "(removed)" not in row and "forget" not in row
    ]
    assert "Vault-Tool: remember" in git(root, "log", "--grep=(removed)", "--format=%b")
    assert git(root, "status", "--porcelain") == status
    assert {path.name: path.read_bytes() for path in root.glob("*.md") if path.name != "MEMORY.md"} == files
    assert git(root, "fsck", "--strict").strip() in {"", "dangling"} or "error" not in git(root, "fsck", "--strict")
    assert "locker" in git(root, "log", "-p", str(purged["backup"]))
    assert purged["recoverable"] is True and purged["finish"] == "vault-agent forget --purge --for-good"
    run(*str(purged["finish"]).split()[1:], "--yes")
    git(root, "rev-parse", "HEAD~3")
    assert git(root, "status", "--porcelain") == status and "error" not in git(root, "fsck", "--strict")
    objects = subprocess.run(
        ["git", "cat-file", "--batch-all-objects", "--batch"], cwd=root, capture_output=True, check=True
    )
    assert b"kelp-4711" not in objects.stdout


def test_a_purge_reaches_the_archive_and_derived_lines(root: Path, run: Run) -> None:
    first = run("remember", SECRET)
    run("remember", SECRET + "!")
    run("remember", SECRET + ".")
    run("memory", "run")
    assert "kelp-4711" in (root / "MEMORY.md").read_text("utf-8")
    run("forget", str(run("search", "locker code", "-n", "1")["hits"][0]["path"]), "--purge", "--yes")  # type: ignore[index]
    assert "kelp-4711" not in history(root)
    assert first


def test_a_purge_takes_the_name_of_a_session_out_of_the_entries_of_what_else_was_said_in_it(
    root: Path, run: Run
) -> None:
    run("ask", "My locker code is kelp-4711. My sister Mara lives in Porto.")
    run("forget", "My locker code is kelp-4711", "--purge", "--yes")
    assert "Mara lives in Porto" in history(root)
    assert "locker" not in history(root)


def test_a_purge_of_a_note_takes_its_telling_name_out_of_what_was_talked_about(root: Path, run: Run) -> None:
    (root / "Anna is pregnant.md").write_text("In May there will be more of us.\n", "utf-8")
    run("commit")
    run("ask", "Did I write down that Anna is pregnant? The train leaves at nine.")
    assert run("forget", "Anna is pregnant.md", "--purge", "--yes")["purged"]["complete"]  # type: ignore[index]
    assert "pregnant" not in history(root) and "The train leaves at nine" in history(root)


def test_a_later_purge_takes_out_the_links_to_what_was_forgotten_before(root: Path, run: Run) -> None:
    first = run("remember", "My locker code is kelp-4711")
    stem = str(first["path"]).rpartition("/")[2].removesuffix(".md")
    other = root / str(run("remember", "The boat is blue")["path"])
    other.write_text(other.read_text("utf-8").replace("source:", f'contradicts: ["[[{stem}]]"]\nsource:'), "utf-8")
    run("commit")
    run("forget", "My locker code is kelp-4711", "--yes")
    run("forget", "My locker code is kelp-4711", "--purge", "--yes")
    assert "locker" not in history(root) and "The boat is blue" in history(root)


def test_a_purge_stops_where_another_repository_has_the_commits(root: Path, run: Run, tmp_path: Path) -> None:
    made = run("remember", SECRET)
    git(tmp_path, "init", "-q", "--bare", "other.git")
    git(root, "remote", "add", "origin", str(tmp_path / "other.git"))
    git(root, "push", "-q", "origin", "main")
    git(root, "fetch", "-q", "origin")
    head = git(root, "rev-parse", "HEAD")
    run("forget", str(made["path"]), "--purge", "--yes", code=2)
    assert git(root, "rev-parse", "HEAD") == head, "not even forgotten"
    run("forget", str(made["path"]), "--purge", "--yes", "--yes-remote", code=1)
    assert "kelp-4711" not in history(root)


def test_a_purge_stops_while_the_repository_is_busy(root: Path, run: Run) -> None:
    made = run("remember", SECRET)
    git(root, "checkout", "-q", "--detach")
    run("forget", str(made["path"]), "--purge", "--yes", code=2)
    git(root, "checkout", "-q", "main")
    assert (root / str(made["path"])).exists()


def test_what_cannot_be_found_is_said(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", "entries/none.md"]) == 2
    assert "none.md" in capsys.readouterr().err


def test_a_name_that_names_nothing_says_how_to_find_one(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name, said in (("", "no note is named"), ("samovar", "no note has the path or id samovar")):
        assert main(["forget", name]) == 2
        told = capsys.readouterr().err
        assert said in told and "vault-agent search WORDS finds its path" in told


def test_a_word_that_is_also_the_name_of_a_note_of_the_persons_asks_first(tmp_path: Path) -> None:
    root = make_vault(tmp_path, {"tea.md": "# Tea\n\nGreen.\n"}).place.root
    for answer, is_there in (("n", True), ("y", False)):
        with terminal(root, settings(tmp_path), "forget", "tea") as person:
            assert "goes: tea.md" in person.sees("forget all of this?")
            person.type(f"{answer}\n")
            assert person.ends() == (130 if is_there else 0)
        assert (root / "tea.md").exists() is is_there
