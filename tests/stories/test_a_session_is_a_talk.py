"""What stands in a session's note: who said what, with the links of the answer; the rest is folded and short."""

import re
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.llm.messages import Assistant, ToolResult
from agent.loop.session import Session, load_session
from agent.vault.layout import GIVEN_TEXTS
from agent.vault.store import Vault
from tests.stories.agents import call, document, furnish, script, settings
from tests.vaults import git, write

BEDS = "\n\n".join(f"## Bed {number}\n\nBed {number} has kale; clay is loosened in March." for number in range(1, 12))
LIST = "# Shopping\n\n" + "".join(f"- [ ] kale seeds for bed {number}, 20 g\n" for number in range(1, 12))
ANSWER = "Kale in **all eleven beds**, see [[Garden plan]].\n\n- The seeds are to be ordered by March: [[Seeds]]."
SAID = (
    {"calls": [*call("search_vault", query="kale beds")["calls"], *call("vault_read", path="Garden plan.md")["calls"]]},  # type: ignore[misc]
    call("vault_read", path="Seeds.md"),
    ANSWER,
    call("vault_write", path="Shopping.md", content=LIST),
    "The list is in [[Shopping]], one line a bed.",
)


@pytest.fixture
def talk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Vault, str]:
    """A vault in which two turns were said, and the path of their session."""
    said = script(tmp_path / "script.json", *SAID)
    own = settings(tmp_path, said)
    root = furnish(tmp_path, monkeypatch.setenv, said)
    write(root / "Garden plan.md", f"# Garden plan\n\n{BEDS}\n")
    write(root / "Seeds.md", "# Seeds\n\n- [ ] order kale seeds by March\n- tomatoes from Lia\n")
    git(root, "add", "-A")
    git(root, "commit", "-qm", "the garden")
    session = str(document(root, own, "ask", "What did I plan for the kale, and what is to do?")["session"])
    document(root, own, "ask", "--session", session, "Put a shopping list for that into a note.")
    return open_workspace(root).vault, session


def test_two_turns_are_at_most_sixty_lines_and_copy_and_link_nothing(talk: tuple[Vault, str]) -> None:
    vault, path = talk
    text = (vault.read(path) or b"").decode()
    assert len(text.splitlines()) <= 60
    assert "```" not in text and "loosened" not in text and "20 g" not in text, "no copy of a note"
    assert re.findall(r"\[\[.*?\]\]", text) == ["[[Garden plan]]", "[[Seeds]]", "[[Shopping]]"], "those of the answers"
    shown = [row for row in text.splitlines() if row.startswith(("> [!quote]-", "###"))]
    assert [re.sub(r"\d\d:\d\d|`\w{12}`", "…", row) for row in shown if "Recalled" not in row] == [
        "### … You",
        '> [!quote]- search_vault "kale beds" → 2 notes · vault_read "Garden plan.md" → 1 note',
        '> [!quote]- vault_read "Seeds.md" → 1 note',
        "### … Agent",
        "### … You",
        '> [!quote]- vault_write "Shopping.md" → done',
        "### … Agent",
    ]


def results(session: Session) -> list[str]:
    return [each.text for each in session.history if isinstance(each, ToolResult)]


def test_what_was_kept_is_restored_to_the_letter(talk: tuple[Vault, str]) -> None:
    session = load_session(*talk)
    assert [("loosened" in each, "Lia" in each) for each in results(session)][1:3] == [(True, False), (False, True)]
    calls = [each for message in session.history if isinstance(message, Assistant) for each in message.calls]
    assert calls[-1].arguments == {"path": "Shopping.md", "content": LIST} and not calls[-1].problem


def test_a_machine_without_the_texts_knows_what_was_done_and_carries_out_nothing_again(talk: tuple[Vault, str]) -> None:
    vault, path = talk
    for each in (vault.private_folder / GIVEN_TEXTS).glob("*.jsonl"):
        each.unlink()
    session = load_session(vault, path)
    assert all("call the tool again" in each for each in results(session)[:3])
    assert "Shopping.md" in results(session)[3], "a short result is in the note"
    calls = [each for message in session.history if isinstance(message, Assistant) for each in message.calls]
    assert calls[1].arguments == {"path": "Garden plan.md"} and not calls[1].problem
    assert calls[-1].arguments["path"] == "Shopping.md" and calls[-1].problem, "a call without its text never runs"
