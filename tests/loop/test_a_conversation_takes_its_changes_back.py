"""`vault_undo` in a conversation: what the agent has written in it, and nothing that anybody else has."""

from pathlib import Path

from agent.llm.messages import Json
from agent.llm.scripted import Scripted, ScriptedCall, ScriptedReply
from agent.loop.session import load_session
from agent.vault.change import CAPTURE, Stamp
from tests.loop.stage import Stage, carried_out, note, stage
from tests.vaults import write

UNDO = "vault_undo"


def does(tool: str, **arguments: Json) -> ScriptedReply:
    return ScriptedReply("", (ScriptedCall(tool, arguments),))


def told(here: Stage, session: str) -> str:
    """The result of the last call in a session."""
    return carried_out(load_session(here.vault, session))[-1].text


def test_the_last_change_is_taken_back_and_the_talk_stays(tmp_path: Path) -> None:
    lines: list[ScriptedReply | str] = [
        does("vault_write", path="plan.md", content="# Plan\n"),
        "Written.",
        does(UNDO),
        "Taken back.",
        "Yes?",
    ]
    here = stage(tmp_path, lines, tea="green\n")
    first = here.ask("Write a plan")
    assert note(here.vault, "plan.md") == "# Plan\n"
    second = here.ask("Take that back", load_session(here.vault, first.session))
    assert here.vault.read("plan.md") is None and note(here.vault, "tea.md") == "green\n"
    assert "taken back" in told(here, second.session) and "plan.md" in told(here, second.session)
    third = here.ask("Hello", load_session(here.vault, second.session))
    text = note(here.vault, third.session)
    assert [text.count(words) for words in ("Take that back", "Hello", "Taken back.")] == [1, 1, 1]


def test_a_note_that_was_put_into_the_archive_comes_back_with_its_links(tmp_path: Path) -> None:
    lines: list[ScriptedReply | str] = [does("vault_move", path="tea.md"), "Put away.", does(UNDO), "It is back."]
    here = stage(tmp_path, lines, tea="green\n", plan="buy [tea](tea.md)\n")
    first = here.ask("I am done with the note about tea")
    assert note(here.vault, "archive/tea.md") == "green\n" and here.vault.read("tea.md") is None
    assert note(here.vault, "plan.md") == "buy [tea](archive/tea.md)\n"
    here.ask("I need it after all", load_session(here.vault, first.session))
    assert note(here.vault, "tea.md") == "green\n" and note(here.vault, "plan.md") == "buy [tea](tea.md)\n"


def test_what_the_person_has_changed_since_is_theirs(tmp_path: Path) -> None:
    lines: list[ScriptedReply | str] = [
        does("vault_append", path="tea.md", text="- oolong"),
        "Added.",
        does(UNDO),
        "There is more now.",
    ]
    here = stage(tmp_path, lines, tea="- green\n")
    first = here.ask("Add oolong")
    write(here.root / "tea.md", "- green\n- oolong, the good one\n")
    here.ask("Take that back", load_session(here.vault, first.session))
    assert note(here.vault, "tea.md") == "- green\n- oolong, the good one\n"


def test_nothing_of_another_conversation_or_of_the_person_is_taken_back(tmp_path: Path) -> None:
    here = stage(tmp_path, [does("vault_write", path="plan.md", content="# Plan\n"), "Written."])
    here.ask("Write a plan")
    planned = here.vault.head or ""
    write(here.root / "mine.md", "mine\n")
    here.vault.commit_human()
    for call, why in (
        (does(UNDO), "there is nothing of yours to take back"),
        (does(UNDO, since="2026-01-01"), "there is nothing of yours to take back"),
        (does(UNDO, commit=planned), f"{planned} was not made in this conversation"),
        (does(UNDO, commit=here.vault.head or ""), "was made by human, and only your own changes"),
    ):
        here.model = Scripted([call, ScriptedReply("I cannot.")])
        assert why in told(here, here.ask("Take it back").session)
    assert note(here.vault, "plan.md") == "# Plan\n" and note(here.vault, "mine.md") == "mine\n"


def test_what_steers_the_agent_is_taken_back_by_its_person_alone(tmp_path: Path) -> None:
    job = does("jobs", action="add", title="Tea", text="Say which tea.", when="every day at 9")
    here = stage(tmp_path, [job, "Done.", does(UNDO), "I cannot."])
    first = here.ask("Remind me of tea each day")
    here.ask("Take that back", load_session(here.vault, first.session))
    assert here.vault.read("jobs/tea.md") is not None
    assert "(job(create): tea) has changed what steers you; the person can do it" in told(here, first.session)


def test_what_steers_is_not_taken_back_by_taking_back_what_was_written_before_it(tmp_path: Path) -> None:
    lines: list[ScriptedReply | str] = [
        does("vault_write", path="plan.md", content="# Plan\n"),
        "Written.",
        does("jobs", action="add", title="Tea", text="Say which tea.", when="every day at 9"),
        "Done.",
        does(UNDO),
        "I cannot.",
    ]
    here = stage(tmp_path, lines)
    first = here.ask("Write a plan")
    here.ask("Remind me of tea each day", load_session(here.vault, first.session))
    here.ask("Take that back", load_session(here.vault, first.session))
    assert note(here.vault, "plan.md") == "# Plan\n"
    assert "has changed what steers you" in told(here, first.session)


def test_the_record_of_a_talk_is_no_change_that_it_takes_back(tmp_path: Path) -> None:
    here = stage(tmp_path, [does("vault_move", path="tea.md"), "Put away.", does(UNDO), "It is back."], tea="green\n")
    first = here.ask("I am done with the note about tea")
    stamp = Stamp("agent", run=first.run, tool=CAPTURE, session=first.session)
    with here.vault.transaction("session: finished: I am done with the note about tea", stamp) as change:
        change.create("Journal/2026-11-30.md", b"### I am done with the note about tea\n")  # a day of the person's own
    here.ask("I need it after all", load_session(here.vault, first.session))
    assert note(here.vault, "tea.md") == "green\n" and "done with the note" in note(here.vault, "Journal/2026-11-30.md")
