"""A skill that was suggested or learned is told at the prompt once: in the run that led to it, or at the next one."""

from io import BytesIO, TextIOWrapper
from pathlib import Path

import pytest

from agent.app.open import open_workspace
from agent.interfaces.cli.main import main
from agent.runs.workflow_traces import SessionTraces
from agent.skills.learning.offer_news import take_news
from agent.skills.learning.offers import SkillOffers
from tests.fakes import FakeClock
from tests.skills.test_learned_skills_are_offered_first import PLACES, TOOLS, run_note
from tests.stories.agents import call, furnish, script, settings
from tests.vaults import write

WRITTEN = "---\nname: tasting-sheet\ndescription: Write the sheet. Use when tea is tasted.\n---\nUse `vault_write`.\n"
WRITES = {"when": "You write a skill", "text": WRITTEN}


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A vault in which the same was done three times, and an own environment."""
    folder = furnish(tmp_path, monkeypatch.setenv)
    for number, place in enumerate(PLACES[:3]):
        path, text = run_note(FakeClock(), number, f"write the tasting sheet for tea from {place}", TOOLS)
        write(folder / path, text)
    return folder


def offers(root: Path) -> SkillOffers:
    vault = open_workspace(root).vault
    return SkillOffers(vault, traces=SessionTraces(vault).load)


def told(capsys: pytest.CaptureFixture[str]) -> list[str]:
    found = capsys.readouterr().err.splitlines()
    return [line for line in found if line.startswith(("suggested as a skill", "learned the skill"))]


def ask(root: Path, *options: str) -> None:
    assert main(["--vault", str(root), *options, "ask", "hello"]) == 0


def test_the_run_that_led_to_it_says_so_and_none_after_it(
    root: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = call("search_vault", query="tea"), call("vault_read", path="tea.md")
    for name, value in settings(tmp_path, script(tmp_path / "s.json", *steps, "Done.", "Hello.", WRITES)).items():
        monkeypatch.setenv(name, value)
    ask(root)
    (offer,) = offers(root).pending()
    assert told(capsys) == [f"suggested as a skill, because it came back: {offer.name}; say yes or no in {offer.path}"]
    ask(root)
    assert told(capsys) == []


def test_what_happened_in_the_background_is_said_at_the_next_prompt_also_of_a_chat(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    offer = offers(root).learn_as("tasting-sheet", ())
    ask(root, "--json")
    assert told(capsys) == [], "a document has no lines beside it; the news stays for the next prompt"
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(b"hello\nhello\n"), "utf-8"))
    assert main(["--vault", str(root), "chat"]) == 0
    (line,) = told(capsys)
    assert line.endswith(f"say yes or no in {offer.path}")
    ask(root)
    assert told(capsys) == []
    offers(root).accept(offer.name)
    ask(root)
    assert told(capsys) == [f"learned the skill {offer.name}: {offer.notes[0].path}"]
    ask(root)
    assert told(capsys) == []


def test_what_a_person_has_just_typed_or_refused_is_no_news(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    offer = offers(root).learn_as("tasting-sheet", ())
    assert main(["--vault", str(root), "skills", "learn", "--accept", offer.name]) == 0
    ask(root)
    assert told(capsys) == []
    (root / offer.notes[0].path).unlink()
    assert take_news(open_workspace(root).vault) == ()
