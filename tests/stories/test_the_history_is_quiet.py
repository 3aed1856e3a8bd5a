"""What a run leaves in the history: one commit with all that it did, and what is said of it."""

from pathlib import Path

import pytest

from agent.markdown.title import columns
from tests.stories.agents import call, document, furnish, script, settings, tell, ticked
from tests.vaults import git, head, write


def made(root: Path, before: str, *options: str) -> list[str]:
    return git(root, "log", "--format=%s", *options, f"{before}..").splitlines()


PLANTS = ("ginger", "mint", "sage")
GINGER, MINT, SAGE = (call("vault_write", path=f"{name}.md", content=f"# {name}\n") for name in PLANTS)
NOTE = ("ask", "--note", "inbox/tea.md")
MOVE = call("vault_move", path="plan.md", to="work/plan.md")
LONG = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")
WHICH = call("human_ask", question="Which tea?", options=["green", "black"])
ASK, GO_ON = ("ask", "write about tea"), ("ask", "--resume", "SESSION")


@pytest.mark.parametrize(
    ("replies", "steps", "ours", "persons"),
    [
        pytest.param(["Nothing new."], [ASK], 1, 0, id="an answer"),
        pytest.param([GINGER, "Written."], [ASK], 1, 0, id="one edit"),
        pytest.param([GINGER, MINT, SAGE, "Written."], [ASK], 1, 0, id="three edits"),
        pytest.param([MOVE, "Moved."], [ASK], 1, 0, id="a move"),
        pytest.param([LONG, GINGER, "Written."], [ASK, "tick", GO_ON], 2, 1, id="an approval in its note"),
        pytest.param([LONG, "Written."], [ASK, ("needs", "yes", "WAITS", "--go-on")], 2, 1, id="an approval"),
        pytest.param([WHICH, "Green."], [ASK, ("needs", "answer", "WAITS", "1", "--go-on")], 2, 1, id="a question"),
        pytest.param([GINGER, "Written."], ["job", ("jobs", "run", "tea")], 1, 1, id="a job"),
        pytest.param([GINGER, "Written."], ["inbox", NOTE], 1, 1, id="a request in a note"),
    ],
)
def test_what_a_run_does_is_one_commit(
    tmp_path: Path, replies: list[object], steps: list[object], ours: int, persons: int
) -> None:
    """One more where it waits for its person, whose own edits and decisions are commits of their own."""
    said = script(tmp_path / "script.json", *replies)
    own = settings(tmp_path, said)
    root = furnish(tmp_path, lambda key, value: None, said)
    before, last = head(root), dict[str, object]()
    for step in steps:
        if step == "tick":
            note = root / str(last["waits_for"])
            write(note, ticked(note.read_text("utf-8"), "approve"))
        elif step == "job":
            write(root / "jobs/tea.md", "---\ntype: job\non:\n  cron: 0 9 * * *\n---\n# Tea\n\nLook at the tea.\n")
        elif step == "inbox":
            write(root / "inbox/tea.md", "Which tea do I have?\n")
        else:
            named = {"SESSION": last.get("session"), "WAITS": last.get("waits_for")}
            last = document(root, own, *(str(named.get(word, word)) for word in step))  # type: ignore[attr-defined]
    tell(root, own, "commit")
    actors = git(root, "log", "--format=%(trailers:key=Vault-Actor,valueonly,separator=%x2C)", f"{before}..").split()
    assert (len(actors) - actors.count("human"), actors.count("human")) == (ours, persons), git(root, "log", "--stat")
    assert git(root, "status", "--porcelain") == ""


def test_one_note_of_a_run_is_taken_back_and_its_record_stays(tmp_path: Path) -> None:
    said = script(tmp_path / "script.json", GINGER, MINT, "Written.")
    own = settings(tmp_path, said)
    root = furnish(tmp_path, lambda key, value: None, said)
    done = document(root, own, "ask", "write two notes")
    assert git(root, "log", "-1", "--format=%s") == "session: finished: write two notes\n"
    session, (made,) = str(done["session"]), done["commits"]
    assert made == head(root)
    tell(root, own, "undo", "--run", str(done["run"]))
    assert not (root / "ginger.md").exists() and (root / session).exists(), "the record stays"
    assert not [note for note in (root / "entries").rglob("*.md") if "two notes" in note.read_text("utf-8")]


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault whose agent says the same each time."""
    said = script(tmp_path / "script.json", after="It is on the shelf.")
    return furnish(tmp_path, monkeypatch.setenv, said)


def test_a_note_that_is_answered_from_the_command_line_is_two_commits(root: Path, tmp_path: Path) -> None:
    own, before = settings(tmp_path, tmp_path / "script.json"), head(root)
    write(root / "inbox/tea.md", "Which tea do I have?\n")
    tell(root, own, "run", "inbox/tea.md")
    assert made(root, before) == ["inbox(done): Which tea do I have?", "human(notes): created tea"]
    assert git(root, "status", "--porcelain") == ""
    day = next((root / "daily").glob("*.md")).read_text("utf-8")
    assert "Which tea do I have?" in day, "the record of the run is in the commit of the answer"
    before = head(root)
    write(root / "list.md", "- [ ] @agent where is the tea?\n- [ ] @agent and the cups?\n")
    tell(root, own, "run", "list.md")
    assert made(root, before) == [
        "inbox(done): and the cups?",
        "inbox(done): where is the tea?",
        "human(notes): created list",
    ]


def test_a_day_is_a_commit_for_each_message_and_the_persons_stay_in_sight(root: Path, tmp_path: Path) -> None:
    """44 messages and two notes of the person's were 192 commits once; this is a small part of that day."""
    own = settings(tmp_path, tmp_path / "script.json")
    own["VAULT_AGENT_MEMORY__LIFECYCLE"] = "on"
    before = head(root)
    write(root / "Trip plan.md", "# Trip plan\n\n- train to Lyon\n")
    tell(root, own, "commit")
    talk = [f"question {number}: where do I find the tea that Anna gave me for my birthday?" for number in range(5)]
    tell(root, own, "chat", said="\n".join(talk))
    tell(root, own, "ask", "remember that I keep the cups below the window")
    write(root / "Packing.md", "# Packing\n\n- cups\n")
    write(root / "inbox/tea.md", "Which tea do I have?\n")
    tell(root, own, "commit")
    tell(root, own, "run", "inbox/tea.md")
    subjects = made(root, before)
    assert len(subjects) == 7 + 2, "the messages and two bursts of the person's"
    assert max(map(columns, subjects)) <= 72
    assert made(root, before, "--first-parent", "--author=Anna") == [
        "human(notes): created Packing and tea",
        "human(notes): created Trip plan",
    ]
    assert not [row for row in git(root, "log", "--format=%P").splitlines() if " " in row], "a history without merges"


def test_the_upkeep_of_memory_is_one_commit_and_none_when_there_is_nothing_to_do(root: Path, tmp_path: Path) -> None:
    own = {**settings(tmp_path), "VAULT_AGENT_MEMORY__LIFECYCLE": "on"}
    for fact in ("the tea is green", "the cups are blue"):
        tell(root, own, "remember", fact)
    for entry in (root / "entries").rglob("*.md"):
        write(entry, entry.read_text("utf-8").replace("---\n", "---\nexpires: 2026-01-01T00:00:00\n", 1))
    tell(root, own, "commit")
    before = head(root)
    tell(root, own, "memory", "run")
    assert made(root, before) == ["memory(upkeep): 2 archived"]
    before = head(root)
    tell(root, own, "memory", "run")
    assert made(root, before) == []
