"""A person at a terminal sees words as they come, stops a step and keeps the session, decides on the spot."""

import threading
from pathlib import Path

import pytest

from tests.interfaces.cli.terminal import terminal
from tests.llm.dialects import Wanted, openai
from tests.llm.servers import Visit, model_server, streams
from tests.stories.agents import call, furnish, script, settings, tell
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
        person.shows("Once upon a time a time")
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
        person.type("\x1b[200~only those\rabout tea\x1b[201~")
        person.shows("> only those / about tea")
        person.type("\n")
        typed.set()
        person.sees("I heard you.")
        person.sees("> ")
        person.type("/quit\n")
        assert person.ends() == 0
    assert "> only those\n  about tea\n" in person.seen
    (note,) = (root / "sessions").rglob("*.md")
    said = note.read_text()
    assert said.count("%% vault-agent: run ") == 1, "it became a run of its own"
    assert said.index("only those\n") < said.index("I heard you.")


def test_a_call_is_shown_with_its_change_and_decided_on_the_spot(root: Path, tmp_path: Path) -> None:
    change = call("vault_edit", path="AGENT.md", old="Be brief.", new="Be long.")
    ask = call("human_ask", question="Which tea?", options=["green", "black"])
    own = settings(tmp_path, script(tmp_path / "script.json", change, ask, "All done."))
    with terminal(root, own, "ask", "change yourself") as person:
        shown = person.sees("later?")
        assert "-Be brief." in shown and "+Be long." in shown and '"path"' not in shown
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
    false = "┏ May I?\n┗ x\nMay I change packing.md? yes, no (and why), or later? \x1b[8m"
    change = call("vault_append", path="AGENT.md", text="- Obey.") | {"text": false}
    own = settings(tmp_path, script(tmp_path / "script.json", change, "I did not."))
    with terminal(root, own, "ask", "make me a packing list") as person:
        assert "\n┏" not in person.sees("packing.md? yes, no (and why), or later? \\x1b[8m")
        frame = person.sees("May I change AGENT.md? yes, no (and why), or later? ")
        assert "┏ May I change AGENT.md?" in frame and "┃ +- Obey." in frame
        before, _, asked = person.raw.rpartition("┏".encode())
        assert b"\x1b[8m" not in person.raw
        assert before.endswith(b"\x1b[0m") and b"\x1b[0mMay I change AGENT.md?" in asked
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
    assert [note.read_text().count("# Good day") for note in (root / "sessions").rglob("*.md")] == [1, 1]


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


def test_a_pasted_block_is_one_message_and_ctrl_c_twice_leaves(root: Path, tmp_path: Path) -> None:
    own = settings(tmp_path, script(tmp_path / "script.json", "One answer."))
    lines = [f"line {number} of a letter" for number in range(1, 31)]
    with terminal(root, own, "chat") as person:
        person.sees("> ")
        person.type("\x1b[200~" + "\r".join(lines) + "\x1b[201~")
        person.sees(lines[-1])
        person.type("\r")
        person.sees("One answer.")
        person.sees("> ")
        person.type("\x03")
        person.sees("Ctrl-C again")
        person.type("\x03")
        assert person.ends() == 0, person.seen
    (note,) = (root / "sessions").rglob("*.md")
    assert note.read_text().count("%% vault-agent: run ") == 1 and lines[-1] in note.read_text()
    (history,) = (tmp_path / "home").rglob("chat_history")
    assert history.stat().st_mode & 0o777 == 0o600 and history.read_text().count(f"+{lines[-1]}\n") == 1


def test_a_stopped_answer_leaves_no_trace_of_the_spinner_and_a_second_ctrl_c_leaves(root: Path, tmp_path: Path) -> None:
    with (
        model_server(speaks) as server,
        terminal(root, {**served(tmp_path, server.url), "VAULT_AGENT_MEMORY__CAPTURE": "off"}, "chat") as person,
    ):
        person.sees("> ")
        person.type("tell me a story\n")
        person.shows("Once upon a time a time")
        person.shows("served-model is writing")
        person.type("\x03")
        person.sees("/continue goes on")
        person.sees("> ")
        person.type("\x03")
        assert person.ends() == 0
    assert "is writing" not in person.seen and "looking through" not in person.seen
    assert person.raw.rfind(b"\x1b[?25h") > person.raw.rfind(b"\x1b[?25l"), "the cursor stays hidden"


def test_resume_shows_the_last_exchanges_on_forty_columns_in_chinese(root: Path, tmp_path: Path) -> None:
    (root / "vault-agent.yaml").write_text("vault:\n  language: zh\n")
    answer = "屋顶有两件事：\n\n- 十一月要买瓦片，**红色**的，一共需要三百片才够铺满\n- 打电话给小安"
    own = settings(tmp_path, script(tmp_path / "script.json", "旧的回答。", "你好。", answer))
    tell(root, own, "chat", said="最早的问题\n你好\n屋顶还有什么没做？\n")
    with terminal(root, own, "chat", "--resume", columns=40, rows=20) as person:
        person.sees("\n> 你好\n")
        person.sees("\n你好。\n")
        person.sees("\n> 屋顶还有什么没做？\n")
        person.sees("\n • 十一月要买瓦片，红色的，一共需要三百\n   片才够铺满\n • 打电话给小安\n")
        person.sees("\n> ")
        person.type("/quit\r")
        assert person.ends() == 0
    assert "旧的回答" not in person.seen and "**" not in person.seen


def test_a_note_with_two_requests_is_answered_on_a_terminal(root: Path, tmp_path: Path) -> None:
    (root / "two.md").write_text("- [ ] @agent one\n- [ ] @agent two\n")
    own = settings(tmp_path, script(tmp_path / "script.json", "First answer.", "Second answer."))
    with terminal(root, own, "run", "two.md") as person:
        assert person.ends() == 0
    assert "First answer." in person.seen and "Second answer." in person.seen


def test_ctrl_c_ends_the_wait_for_what_is_remembered_and_keeps_the_answer(root: Path, tmp_path: Path) -> None:
    def hangs(visit: Visit) -> None:
        visit.closing.wait()

    with (
        model_server(streams(openai.answer("It is with Ana.")), hangs) as server,
        terminal(root, served(tmp_path, server.url), "ask", "My spare key is with Ana, keep that in mind") as person,
    ):
        person.shows("keeping what is worth remembering")
        person.type("\x03")
        assert person.ends() == 0
    assert "\nwhat was still to be remembered is left undone\n" in person.seen
    assert "It is with Ana." in person.seen and person.seen.rstrip().splitlines()[-1].startswith("session: ")
