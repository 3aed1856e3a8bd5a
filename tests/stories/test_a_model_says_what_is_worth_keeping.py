"""A conversation that has ended is read once by the fast model: what it quotes is kept, what it makes up is not."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.loop.run import RunRequest
from agent.memory.entry import Entry, parse_entry
from agent.runs.conversations import silent_conversations
from agent.workspace.search_index import open_index
from tests.fakes import FakeClock
from tests.stories.agents import furnish, script, settings, tell
from tests.vaults import git

KEEPS = "You keep the memory of one person"
MISSED = "Is it legal that the Mahlers upstairs got a parrot?"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    return furnish(tmp_path, monkeypatch.setenv)


def entries(root: Path) -> list[Entry]:
    vault = open_workspace(root).vault
    found = [parse_entry(vault.read(path) or b"") for path in vault.note_paths() if path.startswith("entries/")]
    return sorted((entry for entry in found if entry is not None), key=lambda entry: entry.id)


def ask(root: Path, folder: Path, task: str, said: object, **more: str) -> None:
    """Ask once: the model answers "Noted.", then says what is worth keeping."""
    answer = said if isinstance(said, str) else json.dumps(said, ensure_ascii=False)
    tell(
        root,
        {**settings(folder, script(folder / "script.json", "Noted.", {"text": answer, "when": KEEPS})), **more},
        "ask",
        task,
    )


def test_a_quote_of_the_person_is_kept_with_its_session_and_line(root: Path, tmp_path: Path) -> None:
    ask(root, tmp_path, MISSED, [{"number": 1, "kind": "person", "quote": "the Mahlers upstairs got a parrot"}])
    (entry,) = [each for each in entries(root) if "parrot" in each.text and each.text != MISSED]
    assert (entry.text, entry.source, entry.slots["kind"]) == (
        "the Mahlers upstairs got a parrot",
        "conversation",
        "person",
    )
    note = (root / entry.session_id).read_text("utf-8").splitlines()
    assert MISSED in note[int(entry.slots["line"]) - 1]


def test_what_the_assistant_said_is_the_model_s_and_what_nobody_said_is_not_kept(root: Path, tmp_path: Path) -> None:
    said = [
        {"number": 2, "kind": "result", "quote": "Noted."},
        {"number": 1, "kind": "person", "quote": "the Mahlers have a dog"},
        {"number": 9, "kind": "person", "quote": "parrot"},
    ]
    ask(root, tmp_path, "Is a parrot loud?", said)
    assert [(each.text, each.source) for each in entries(root)] == [("Noted.", "model")]


@pytest.mark.parametrize("said", ["Sure! Here are the facts.", "[", '{"number": 1}', ""])
def test_an_answer_that_is_not_usable_leaves_what_the_rules_found(root: Path, tmp_path: Path, said: str) -> None:
    ask(root, tmp_path, "My sister Mara lives in Porto.", said)
    assert [each.text for each in entries(root)] == ["My sister Mara lives in Porto."]


def test_a_part_of_what_the_rules_have_kept_is_not_kept_once_more(root: Path, tmp_path: Path) -> None:
    said = "My sister Mara lives in Porto and her son Nils turned eight in March."
    quotes = ["her son Nils turned eight in March", "Mara lives in Porto", "the Mahlers upstairs got a parrot"]
    found = [{"number": 1, "kind": "person", "quote": quote} for quote in quotes]
    ask(root, tmp_path, f"{said} {MISSED}", found)
    assert [each.text for each in entries(root)] == [said, "the Mahlers upstairs got a parrot"]


def test_it_is_asked_once_and_nothing_new_is_no_commit(root: Path, tmp_path: Path) -> None:
    ask(root, tmp_path, "My sister Mara lives in Porto.", [])
    before = git(root, "rev-list", "--count", "HEAD")
    ask(root, tmp_path, "What is two plus two?", [])
    assert int(git(root, "rev-list", "--count", "HEAD")) - int(before) == 1
    private = open_workspace(root).vault.private_folder / "conversations"
    assert list(private.glob("*")) == []


def test_it_says_what_is_true_no_more(root: Path, tmp_path: Path) -> None:
    ask(root, tmp_path, "My sister Mara lives in Porto.", [])
    quote = "the whole family went over to Lisbon for good, Mara included"
    said = [{"number": 1, "kind": "person", "quote": quote, "replaces": "K2"}]
    ask(root, tmp_path, f"You know what? {quote}", said)
    first, *_, last = entries(root)
    assert first.superseded_by == last.link and last.supersedes == first.link


def test_turned_off_or_as_turns_it_is_not_asked(root: Path, tmp_path: Path) -> None:
    for capture in ("off", "turns"):
        ask(root, tmp_path, MISSED, [{"number": 1, "kind": "other", "quote": "parrot"}],
            VAULT_AGENT_MEMORY__CAPTURE=capture)  # fmt: skip
    assert [each.text for each in entries(root) if each.text == "parrot"] == []


def test_a_conversation_waits_until_it_is_silent_or_its_process_ends(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = script(
        tmp_path / "script.json",
        "Noted.",
        {"text": json.dumps([{"number": 1, "kind": "person", "quote": "the Mahlers upstairs"}]), "when": KEEPS},
    )
    for key, value in settings(tmp_path, said).items():
        monkeypatch.setenv(key, value)
    clock = FakeClock()
    workspace = open_workspace(root, clock=clock)
    with closing(open_index(workspace)) as index:
        with closing(build_runs(workspace, index)) as agent:
            session = agent.ask(RunRequest(MISSED, Speaker("chat"))).session
            agent.capturing.settle()
            assert silent_conversations(workspace) == ()
            clock.advance(121.0)
            assert silent_conversations(workspace) == (session,)
        assert silent_conversations(workspace) == (), "kept when its process ended"
    assert "the Mahlers upstairs" in [each.text for each in entries(root)]
