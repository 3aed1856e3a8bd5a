"""A private note does not exist for a model or another program, through whatever door they ask; its owner has it."""

import itertools
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import quote

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.llm.messages import (
    Assistant,
    Cancelled,
    JsonObject,
    Model,
    OnText,
    Reply,
    Request,
    ToolCall,
    Usage,
    ignore,
    never,
)
from agent.llm.providers import Providers
from agent.loop.records import RunRequest
from agent.runs import accounts
from agent.tools.tool_names import TOOL_NAMES
from agent.vault import private_notes
from agent.vault.change import Stamp
from agent.vault.history.find import commits
from agent.workspace.search_index import open_index
from agent.workspace.workspace import Workspace
from tests.index.fakes import FAKE
from tests.interfaces.http.doors import OpenHouse, open_house
from tests.interfaces.mcp.programs import connected, run
from tests.interfaces.mcp.programs import text as text_of
from tests.stories.agents import furnish, tell
from tests.tools.house import house
from tests.vaults import git, make_vault, write

CANARY = re.compile(r"canary[0-9]+x")
WORDS = "doctor, tea, alarm code"
SAID = f"# canary1x\n\n{WORDS}: canary2x #canary3x\n\n- [ ] canary4x call the doctor 📅 2026-11-30\n\n[[plan]]\n"
SETTINGS = "vault:\n  private:\n    - Diary/\n    - '*.secret.md'\n"
PRIVATE = {
    "Diary/canary5x.md": SAID,
    "Diary/deep/canary6x.md": f"---\naliases: [canary7x]\nid: 01KA00000000000000CANARY1X\n---\n{SAID}",
    "canary8x.secret.md": SAID,
    "people/canary9x.md": f"---\nagent: never\naliases: [canary10x]\ntype: goal\n---\n{SAID}",
    "Diary/canary11x.txt": f"{WORDS} canary12x\n",
    "Diary/canary13x.csv": f"{WORDS},canary14x\n",
}
NOTES = {
    "AGENT.md": "---\ntype: agent\n---\n# Who the agent is here\n\nBe brief.\n",
    "plan.md": "# Plan\n\n- [ ] buy tea for the doctor\n",
    "vault-agent.yaml": SETTINGS,
}
WAITS = {
    "human_ask",
    "delegate",
    "agent_ask",
    "web_fetch",
    "web_search",
    "research",
    "create_task",
    "memory_save",
    "shell_run",
}
"""Tools that read nothing here, and wait for somebody or leave something."""
READERS: dict[str, tuple[JsonObject, ...]] = {
    "vault_list": ({}, {"links_to": "plan"}, {"folder": "people"}),
    "vault_grep": ({"text": "doctor"},),
    "vault_log": ({}, {"limit": 200}),
    "vault_read": ({"path": "plan.md"},),
    "vault_undo": ({"dry_run": True},),
    "search_vault": ({"query": "doctor"}, {"query": "alarm code"}, {"query": "tag:canary3x"}),
    "open_tasks": ({}, {"until": "2027-01-01"}),
    "time_filter": ({"period": "today"}, {"period": "today", "query": "doctor"}),
    "get_recent_activity": ({"days": 7},),
}
OWNER = Speaker("cli")


@dataclass
class Curious:
    """A model that asks for everything through every tool, without a private name, then repeats what it was told."""

    said: list[str] = field(default_factory=list)
    ids: "itertools.count[int]" = field(default_factory=itertools.count)

    @property
    def model(self) -> Model:
        return Model("curious", 200_000, 2_000)

    def chat(self, request: Request, on_text: OnText = ignore, cancelled: Cancelled = never) -> Reply:
        said = "\n".join([*(m.text for m in request.messages), *(str(tool) for tool in request.tools)])
        self.said.append(said)
        has_asked = any(isinstance(message, Assistant) and message.calls for message in request.messages[-200:])
        if has_asked or not request.may_call or len(request.messages) < 2:
            return Reply(Assistant("Done."), Usage(10, 10), "end", "curious")
        named = sorted(({each.name for each in request.tools} | TOOL_NAMES) - WAITS)
        calls = tuple(ToolCall(f"c{next(self.ids)}", name, arguments) for name in named for arguments in _asked(name))
        return Reply(Assistant("Let me look.", calls), Usage(10, 10), "tools", "curious")


def _asked(tool: str) -> Iterator[JsonObject]:
    """The arguments with which a tool is called: several for those that read notes."""
    known = READERS.get(tool, ({"query": WORDS, "action": "list", "name": "a"},))
    yield from known


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with private notes: in commits of before they were private, edited since, and moved."""
    for key, value in {"HOME": str(tmp_path / "home"), "GIT__DURABLE": "false", "RUN__CALLS_PER_REPLY": "500",
                       "RUN__TOOL_CALLS": "500"}.items():  # fmt: skip
        monkeypatch.setenv(f"VAULT_AGENT_{key}", value)
    made = make_vault(tmp_path, {**NOTES, **PRIVATE}).place.root
    write(made / "Diary/canary5x.md", f"{SAID}\nmore of the doctor\n")
    git(made, "commit", "-q", "-a", "-m", "human(notes): edited canary5x")
    write(made / "plan.md", "# Plan\n\n- [ ] buy tea for the doctor, and cake\n")
    git(made, "mv", "people/canary9x.md", "people/canary15x.md")
    git(made, "commit", "-q", "-a", "-m", "human(notes): edited plan and renamed canary9x")
    (made / "people/canary15x.md").unlink()
    write(made / "people/canary16x.md", PRIVATE["people/canary9x.md"])
    return made


def requests(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """All that a model is told that asks for everything."""
    model = Curious()
    monkeypatch.setattr(accounts, "providers", lambda *_: Providers(model, model))
    workspace = open_workspace(root)
    with closing(open_index(workspace, chosen=FAKE)) as index:
        index.refresh()
        with closing(build_runs(workspace, index)) as runs:
            runs.ask(RunRequest(f"What do you know about the {WORDS}, and what is open?", OWNER), "")
    return model.said


def leaked(said: list[str]) -> set[str]:
    return {found for each in said for found in CANARY.findall(each)}


def test_no_request_to_a_model_has_a_word_or_a_name(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said = requests(root, monkeypatch)
    assert any("plan.md" in each and "cake" in each for each in said), "the other notes are still told"
    assert leaked(said) == set()


def test_a_planted_bug_is_noticed(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_notes.PrivateNotes, "cover", lambda self, path: False)
    assert {"canary2x", "canary5x", "canary8x"} <= leaked(requests(root, monkeypatch))


def test_nor_one_of_the_header(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(private_notes, "keeps_agent_out", lambda data: False)
    monkeypatch.setattr("agent.index.ingest.keeps_agent_out", lambda data: False)
    assert "canary16x" in leaked(requests(root, monkeypatch))


@pytest.mark.parametrize("private", ["Diary/canary5x.md", "Diary", "canary8x.secret.md"])
def test_a_tool_answers_as_if_there_were_nothing(tmp_path: Path, private: str) -> None:
    """The same words for a private note and for none: a model cannot find out which names there are."""
    at = house(tmp_path, {**NOTES, **PRIVATE})
    nothing = re.sub(r"canary[0-9]+x|^Diary$", lambda found: "canary99x" if found[0] != "Diary" else "None", private)
    calls: tuple[tuple[str, dict[str, str]], ...] = (
        ("vault_read", {}),
        ("vault_list", {}),
        ("vault_write", {"content": "x"}),
        ("vault_append", {"text": "x"}),
        ("vault_edit", {"old": "tea", "new": "x"}),
        ("vault_move", {"to": "x.md"}),
        ("vault_log", {}),
    )
    for tool, more in calls:
        name = "folder" if tool == "vault_list" else "path"
        told, other = (at.call(tool, **{name: each, **more}).result for each in (private, nothing))
        assert told.text.replace(private, nothing) == other.text or private == "Diary", tool
        assert not set(CANARY.findall(told.text)) - {*CANARY.findall(private)}, tool
    assert at.fails("vault_move", path="plan.md", to=f"Diary/{private}")
    assert at.fails("vault_write", path="Diary/new.md", content="x")
    assert at.fails("vault_read", path="[[canary7x]]")
    assert at.text("Diary/canary5x.md") == SAID


def test_a_program_reads_none_over_http(tmp_path: Path) -> None:
    with open_house(tmp_path, {**NOTES, **PRIVATE}) as door:
        write(door.root / "Diary/canary5x.md", f"{SAID}\nlater\n")
        door.until(lambda: "Diary/canary5x.md" not in git(door.root, "status", "--porcelain"), "the edit is committed")
        told = []
        for path, parameters in _all_gets(door):
            answer = door.client.get(path, params=parameters)
            assert not CANARY.findall(answer.text), path
            assert answer.status_code < 400, (path, answer.text)
            told.append(answer.text)
        assert any("plan.md" in each for each in told), "what is not private is told"
        for path in PRIVATE:
            for form in ("/api/v1/notes/{}", "/api/v1/pictures/{}", "/notes/{}", "/history/{}", "/backlinks/{}"):
                answer = door.client.get(form.format(quote(path)))
                assert not set(CANARY.findall(answer.text)) - {*CANARY.findall(path)}, form
                assert answer.status_code in {404, 400} or "doctor" not in answer.text
            assert door.client.get(f"/api/v1/notes/{quote(path)}").status_code in {400, 404}
        refused = door.client.put("/api/v1/notes/Diary/new.md", json={"text": "x"}, headers={"If-None-Match": "*"})
        assert refused.status_code >= 400 and not (door.root / "Diary/new.md").exists()


_ASKED = {"q": "doctor tea", "query": "doctor tea", "task": "doctor tea", "commit": "HEAD"}


def _all_gets(door: OpenHouse) -> Iterator[tuple[str, dict[str, str]]]:
    """The paths of all operations that read and take no name, each with those of these words that it takes, and the
    pages."""
    for path, operations in door.get("/openapi.json")["paths"].items():
        if "get" in operations and "{" not in path and operations["get"]["operationId"] not in {"events", "port"}:
            taken = {each["name"] for each in operations["get"].get("parameters", ())}
            yield path, {name: words for name, words in _ASKED.items() if name in taken}
    pages = ("/", "/notes", "/notes?folder=people", "/graph", "/graph/notes", "/memory", "/status", "/sync", "/tasks")
    yield from ((page, {}) for page in pages)


def test_nor_over_mcp(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place = furnish(tmp_path, monkeypatch.setenv)
    for path, data in {**NOTES, **PRIVATE}.items():
        write(place / path, data)
    git(place, "add", "-A")
    git(place, "commit", "-q", "-m", "human(notes): canary5x")

    async def work() -> None:
        async with connected(place) as program:
            said = [str(await program.client.list_resources())]
            for tool in (await program.client.list_tools()).tools:
                for arguments in ({}, {"query": "doctor tea"}, {"folder": "people"}, {"path": "plan.md"}):
                    said.append(text_of(await program.call(tool.name, **arguments)))
            assert leaked(said) == set() and any("plan.md" in each for each in said)
            for path in PRIVATE:
                answer = await program.call("read", path=path)
                assert answer.is_error and "doctor" not in text_of(answer)

    run(work)


def test_the_owner_has_them_at_the_command_line(root: Path, tmp_path: Path) -> None:
    own = {"VAULT_AGENT_HOME": str(tmp_path / "home")}
    assert "canary2x" in tell(root, own, "get", "Diary/canary5x.md")
    assert "canary5x" in tell(root, own, "log") and "canary5x" in tell(root, own, "diff", "HEAD~1")
    assert not CANARY.findall(tell(root, own, "search", "doctor tea alarm code"))
    write(root / "Diary/canary5x.md", "# Other\n")
    tell(root, own, "commit")
    assert git(root, "show", "HEAD:Diary/canary5x.md") == "# Other\n", "it is versioned"
    tell(root, own, "undo", "HEAD")
    assert (root / "Diary/canary5x.md").read_text("utf-8") == f"{SAID}\nmore of the doctor\n", "and undone"


def found(workspace: Workspace, words: str) -> set[str]:
    with closing(open_index(workspace, chosen=FAKE)) as index:
        index.refresh()
        return {hit.path for hit in index.searcher.search(words, 20).hits}


def test_the_index_follows_the_settings_and_the_header(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    root = make_vault(tmp_path, {"Diary/a.md": "# Doctor\n", "b.md": "# Doctor\n", "c.md": "# Doctor\n"}).place.root
    workspace = open_workspace(root)
    assert found(workspace, "doctor") == {"Diary/a.md", "b.md", "c.md"}
    write(root / "vault-agent.yaml", "vault:\n  private: Diary/\n")
    write(root / "b.md", "---\nagent: never\n---\n# Doctor\n")
    assert found(workspace, "doctor") == {"c.md"}, "the open vault sees the new settings, too"
    write(root / "vault-agent.yaml", "vault:\n  language: en\n")
    write(root / "b.md", "# Doctor\n")
    assert found(workspace, "doctor") == {"Diary/a.md", "b.md", "c.md"}


def test_a_note_of_the_agents_own_is_found_whatever_its_header_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VAULT_AGENT_HOME", str(tmp_path / "home"))
    header = "---\nagent: never\n---\n"
    root = make_vault(tmp_path, {"MEMORY.md": f"{header}# Doctor\n", "b.md": f"{header}# Doctor\n"}).place.root
    assert found(open_workspace(root), "doctor") == {"MEMORY.md"}


def test_as_many_commits_are_listed_as_were_asked_for_whatever_private_ones_lie_between(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {"a.md": "1\n"})
    root = vault.place.root
    write(root / "vault-agent.yaml", "vault:\n  private: Diary/\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the settings")
    for number in range(9):
        write(root / "Diary" / f"{number}.md", "x\n")
        git(root, "add", "-A")
        git(root, "commit", "-qm", f"diary {number}")
    assert [each.subject for each in commits(vault, limit=1)] == ["the settings"]
    assert len(commits(vault, limit=2)) == 2
    assert [each.subject for each in commits(vault, until=vault.clock.now(), limit=1)] == ["the settings"]
    assert commits(vault, path="Diary", limit=1) == []


@pytest.mark.parametrize(
    ("setting", "private", "free"),
    [
        ("Diary/", ("Diary/a.md", "x/Diary/b/c.md", "diary/A.MD"), ("Diary2/a.md", "my Diary/a.md")),
        ("Diary/deep", ("Diary/deep/a.md", "Diary/deep.md"), ("x/Diary/deep/a.md", "Diary/a.md")),
        ("/Diary", ("Diary/a.md",), ("x/Diary/a.md",)),
        ("*.secret.md", ("a.secret.md", "x/b.secret.md"), ("secret.md", "a.secret.txt")),
        ("Health/*", ("Health/a.md", "Health/b/c.md"), ("Health.md",)),
        ("a/**/z.md", ("a/b/z.md", "a/b/c/z.md"), ("a/z2.md",)),
        ("Tagebuch (2026), [x]", ("Tagebuch (2026)/a.md", "[x].md"), ("x.md",)),
        ("Smith, John/\n", ("Smith, John/a.md",), ("John/a.md", "Smith.md")),
        ("Ärzte", ("A\u0308rzte/a.md",), ("Arzte/a.md",)),
        ("日记/", ("日记/a.md",), ("日/a.md",)),
        (" , /", (), ("a.md", "b/c.md")),
    ],
)
def test_a_pattern_means_names_or_paths(setting: str, private: tuple[str, ...], free: tuple[str, ...]) -> None:
    covers = private_notes.compile_private(setting)
    assert [path for path in private if not covers(path)] == []
    assert [path for path in free if covers(path)] == []


def test_what_a_program_writes_stays_out_of_private_folders(tmp_path: Path) -> None:
    vault = make_vault(tmp_path, {**NOTES, **PRIVATE})
    with pytest.raises(Exception, match="not for the agent"), vault.transaction("x", Stamp("agent")) as change:
        change.create("Diary/new.md", b"x")
    with vault.whole.transaction("restore", Stamp("human")) as change:
        change.create("Diary/new.md", b"x")
    assert vault.read("Diary/new.md") is None and vault.whole.read("Diary/new.md") == b"x"
    assert [each.subject for each in commits(vault)] != [each.subject for each in commits(vault.whole)]
    assert vault.read("AGENT.md"), "what the agent lives by is never private"


@pytest.mark.parametrize("more", [(), ("Diary/",)], ids=["alone", "with another"])
def test_a_name_with_a_comma_is_one_pattern_of_a_list(tmp_path: Path, more: tuple[str, ...]) -> None:
    listed = "".join(f"    - '{each}'\n" for each in ("Smith, Jane/", *more))
    vault = make_vault(tmp_path, {"Smith, Jane/talk.md": SAID, "Jane/plan.md": "# Plan\n", "plan.md": "# Plan\n"})
    write(vault.place.root / "vault-agent.yaml", f"vault:\n  private:\n{listed}")
    assert [*vault.note_paths()] == ["Jane/plan.md", "plan.md"]
    assert vault.read("Smith, Jane/talk.md") is None
