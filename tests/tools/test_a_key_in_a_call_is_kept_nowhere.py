"""A model's call with a key in its arguments: refused in words, or carried out without the key; kept nowhere."""

from pathlib import Path

import pytest

from agent.errors import QuestionAsked
from agent.llm.messages import Json
from tests.tools.house import House, house

LOOKS = "ghp_" + "a1B2c3D4e5F6" * 3


@pytest.fixture
def home(tmp_path: Path) -> House:
    return house(tmp_path, {"notes/a.md": f"# A\n\nmine: {LOOKS}\n", "notes/b.md": "said [secret] once\n"})


def kept(home: House) -> str:
    """All that stands in private files and in the notes that ask."""
    files = [*home.vault.writer.layout.folder.rglob("*"), *(home.vault.place.root / "approvals").glob("*")]
    files += (home.vault.place.root / "questions").glob("*")
    return "".join(path.read_text("utf-8", "replace") for path in files if path.is_file())


def test_a_call_that_needs_a_yes_and_has_a_key_is_refused_in_words(home: House) -> None:
    said = home.fails("vault_write", path="rules/key.md", content=f"Use {LOOKS}.\n")
    assert "leave the key out" in said and LOOKS not in said
    assert not home.approvals.pending() and LOOKS not in kept(home)


def test_the_change_that_is_shown_shows_no_key_of_the_note(home: House) -> None:
    home.says("vault_read", path="notes/a.md")
    home.context.taint.mark("http://news.example")
    path = home.asks("vault_move", path="notes/a.md", to="rules/a.md")
    assert "[secret]" in home.text(path) and LOOKS not in kept(home)
    home.tick(path, "approve")
    home.restarted()
    home.says("vault_move", path="notes/a.md", to="rules/a.md")
    assert home.text("rules/a.md") == f"# A\n\nmine: {LOOKS}\n"


def test_a_reason_given_with_a_no_is_kept_without_a_key(home: House) -> None:
    path = home.asks("vault_write", path="rules/tea.md", content="Offer tea.\n")
    home.approvals.decide(path, False, f"it has {LOOKS} in it")
    assert LOOKS not in kept(home) and "it has [secret] in it" in home.text(path)


def test_a_question_with_a_key_is_asked_without_it_and_answered(home: House) -> None:
    said: dict[str, Json] = {"question": f"Is {LOOKS} yours?", "options": [f"yes, {LOOKS}", "no"]}
    with pytest.raises(QuestionAsked) as first:
        home.call("human_ask", **said)
    assert LOOKS.lower() not in (kept(home) + first.value.path).lower()
    masked: dict[str, Json] = {
        "question": "Is [secret] yours?",
        "options": ["yes, [secret]", "no"],
    }  # as the session has it
    home.restarted()
    with pytest.raises(QuestionAsked) as again:
        home.call("human_ask", **masked)
    assert again.value.path == first.value.path
    home.tick(first.value.path, "no")
    assert home.says("human_ask", **masked) == "the person answered: no"


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        ("vault_write", {"path": "notes/new.md", "content": "the key is [secret]\n"}),
        ("vault_write", {"path": "notes/[secret].md", "content": "x\n"}),
        ("vault_write", {"path": "rules/new.md", "content": "use [secret]\n"}),
        ("vault_append", {"path": "notes/b.md", "text": "and [secret]"}),
        ("vault_edit", {"path": "notes/b.md", "old": "once", "new": "[secret]"}),
        ("vault_move", {"path": "notes/b.md", "to": "notes/[secret].md"}),
    ],
)
def test_what_stands_for_a_key_is_written_into_no_note(home: House, tool: str, arguments: dict[str, str]) -> None:
    assert "leave the key out" in home.fails(tool, **arguments)
    assert home.text("notes/b.md") == "said [secret] once\n" and not home.approvals.pending()


def test_a_note_that_says_so_already_can_be_edited(home: House) -> None:
    home.says("vault_edit", path="notes/b.md", old="said [secret] once", new="told [secret] twice")
    assert home.text("notes/b.md") == "told [secret] twice\n"
