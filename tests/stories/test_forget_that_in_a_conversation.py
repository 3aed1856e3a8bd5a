"""In a conversation the person has a fact changed or forgotten; what is forgotten is nowhere, and is sent no more."""

from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.llm.messages import Assistant, ToolResult
from agent.memory.entry import parse_entry
from agent.memory.remember import remember
from agent.vault.history.undo import undo
from agent.vault.history.undo_choice import Selection
from tests.context.situations import call
from tests.stories.test_memories_are_linked_not_copied import House
from tests.stories.test_memories_are_linked_not_copied import house as house
from tests.vaults import git, write

RENT = "My rent is 935 euros"


def act(action: str, **arguments: str) -> Assistant:
    return call(f"memory_{action}", **arguments)


def texts(house: House) -> str:
    """All that was sent to the model in the last run."""
    return "\n".join(str(each) for request in house.model.heard for each in request.messages)


def notes_with(house: House, words: str) -> list[str]:
    found = (path for path in house.root.rglob("*.md") if ".git" not in path.parts)
    return [str(path) for path in found if words in path.read_text("utf-8") or words in path.name]


def test_forget_that_takes_it_out_of_its_own_conversation_too(house: House) -> None:
    first = house.ask(f"{RENT}. Where do I live?", act("save", text=f"{RENT}."), "I do not know.")
    assert notes_with(house, "935 euros")
    told = house.ask(
        f"Forget that {RENT}", act("forget", what=RENT), f"I have forgotten that {RENT}.", session=first.session
    )
    sent = [str(each) for each in house.model.heard[1].messages]
    assert not any("935 euros" in each for each in sent), "the model is not sent it again in the same run"
    assert notes_with(house, "935 euros") == []
    house.ask("What is two plus two?", "Four.", session=told.session)
    sent = [str(each) for each in house.messages()]
    assert [each for each in sent if "935 euros" in each] == []
    assert git(house.root, "status", "--porcelain") == ""


def test_the_answer_to_what_is_forgotten_goes_with_it(house: House) -> None:
    first = house.ask("What is for dinner?", "Soup with nuts.")
    house.ask("Ines is allergic to walnuts.", "Good to know: no walnuts for Ines.", session=first.session)
    forget = act("forget", what="Ines is allergic to walnuts")
    told = house.ask("Forget that.", forget, "Forgotten.", session=first.session)
    assert not any("walnuts" in str(each) for each in house.model.heard[1].messages), "nor in the same run"
    assert notes_with(house, "walnuts") == []
    assert notes_with(house, "Soup with nuts.") and notes_with(house, "Forgotten.")
    house.ask("Who is allergic?", "Nobody.", session=told.session)
    assert "walnuts" not in str(house.messages())


def test_a_run_with_a_new_session_is_named_without_the_words(house: House) -> None:
    remember(open_workspace(house.root).vault, RENT)
    told = house.ask(f"Forget that {RENT}", act("forget", what=RENT), "Done.")
    assert notes_with(house, "935 euros") == []
    house.ask("What is two plus two?", "Four.", session=told.session)
    assert "935 euros" not in texts(house)


def test_an_update_takes_the_place_of_a_memory_and_is_undone_as_one(house: House) -> None:
    vault = open_workspace(house.root).vault
    entry, _, _ = remember(vault, RENT)
    house.ask(
        "It is 950 from January.",
        act("update", what=entry.path, text="My rent is 950 euros from January 2027."),
        "Noted.",
    )
    old = parse_entry(vault.read(entry.path) or b"")
    assert old is not None and "950" in old.superseded_by
    memory = (house.root / "MEMORY.md").read_text("utf-8")
    assert "950 euros" in memory and "935" not in memory
    (commit,) = git(house.root, "log", "--format=%H", "--grep=memory(entry): now").split()
    undo(vault, Selection((commit,)))
    memory = (house.root / "MEMORY.md").read_text("utf-8")
    assert "935" in memory and "950" not in memory and not notes_with(house, "superseded_by")


def test_a_search_says_which_memory_no_longer_holds(house: House) -> None:
    entry, _, _ = remember(open_workspace(house.root).vault, RENT)
    update = act("update", what=entry.path, text="My rent is 950 euros from January 2027.")
    house.ask("It is 950 from January.", update, "Noted.")
    house.ask("What is my rent?", call("search_vault", query="my rent euros"), "950.")
    (found,) = (str(each) for each in house.model.heard[1].messages if isinstance(each, ToolResult))
    marked = [row for row in found.split("\\n") if "no longer true" in row]
    assert len(marked) == 1 and entry.path in marked[0] and "950" in marked[0].partition("see ")[2]


def test_what_a_model_has_worded_is_forgotten_in_the_words_of_the_person_too(house: House) -> None:
    said = "Tom is allergic to penicillin, note to self, he always forgets to tell them"
    fact = "Tom, my husband, is allergic to penicillin; he forgets to tell his doctors."
    house.ask(said, act("save", text=fact), "Kept: Tom is allergic to penicillin. Shall I put it into his note?")
    (path,) = (each for each in notes_with(house, "his doctors") if "/entries/" in each)
    house.ask("Forget what I said on Tom.", act("forget", what=f"[[{path.rpartition('/')[2][:-3]}]]"), "Done.")
    assert notes_with(house, "penicillin") == []


def test_an_update_by_a_link_keeps_the_kind_and_the_keywords(house: House) -> None:
    wish = "Answer in one line, no lists."
    vault = open_workspace(house.root).vault
    entry, _, _ = remember(vault, wish)
    data = vault.read(entry.path) or b""
    write(house.root / entry.path, data.decode().replace("\n---\n", "\nkind: wish\nkeywords: [form]\n---\n", 1))
    link = f"[[{entry.path.rpartition('/')[2][:-3]}]]"
    house.ask("Lists are fine.", act("update", what=link, text="Answer in one line; lists are fine."), "Good.")
    (path,) = (each for each in notes_with(house, "lists are fine") if "/entries/" in each)
    now = parse_entry(Path(path).read_bytes())
    assert now is not None and now.slots["kind"] == "wish" and now.keywords == ("form",)
    memory = (house.root / "MEMORY.md").read_text("utf-8")
    assert "- Answer in one line; lists are fine. ([[" in memory.partition("## Preferences")[2].partition("##")[0]


@pytest.mark.parametrize("what", ["plan.md", "jobs/night.md", "[[plan]]"])
def test_a_note_that_is_no_memory_is_never_deleted(house: House, what: str) -> None:
    job = "---\ntype: job\ntitle: Night\non:\n  - cron: 30 2 * * *\n---\nLook at it.\n"
    for path, text in (("plan.md", "# Plan\n\nSow beans.\n"), ("jobs/night.md", job)):
        (house.root / path).parent.mkdir(exist_ok=True)
        (house.root / path).write_text(text)
    house.ask("Forget that note", act("forget", what=what), "It stays.")
    assert "is no memory, and nothing was forgotten" in texts(house)
    assert (house.root / "plan.md").read_text().endswith("Sow beans.\n") and (house.root / "jobs/night.md").exists()


@pytest.mark.parametrize("action", ["update", "forget"])
def test_a_guest_and_a_wrong_name_change_nothing(house: House, action: str) -> None:
    vault = open_workspace(house.root).vault
    entry, _, _ = remember(vault, RENT)
    more = {"text": "My rent is 1 euro."} if action == "update" else {}
    for what, role in ((entry.path, "guest"), ("entries/nowhere.md", "owner")):
        house.ask(
            "Change it",
            act(action, what=what, **more),
            "I cannot.",
            role=role,
            who=Speaker("cli", "ben" if role == "guest" else ""),
        )
    assert vault.read(entry.path) == entry.note()


def test_many_memories_go_only_when_the_person_has_agreed(house: House) -> None:
    vault = open_workspace(house.root).vault
    for number in range(7):
        remember(vault, f"The harbour lamp {number} of Varn is green")
    house.ask("Forget Varn", act("forget", what="of Varn is green"), "Shall I?")
    assert len(list((house.root / "entries").rglob("*lamp*"))) == 7
    assert "nothing is forgotten yet" in texts(house)


def test_the_next_request_says_what_was_taken_back(house: House) -> None:
    write_note = call("vault_write", path="trip.md", content="# Plan")
    first = house.ask("Write a plan", write_note, "Written.")
    vault = open_workspace(house.root).vault
    undo(vault, Selection(run=first.run))
    assert vault.read("trip.md") is None
    house.ask("And now?", "Shall I write it again?", session=first.session)
    assert "taken back" in texts(house) and "trip.md" in texts(house)
    house.ask("No", "Well.", session=first.session)
    said = [str(each) for each in house.messages()]
    assert [each for each in said if "were taken back" in each][1:] == [], "it is said once"
