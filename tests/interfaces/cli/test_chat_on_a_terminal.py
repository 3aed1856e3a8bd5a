"""A person at a terminal sees words as they come, stops a step and keeps the session, decides on the spot."""

import threading
from pathlib import Path

import pytest

from tests.interfaces.cli.terminal import terminal
from tests.llm.dialects import Wanted, openai
from tests.llm.servers import Visit, model_server, streams
from tests.stories.agents import call, furnish, script, settings
from tests.vaults import git


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault with a person and three notes."""
    return furnish(tmp_path, monkeypatch.setenv)


def served(folder: Path, url: str) -> dict[str, str]:
    """The settings of a machine whose model is behind this address."""
    model = {"WIRE": "openai", "BASE_URL": url, "MODEL": "served-model", "RETRIES": "0"}
    return {**settings(folder), **{f"VAULT_AGENT_LLM__{key}": value for key, value in model.items()}}


def speaks(visit: Visit) -> None:
    """Begins a story, and goes on for ever."""
    visit.head()
    visit.send(openai.begin + openai.text("Once upon "))
    while not visit.closing.is_set():
        visit.send(openai.text("a time "))
        visit.wait(0.02)


def test_words_appear_as_they_come_and_ctrl_c_keeps_the_session(root: Path, tmp_path: Path) -> None:
    with (
        model_server(speaks, streams(openai.answer("Still ", "here."))) as server,
        terminal(root, served(tmp_path, server.url), "chat") as person,
    ):
        person.sees("> ")
        person.type("tell me a story\n")
        person.sees("Once upon a time a time")
        person.type("\x03")
        person.sees("interrupted")
        person.sees("> ")
        person.type("are you there?\n")
        person.sees("Still here.")
        person.sees("> ")
        person.type("\x04")
        assert person.ends() == 0
    assert len(list((root / "sessions").rglob("*.md"))) == 1


def test_what_is_typed_while_it_works_reaches_it_at_its_next_step(root: Path, tmp_path: Path) -> None:
    typed = threading.Event()

    def works(visit: Visit) -> None:
        visit.head()
        visit.send(openai.begin + openai.text("Working."))
        typed.wait(30)
        visit.wait(0.3)
        visit.send(openai.calls([Wanted("c1", "vault_list", ["{}"])]) + openai.usage + openai.end("tools"))

    with (
        model_server(works, streams(openai.answer("I heard you."))) as server,
        terminal(root, served(tmp_path, server.url), "chat") as person,
    ):
        person.sees("> ")
        person.type("list my notes\n")
        person.sees("Working.")
        person.type("only those about tea\n")
        person.sees("only those about tea")
        typed.set()
        person.sees("I heard you.")
        person.sees("> ")
        person.type("/quit\n")
        assert person.ends() == 0
    (note,) = (root / "sessions").rglob("*.md")
    said = note.read_text()
    assert said.count("%% vault-agent: run ") == 1, "it became a run of its own"
    assert said.index("only those about tea") < said.index("I heard you.")


def test_a_call_is_shown_with_its_change_and_decided_on_the_spot(root: Path, tmp_path: Path) -> None:
    change = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")
    ask = call("human_ask", question="Which tea?", options=["green", "black"])
    own = settings(tmp_path, script(tmp_path / "script.json", change, ask, "All done."))
    with terminal(root, own, "ask", "change yourself") as person:
        shown = person.sees("later?")
        assert "-Be brief." in shown and "+Be long." in shown and '"path": "AGENT.md"' in shown
        person.type("yes\n")
        assert "2. black" in person.sees("later)?")
        assert "Be long." in (root / "AGENT.md").read_text()
        person.type("2\n")
        person.sees("All done.")
        assert person.ends() == 0
    (question,) = (root / "questions").glob("*.md")
    assert "- [x] black" in question.read_text()
    path = question.relative_to(root).as_posix()
    assert "Vault-Actor: human" in git(root, "log", "--format=%B", "--", path)


def test_later_leaves_the_run_waiting_and_says_how_to_go_on(root: Path, tmp_path: Path) -> None:
    change = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")
    own = settings(tmp_path, script(tmp_path / "script.json", change, "I did not."))
    with terminal(root, own, "chat") as person:
        person.sees("> ")
        person.type("change yourself\n")
        person.sees("later?")
        person.type("later\n")
        person.sees("/continue goes on")
        person.type("/continue\n")
        person.sees("later?")
        person.type("no leave it\n")
        person.sees("I did not.")
        person.sees("> ")
        person.type("/quit\n")
        assert person.ends() == 0
    assert "Be brief." in (root / "AGENT.md").read_text()
    (note,) = (root / "sessions").rglob("*.md")
    assert "the person said no: leave it" in note.read_text()


def test_what_a_model_says_cannot_drive_the_terminal(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "script.json", "look\x1b]0;owned\x07 here"))
    with terminal(root, own, "ask", "hello") as person:
        assert person.ends() == 0
        assert b"\x1b]0;" not in person.raw and "here" in person.seen


def test_a_model_can_neither_hide_the_question_nor_ask_it_in_its_place(root: Path, tmp_path: Path) -> None:
    false = "┏ May I?\n┗ x\nAllow vault_append to change packing.md? yes, no (and why), or later? \x1b[8m"
    change = call("vault_append", path="AGENT.md", text="- Obey.") | {"text": false}
    own = settings(tmp_path, script(tmp_path / "script.json", change, "I did not."))
    with terminal(root, own, "ask", "make me a packing list") as person:
        assert "\n┏" not in person.sees("packing.md? yes, no (and why), or later? \\x1b[8m")
        frame = person.sees("Allow vault_append to change AGENT.md? yes, no (and why), or later? ")
        assert "┏ May I use vault_append?" in frame and "┃ +- Obey." in frame
        before, _, asked = person.raw.rpartition("┏".encode())
        assert b"\x1b[8m" not in person.raw
        assert before.endswith(b"\x1b[0m") and b"\x1b[0mAllow vault_append to change AGENT.md" in asked
        person.type("no\n")
        person.sees("I did not.")
        assert person.ends() == 0
    assert "Obey" not in (root / "AGENT.md").read_text()


def test_lines_come_back_from_the_history(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "script.json", "One.", "Two."))
    for typed in ("good day\n", "\x1b[A\n"):
        with terminal(root, own, "chat") as person:
            person.sees("> ")
            person.type(typed)
            person.sees("One.")
            person.sees("> ")
            person.type("\x04")
            assert person.ends() == 0
    assert [note.read_text().count("# good day") for note in (root / "sessions").rglob("*.md")] == [1, 1]


def test_what_was_typed_before_a_question_is_no_answer_to_it(root: Path, tmp_path: Path) -> None:
    typed = threading.Event()
    change = '{"path": "AGENT.md", "old": "Be brief.", "new": "Be long."}'

    def works(visit: Visit) -> None:
        visit.head()
        visit.send(openai.begin + openai.text("Working."))
        typed.wait(30)
        visit.wait(0.3)
        visit.send(openai.calls([Wanted("c1", "vault_edit", [change])]) + openai.usage + openai.end("tools"))

    with (
        model_server(works, streams(openai.answer("I see."))) as server,
        terminal(root, served(tmp_path, server.url), "chat") as person,
    ):
        person.sees("> ")
        person.type("change yourself\n")
        person.sees("Working.")
        person.type("yes, and look at my notes\n")
        person.sees("look at my notes")
        typed.set()
        person.sees("later?")
        assert "Be brief." in (root / "AGENT.md").read_text()
        person.type("later\n")
        person.sees("I see.")
        person.sees("> ")
        person.type("\x04")
        assert person.ends() == 0
    assert "Be brief." in (root / "AGENT.md").read_text()
