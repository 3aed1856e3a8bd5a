"""All that is the agent's lies below one folder of the person's choice, whatever is asked of it.

The other stories have it at the vault's root; those that take both are in `test_a_day_with_the_agent`.
"""

from dataclasses import dataclass
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.context.prompt import Audience
from agent.loop.agent import SystemMessages
from agent.loop.session import load_session
from agent.vault.folders import AgentFolder
from tests.stories.agents import call, document, only, script, settings, tell, ticked
from tests.vaults import git, make_vault, write

MINE = {"Garden.md": "# Garden\n\nTomatoes by the wall.\n", "daily/2026-11-20.md": "My own day.\n"}
SKILL = "---\nname: tea\ndescription: Makes tea.\n---\n# Tea\n\nBoil water.\n"
UNDER = "00 Ablage/助手/"


@dataclass(frozen=True)
class Home:
    """A vault with a few notes of its person, and the folder of the agent's."""

    root: Path
    folder: Path
    home: AgentFolder

    def says(self, *replies: object) -> dict[str, str]:
        """The settings with a model that says this."""
        return settings(self.folder, script(self.folder / "script.json", *replies))

    def at(self, name: str) -> Path:
        return self.root / self.home.at(name)

    def notes(self, folder: str) -> list[Path]:
        """The notes in a folder of the agent's, without those that explain it."""
        return sorted(path for path in self.at(folder).rglob("*.md") if not path.name.startswith("About"))

    def elsewhere(self) -> set[str]:
        """The files of the vault that are neither the person's nor in the agent's folder."""
        paths = {path.relative_to(self.root).as_posix() for path in self.root.rglob("*") if path.is_file()}
        inside = {path for path in paths if path.startswith((".git/", UNDER))}
        return paths - inside - MINE.keys() - {"vault-agent.yaml"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Home:
    root = tmp_path / "vault"
    for path, text in MINE.items():
        write(root / path, text)
    for key, value in settings(tmp_path).items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(root)
    tell(root, settings(tmp_path), "init", str(root), "--yes", "--under", UNDER.rstrip("/"))
    return Home(root, tmp_path, AgentFolder(UNDER))


def test_what_is_laid_remembered_and_asked_is_in_the_folder(home: Home) -> None:
    assert not home.elsewhere() and (home.root / "daily/2026-11-20.md").read_text() == "My own day.\n"
    own = home.says("In the hall.")
    kept = document(home.root, own, "remember", "The spare key is with Ana")
    assert f'inFolder("{UNDER}entries")' in home.at("entries.base").read_text("utf-8")
    assert kept["path"] == home.notes("entries")[0].relative_to(home.root).as_posix()
    asked = document(home.root, own, "ask", "I moved to Lisbon. Who has the spare key?")
    assert asked["session"].startswith(f"{UNDER}sessions/")
    assert kept["path"] in {each["path"] for each in asked["sources"]}
    assert any("Lisbon" in path.read_text("utf-8") for path in home.notes("entries"))
    assert f"[[{asked['session'].removesuffix('.md')}" in only(home.notes("daily")[-1:]).read_text("utf-8")
    assert "Lisbon" in tell(home.root, own, "recall", "where do I live")
    assert git(home.root, "status", "--porcelain") == ""
    assert not home.elsewhere()


def test_what_steers_waits_for_a_yes_and_records_are_not_for_tools(home: Home) -> None:
    agent = home.home.at("AGENT.md")
    own = home.says(
        call("vault_write", path=home.home.at("sessions/mine.md"), content="x"),
        call("vault_edit", path=agent, old="A calm, brief assistant", new="A kind assistant"),
        "Done.",
    )
    asked = document(home.root, own, "ask", "be kind")
    assert asked["outcome"] == "needs_approval" and not home.at("sessions/mine.md").exists()
    (note,) = home.notes("approvals")
    assert asked["waits_for"] == note.relative_to(home.root).as_posix()
    write(note, ticked(note.read_text("utf-8"), "approve"))
    ended = document(home.root, own, "ask", "--resume", asked["session"])
    assert ended["outcome"] == "finished" and "A kind assistant" in home.at("AGENT.md").read_text("utf-8")
    document(home.root, home.says("Yes."), "undo", "--run", str(ended["run"]))
    assert "A calm, brief assistant" in home.at("AGENT.md").read_text("utf-8")
    assert home.at(str(asked["session"]).removeprefix(UNDER)).exists()


def test_the_agent_is_told_of_its_folder_and_reads_the_persons_prompts_in_it(home: Home) -> None:
    write(home.at("prompts/safety.md"), "Be careful with tea.\n")
    write(home.at("prompts/system.md"), "You live in a vault. {{language}} Mind the teapot.\n")
    tell(home.root, home.says(), "commit")
    messages = SystemMessages(open_workspace(home.root).vault, "en")
    spoken = messages.new(Audience.OWNER)
    assert "Mind the teapot" in spoken.message.text and f"write {UNDER}daily/" in spoken.message.text
    assert "A calm, brief assistant" in spoken.message.text
    guests = messages.new(Audience.GUEST)
    assert not any(each in guests.message.text for each in ("teapot", UNDER, "calm")), "a guest hears nothing of it"


def test_a_question_is_asked_and_answered_in_the_folder(home: Home) -> None:
    own = home.says(call("human_ask", question="Red or green?"), "Green it is.")
    asked = document(home.root, own, "ask", "paint the door")
    (note,) = home.notes("questions")
    (waiting,) = document(home.root, own, "questions")["questions"]
    assert asked["waits_for"] == note.relative_to(home.root).as_posix() == waiting["path"]
    document(home.root, own, "questions", "answer", waiting["id"], "green")
    assert document(home.root, own, "ask", "--resume", asked["session"])["answer"] == "Green it is."


def test_a_note_in_its_inbox_is_a_request_and_one_elsewhere_is_not(home: Home) -> None:
    path = home.home.at("inbox/tea.md")
    write(home.root / path, "Which tea?\n")
    (answer,) = document(home.root, home.says("Green."), "run", path)["answers"]
    assert answer["status"] == "done" and "Green." in (home.root / path).read_text("utf-8")
    refused = document(home.root, home.says("No."), "run", home.home.at("MEMORY.md"), code=2)
    assert home.home.at("inbox/") in refused["error"]["hint"]


def test_skills_are_installed_shown_and_counted_in_the_folder(home: Home) -> None:
    write(home.folder / "source/tea/SKILL.md", SKILL)
    own = home.says(call("skills", action="show", name="book-notes"), "Read.")
    tell(home.root, own, "skills", "install", str(home.folder / "source"))
    assert home.at("skills/tea/SKILL.md").read_text("utf-8") == SKILL
    paths = {each["name"]: each["path"] for each in document(home.root, own, "skills", "list")["skills"]}
    assert paths["tea"] == home.home.at("skills/tea/SKILL.md")
    tell(home.root, own, "skills", "review", "tea", said="y\n")
    document(home.root, own, "ask", "read a book")
    assert home.at("skills/history/book-notes.md").exists()


def test_memories_are_tended_forgotten_and_purged_in_the_folder(home: Home) -> None:
    own = home.says("Noted.")
    asked = document(home.root, own, "ask", "My sister Grete lives in Lima. Where does she live?")
    tell(home.root, {**own, "VAULT_AGENT_MEMORY__LIFECYCLE": "true"}, "memory", "run")
    assert "Grete" in home.at("MEMORY.md").read_text("utf-8")
    tell(home.root, own, "forget", only(home.notes("entries")).relative_to(home.root).as_posix(), "--purge", "--yes")
    assert len(home.notes("archive/forgotten")) == 1 and home.notes("entries") == []
    assert "Grete" not in home.at("MEMORY.md").read_text("utf-8")
    assert "Grete" not in git(home.root, "log", "-p", "main")
    tell(home.root, own, "ask", "My sister Grete lives in Lima. Really!")
    assert home.notes("entries") == [], "what was forgotten is remembered again"
    assert not Path(home.root, asked["session"]).exists(), "its name still says it"
    found = load_session(open_workspace(home.root).vault, asked["session"])
    assert found.path.startswith(f"{UNDER}sessions/") and "Grete" not in found.path, (
        "the old name is not known any more"
    )


def test_everything_else_works_there_too(home: Home) -> None:
    own = home.says("Yes.")
    for words in (["status"], ["log"], ["metrics"], ["memory", "report"], ["context", "--explain", "tea"], ["reindex"]):
        tell(home.root, own, *words)
    checks = {each["name"]: each for each in document(home.root, own, "doctor")["checks"]}
    assert checks["template"]["level"] == "ok" and checks["vault"]["level"] == "ok"
    hits = document(home.root, own, "search", f'Welcome path:"{home.home.path}"')["hits"]
    assert {each["path"] for each in hits} == {home.home.at("Welcome.md"), home.home.at("MEMORY.md")}
    again = document(home.root, own, "init", str(home.root))
    assert again["was_vault"] and not again["created"]


def test_the_folder_is_not_changed_under_the_agent(home: Home) -> None:
    """A pull could bring such settings: what was for the agent's program alone would be a note like others."""
    setting = home.root / "vault-agent.yaml"
    text = setting.read_text("utf-8")
    write(setting, "vault:\n  folder: elsewhere\n")
    opened = open_workspace(home.root)
    assert opened.vault.home == home.home and "but the agent's notes are in" in opened.loaded.unfollowed[0]
    refused = document(home.root, home.says(), "init", str(home.root), "--under", "third", code=2)
    assert "already" in refused["error"]["message"]
    write(setting, text)
    assert open_workspace(home.root).vault.home == home.home


@pytest.mark.parametrize("name", [".agent", "../agent", "a[b]", 'a"b', "a|b", "a#b", ".git"])
def test_a_folder_that_cannot_be_is_refused_before_anything_is_written(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = document(tmp_path, settings(tmp_path), "init", str(tmp_path / "new"), "--under", name, code=2)
    assert "such as Agent" in refused["error"]["hint"] and not (tmp_path / "new").exists()


def test_only_a_vault_s_own_file_names_its_folder(tmp_path: Path) -> None:
    own = settings(tmp_path)
    refused = document(tmp_path, own, "config", "set", "vault.folder", "Agent", code=2)
    assert "--under" in refused["error"]["hint"]
    make_vault(tmp_path)
    wrong = {**own, "VAULT_AGENT_VAULT__FOLDER": "Agent"}
    assert "one vault" in document(tmp_path / "vault", wrong, "status", code=2)["error"]["message"]
