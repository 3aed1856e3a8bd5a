"""Every conversation begins with the owner: who they are, their wishes word for word, and what is in their vault."""

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agent.app.agent import build_runs
from agent.app.open import open_workspace
from agent.events.runs import Speaker
from agent.memory.memory_note import LongTermFact
from agent.memory.profile.owner import MOST, OwnerFacts, VaultPlace, owner_block, owner_facts
from agent.memory.profile.profile_file import parse_profile
from agent.memory.understanding.statements import is_lasting_wish
from agent.runs.owner import OwnerBlock
from agent.tools.text_origin import text_origin_of
from agent.workspace.search_index import open_index
from tests.context.situations import YOU, Home, home
from tests.context.talk import by_fours
from tests.stories.life import Calendar
from tests.tools.house import house, tainted
from tests.vaults import write


@pytest.fixture
def asks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., str]]:
    """Asks in a new conversation of a new process; the result is its system message."""
    with home(tmp_path, monkeypatch.setenv, monkeypatch.setattr) as here:
        monkeypatch.setenv("VAULT_AGENT_MEMORY__CAPTURE", "facts")

        def ask(task: str, who: Speaker = YOU) -> str:
            workspace = open_workspace(here.root, clock=Calendar())
            with closing(open_index(workspace)) as index:
                index.refresh()
                with closing(build_runs(workspace, index)) as agent:
                    Home(here.root, agent, here.model).ask(task, "Noted.", who=who)
            return here.model.heard[-1].messages[0].text

        ask.root = here.root  # type: ignore[attr-defined]
        yield ask


@pytest.mark.parametrize(
    "wish",
    ["Short answers, no tables.", "Never before 14:00.", "Use metric units, please.", "回答简短一点，不要表格。"],
)
def test_a_wish_holds_word_for_word_from_the_next_conversation_on(asks: Callable[..., str], wish: str) -> None:
    assert wish not in asks(wish)
    system = asks("Compare Notion and Obsidian")
    assert f"in their words; it holds always:\n- {wish}" in system


def test_who_they_are_and_what_they_wrote_of_themselves_is_known(asks: Callable[..., str], tmp_path: Path) -> None:
    root: Path = asks.root  # type: ignore[attr-defined]
    write(root / "profile/00-basic-info.md", "# Basic\n\n- **Name**: Ida Berg\n- **Home**: [to be filled]\n")
    write(root / "profile/31-preferences.md", "# Preferences\n\n- Cite the note, always.\n")
    for number in range(3):
        write(root / f"recipes/soup {number}.md", "# Soup\n")
    write(root / "archive/old.md", "# Old\n")
    asks("My sister Mara lives in Porto.")
    system = asks("Hello there, what is in my vault?")
    assert "- Name: Ida Berg [[profile/00-basic-info]]" in system and "to be filled" not in system
    assert "My sister Mara lives in Porto. [[2026-11-21-my-sister" in system and "- Cite the note, always." in system
    assert "- recipes/ (3): soup" in system and "archive" not in system.partition("Their vault")[2].partition("\n\n")[0]


def test_one_line_of_a_run_that_read_something_takes_no_note_off_the_map(tmp_path: Path) -> None:
    home = tainted(house(tmp_path, {"home/roof.md": "# Roof\n" + "\nmine\n" * 9, "home/plan.md": "# Plan\n"}))
    home.says("vault_append", path="home/roof.md", text="The slab carries 180 kg, says the engineer.")
    home.says("vault_write", path="home/survey.md", content="The parapet carries nothing at all, says he.\n")
    block = OwnerBlock(home.vault, text_origin_of(home.vault), tuple, by_fours).text(MOST)
    assert "roof" in block and "plan" in block and "survey" not in block


def test_others_are_told_nothing_of_the_owner(asks: Callable[..., str]) -> None:
    asks("Short answers, no tables.")
    assert "no tables" not in asks("Who is there?", Speaker("lark:tea", "Bo", group=True))


def test_it_is_one_message_for_a_conversation_with_wishes_before_facts_before_the_map() -> None:
    facts = OwnerFacts(("No tables.",) * 1, ("Name: Ida",))
    block = owner_block(facts, [VaultPlace("recipes/", 41, ("Soup",))], MOST, by_fours)
    parts = [
        "Your owner",
        "No tables.",
        "Name: Ida",
        "Their vault, 41 notes, with the newest of each folder:",
        "- recipes/ (41): Soup",
    ]
    assert [block.index(part) for part in parts] == sorted(block.index(part) for part in parts)
    assert owner_block(OwnerFacts(), [], MOST, by_fours) == ""


@pytest.mark.parametrize("room", [60, 120, 300, MOST])
def test_it_never_takes_more_than_its_room_and_gives_a_part_of_each(room: int) -> None:
    facts = OwnerFacts(tuple(f"Wish {n} is to be kept." for n in range(200)), tuple(f"Fact {n}." for n in range(200)))
    places = [VaultPlace(f"folder {n}/", n, ("one", "two")) for n in range(1, 50)]
    block = owner_block(facts, places, room, by_fours)
    assert by_fours(block) <= room
    if room >= 300:
        assert all(each in block for each in ("Wish 0", "Fact 0", "folder 1/"))


def test_what_is_said_in_several_places_stands_once_and_what_was_learned_is_no_wish() -> None:
    file = parse_profile(
        "profile/31-preferences.md",
        "31-preferences.md",
        "# P\n\n- prefers shorter text · 0.82 (plain mean 0.71) · 5 signs ^belief-1a2b3c4d\n- No tables.\n"
        "- prefers lists to prose · 0.70 · 3 signs, 2 against, which holds? ^belief-1a2b3c4e\n".encode(),
    )
    facts = owner_facts([file], [LongTermFact("No tables."), LongTermFact("Always cite the note.")], [])
    assert facts.wishes == ("No tables.", "Always cite the note.") and facts.learned == ("prefers shorter text",)
    block = owner_block(facts, [], MOST, by_fours)
    assert block.index("No tables.") < block.index("What they seem to prefer") < block.index("prefers shorter text")


@pytest.mark.parametrize(
    ("text", "is_wish"),
    [
        ("From now on answer in German.", True),
        ("Please keep your answers short, no tables.", True),
        ("No meetings before 2 pm, ever.", True),
        ("metric units", True),
        ("以后写对比的时候用表格，不要写长段落", True),
        ("日程不要安排在下午两点之前", True),
        ("I like tea.", False),
        ("Write a short summary of the meeting", False),
        ("Never mind.", False),
        ("What should I always bring?", False),
        ("The metric system is used in France.", False),
        ("我喜欢喝茶", False),
        ("明天下午开会", False),
    ],
)
def test_a_wish_for_always_is_told_from_one_for_now(text: str, is_wish: bool) -> None:
    assert is_lasting_wish(text) is is_wish
