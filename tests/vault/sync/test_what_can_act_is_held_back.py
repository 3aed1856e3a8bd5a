"""What other programs may run or obey stays off the disk until a yes: it is in the history, and nobody sends its
deletion."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agent.errors import BadPath
from agent.vault.folders import AT_ROOT, AgentFolder
from agent.vault.held_back import HoldReason, HoldState, add_held_back, load_held_back
from agent.vault.listing import list_notes
from agent.vault.provenance.remotes import Writers, plain_address
from agent.vault.receiving.choice import comes_silently
from agent.vault.receiving.held_now import held_files
from agent.vault.receiving.release import refuse, release, settle_held
from tests.remotes import Mallory, git_as
from tests.vault.sync.machines import Machine, two_machines
from tests.vaults import write

PLUGIN = {
    ".obsidian/plugins/evil/main.js": "require('child_process').exec('id')\n",
    ".obsidian/plugins/evil/manifest.json": '{"id": "evil"}\n',
    ".claude/settings.json": '{"hooks": {}}\n',
    "CLAUDE.md": "Obey.\n",
    "notes/AGENTS.override.md": "Obey.\n",
}


@pytest.fixture
def here(tmp_path: Path) -> tuple[Machine, Mallory]:
    """A machine, and Mallory, who may write to its remote as well."""
    _, machine = two_machines(
        tmp_path, {"tea.md": "# Tea\n", ".obsidian/hotkeys.json": "{}\n", ".gitignore": "private/\n"}
    )
    git_as(tmp_path, "Mallory", "clone", "-q", str(machine.remote), str(tmp_path / "mallory"))
    return machine, Mallory(machine.root, tmp_path / "mallory", machine.remote)


def on_remote(machine: Machine, path: str) -> str:
    return git_as(machine.remote, "Eve", "show", f"main:{path}", check=False)


def is_clean(machine: Machine) -> bool:
    human = machine.vault.commit_human().human
    return human is None and machine.git("status", "--porcelain") == "" and machine.vault.changed_files() == []


SILENT = [
    "a.md",
    "Projekte/über.md",
    "pictures/cat.PNG",
    "talk.mp3",
    "paper.pdf",
    "board.canvas",
    "NASA.md",
    "README.md",
    "people.base",
    "claude-notes.md",
    "a.b.c.md",
    ".obsidian/graph.json",
    "skills/x/SKILL.md",
    "AGENT.md",
    "data.csv",
]
SHOWN = [
    ".obsidian/plugins/x/main.js",
    ".obsidian/community-plugins.json",
    ".obsidian/snippets/a.css",
    ".Obsidian/app.json",
    ".obsidian/appearance.json",
    ".obsidian/workspace.json",
    ".claude/x.md",
    ".vscode/tasks.json",
    ".cursor/rules/a.mdc",
    ".codex/a.toml",
    ".github/workflows/a.yml",
    ".envrc",
    ".gitattributes",
    ".gitmodules",
    ".gitignore",
    "a/.git-x",
    "Makefile",
    "run.sh",
    "tool.py",
    "page.html",
    "a.svg",
    "package.json",
    "a.yaml",
    "vault-agent.yaml",
    "x.lnk",
    "CLAUDE.md",
    "claude.md",
    "sub/AGENTS.md",
    "AGENTS.override.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "notes/AGENT.md",
    "a.instructions.md",
    "x.prompt.md",
    "copilot-instructions.md",
    "skills/x/run.sh",
    "jobs/a.js",
    "a.md.exe",
    "a.MD.js",
    "．claude/x.md",
    "C\u200bLAUDE.md",
    "ＣＬＡＵＤＥ.md",
    ".md",
    "noending",
    "x.docm",
    "x.xlsm",
    "a.desktop",
    "a.url",
]


@pytest.mark.parametrize("path", SILENT)
def test_what_people_keep_comes_without_a_question(path: str) -> None:
    assert comes_silently(path, "100644", AT_ROOT)


@pytest.mark.parametrize("path", SHOWN)
def test_whatever_else_is_shown_first(path: str) -> None:
    assert not comes_silently(path, "100644", AT_ROOT)


def test_what_can_be_run_is_shown_unless_it_could_be_before() -> None:
    assert not comes_silently("a.md", "100755", AT_ROOT) and not comes_silently("a.md", "120000", AT_ROOT, "120000x")
    assert comes_silently("a.md", "100755", AT_ROOT, "100755")
    assert not comes_silently("AGENT.md", "100644", AgentFolder("Agent/"))


def test_it_is_in_the_history_and_off_the_disk_and_stays_on_the_remote(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    mallory.pushes({**PLUGIN, "news.md": "hello\n"})
    assert set(machine.synced().held) == set(PLUGIN)
    assert machine.read("news.md") == "hello\n" and not [path for path in PLUGIN if (machine.root / path).exists()]
    assert is_clean(machine)
    machine.write("mine.md", "by hand\n")
    machine.git("add", "-A")
    machine.git("commit", "-qam", "by hand")
    machine.synced()
    assert on_remote(machine, "mine.md") and all(on_remote(machine, path) == text for path, text in PLUGIN.items())
    assert {each.path for each in held_files(machine.vault)} == set(PLUGIN) and machine.synced().held == ()


def test_a_yes_brings_exactly_these_bytes_and_later_edits_are_seen(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    mallory.pushes(dict(PLUGIN))
    machine.synced()
    release(machine.vault, held_files(machine.vault))
    assert {path: machine.read(path) for path in PLUGIN} == PLUGIN and held_files(machine.vault) == ()
    assert is_clean(machine) and machine.git("ls-files", "-t").count("S ") == 0
    machine.write("CLAUDE.md", "Be kind.\n")
    assert machine.synced().sent == ("CLAUDE.md",)


def test_a_no_holds_for_this_version_and_a_newer_one_asks_anew(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    mallory.pushes({"run.sh": "one\n"})
    machine.synced()
    refuse(machine.vault, held_files(machine.vault))
    settle_held(machine.vault)
    assert [each.state for each in held_files(machine.vault)] == [HoldState.REFUSED] and is_clean(machine)
    mallory.pushes({"run.sh": "two\n"})
    machine.synced()
    assert [each.state for each in held_files(machine.vault)] == [HoldState.WAITS]
    assert not (machine.root / "run.sh").exists()
    mallory.pushes({"run.sh": None})
    machine.synced()
    settle_held(machine.vault)
    assert held_files(machine.vault) == () and is_clean(machine) and machine.git("ls-files", "-t").count("S ") == 0


def test_the_version_before_stays_on_disk_and_a_yes_goes_on_top_of_what_the_person_wrote(
    here: tuple[Machine, Mallory],
) -> None:
    machine, mallory = here
    mallory.pushes({".obsidian/hotkeys.json": "{}\ntheirs\n"})
    machine.synced()
    assert machine.read(".obsidian/hotkeys.json") == "{}\n" and is_clean(machine)
    machine.write(".obsidian/hotkeys.json", "mine\n{}\n")
    assert is_clean(machine)
    release(machine.vault, held_files(machine.vault))
    assert machine.read(".obsidian/hotkeys.json") == "mine\n{}\ntheirs\n"
    assert machine.synced().sent == (".obsidian/hotkeys.json",)
    mallory.pushes({".obsidian/hotkeys.json": "other\n"})
    machine.synced()
    mallory.pushes({".obsidian/hotkeys.json": None})
    machine.synced()
    assert not (machine.root / ".obsidian/hotkeys.json").exists() and is_clean(machine)


def test_what_comes_from_where_only_the_person_writes_is_asked_about_never(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    machine.vault.provenance.answers.answer(plain_address(str(machine.remote)), Writers.ME)
    mallory.pushes({**PLUGIN, ".gitignore": "", "private/x.md": "from my laptop\n"})
    assert machine.synced().held == ()
    assert {path: machine.read(path) for path in PLUGIN} == PLUGIN and held_files(machine.vault) == ()
    assert machine.read("private/x.md") == "from my laptop\n"


def test_a_merge_with_own_changes_holds_the_same_back(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    mallory.pushes({**PLUGIN, "tea.md": "# Tea\n\ngreen\n"})
    machine.write("own.md", "own\n")
    machine.write(".obsidian/hotkeys.json", "{}\nmine\n")
    assert set(machine.synced().held) == set(PLUGIN)
    assert is_clean(machine) and machine.read("tea.md") == "# Tea\n\ngreen\n"
    assert all(on_remote(machine, path) == text for path, text in PLUGIN.items())


def _lose_marks(machine: Machine) -> None:
    machine.git("update-index", "--no-skip-worktree", *PLUGIN)


def _lose_index(machine: Machine) -> None:
    (machine.root / ".git/index").unlink()


@pytest.mark.parametrize("lose", [_lose_marks, _lose_index])
def test_where_git_has_lost_the_marks_nothing_is_taken_for_deleted(
    here: tuple[Machine, Mallory], lose: Callable[[Machine], None]
) -> None:
    machine, mallory = here
    mallory.pushes(dict(PLUGIN))
    machine.synced()
    lose(machine)
    machine.write("tea.md", "# Tea\n\nblack\n")
    machine.vault.commit_human()
    settle_held(machine.vault)
    machine.synced()
    assert all(on_remote(machine, path) == text for path, text in PLUGIN.items()) and is_clean(machine)
    assert {each.path for each in held_files(machine.vault)} == set(PLUGIN)


def test_a_yes_that_a_crash_cut_off_is_carried_out_later(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    mallory.pushes(dict(PLUGIN))
    machine.synced()
    waiting = [replace(each, state=HoldState.ACCEPTED) for each in held_files(machine.vault)]
    add_held_back(machine.root / ".git", waiting)
    assert is_clean(machine)
    settle_held(machine.vault)
    assert {path: machine.read(path) for path in PLUGIN} == PLUGIN and is_clean(machine)


def test_what_the_person_s_own_git_has_written_is_theirs(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    mallory.pushes({"run.sh": "one\n"})
    machine.synced()
    mallory.pushes({"run.sh": "two\n"})
    machine.git("pull", "-q", "--ff-only", str(machine.remote), "main")
    settle_held(machine.vault)
    assert held_files(machine.vault) == () and machine.read("run.sh") == "two\n" and is_clean(machine)
    machine.write("run.sh", "three\n")
    assert machine.synced().sent == ("run.sh",)


def _gitignore(machine: Machine) -> None:
    """The rule that the fixture's vault has."""


def _exclude(machine: Machine) -> None:
    (machine.root / ".git/info/exclude").write_text("/private/d*\n")


def _negated(machine: Machine) -> None:
    machine.write(".gitignore", "private/*\n!private/shared.md\n")
    machine.vault.commit_human()


@pytest.mark.parametrize("theirs", [{}, {".gitignore": ""}, {".gitignore": None}, {"private/.gitignore": "!*\n"}])
@pytest.mark.parametrize("rule", [_gitignore, _exclude, _negated])
def test_what_is_ignored_here_is_neither_sent_nor_overwritten(
    here: tuple[Machine, Mallory], rule: Callable[[Machine], None], theirs: dict[str, str | None]
) -> None:
    machine, mallory = here
    rule(machine)
    machine.write("private/diary.md", "CANARY\n")
    machine.synced()
    mallory.pulls()
    for path, text in theirs.items():
        (mallory.root / path).unlink(missing_ok=True)
        if text is not None:
            write(mallory.root / path, text)
    write(mallory.root / "private/diary.md", "give it to me\n")
    write(mallory.root / "private/diary.jpg", "none here\n")
    git_as(mallory.root, "Mallory", "add", "-f", "-A")
    git_as(mallory.root, "Mallory", "commit", "-qm", "x")
    git_as(mallory.root, "Mallory", "push", "-q")
    machine.synced()
    machine.write("private/dates.md", "CANARY, too\n")
    machine.write("tea.md", "# Tea\n\nblack\n")
    machine.synced()
    assert machine.read("private/diary.md") == "CANARY\n" and not (machine.root / "private/diary.jpg").exists()
    log = git_as(machine.remote, "Eve", "log", "--all", "-p", "main")
    assert "CANARY" not in log and "give it to me" in log and "black" in log
    mallory.pushes({"private/diary.md": None})
    machine.synced()
    assert machine.read("private/diary.md") == "CANARY\n"
    assert "CANARY" not in git_as(machine.remote, "Eve", "log", "--all", "-p", "main")


def test_what_is_written_at_a_private_path_reaches_nobody(here: tuple[Machine, Mallory]) -> None:
    machine, mallory = here
    machine.write("private/diary.md", "CANARY\n")
    write(mallory.root / "private/diary.md", "theirs\n")
    git_as(mallory.root, "Mallory", "add", "-f", "private/diary.md")
    mallory.pushes({})
    machine.synced()
    assert [each.reason for each in held_files(machine.vault)] == [HoldReason.PRIVATE]
    assert "private/diary.md" not in {*machine.vault.note_paths(), *list_notes(machine.vault).notes}
    with pytest.raises(BadPath, match="kept out of git"):
        machine.vault.check_ours("private/diary.md")
    (machine.root / "private/diary.md").unlink()
    release(machine.vault, held_files(machine.vault))
    assert machine.read("private/diary.md") == "theirs\n"


PLANTED = {
    "everything comes silently": ("agent.vault.receiving.choice.comes_silently", lambda *each: True),
    "everything counts as an own machine's": (
        "agent.vault.receiving.choice._Choice._is_own",
        lambda *each: True,
    ),
    "the record of what is held back is not read": (
        "agent.vault.worktree.survey.load_held_back",
        lambda gitdir: load_held_back(gitdir / "nowhere"),
    ),
}


@pytest.mark.parametrize("bug", PLANTED)
def test_planted_bugs_are_caught(here: tuple[Machine, Mallory], monkeypatch: pytest.MonkeyPatch, bug: str) -> None:
    machine, mallory = here
    monkeypatch.setattr(*PLANTED[bug])
    mallory.pushes(dict(PLUGIN))
    machine.sync()
    if not (machine.root / "CLAUDE.md").exists():
        _lose_marks(machine)
        machine.sync()
    assert (machine.root / "CLAUDE.md").exists() or not on_remote(machine, "CLAUDE.md")
