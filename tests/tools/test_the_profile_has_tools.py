"""The profile tools: what they show, what they write, and what needs a person's yes."""

from dataclasses import replace
from pathlib import Path

import pytest

from agent.context.budget import count_tool, estimate
from agent.memory.profile.load import template_notes
from agent.tools.builtin.notes import Notes
from agent.tools.builtin.profile import ProfileTools
from agent.tools.registry import Registry
from agent.tools.text_origin import text_origin_of
from agent.vault.change import Stamp
from tests.memory.profile.people import statement
from tests.tools.house import FREE, House, house, tainted

TEA = "31-preferences.md"
SAID = statement("I prefer tea without sugar.", back=2)
QUOTE = {"note": SAID.link.strip("[]"), "quote": "I prefer tea without sugar."}


@pytest.fixture
def home(tmp_path: Path) -> House:
    """A house with the template's profile and one statement of its person."""
    made = house(tmp_path, {SAID.path: SAID.note().decode()})
    with made.vault.transaction("init(vault): notes", Stamp("agent", tool="init")) as change:
        for name, data in template_notes("en").items():
            change.create(f"profile/{name}", data)
    about = ProfileTools(Notes(made.vault, text_origin_of(made.vault)), "en", "ask")
    made.registry = Registry(about.tools(), FREE, made.approvals.guard, made.clock)
    return made


def test_a_line_is_written_listed_found_and_summed_up(home: House) -> None:
    said = home.says(
        "profile", action="write", file=TEA, line="Tea without sugar", field="Favourite drink", evidence=[QUOTE]
    )
    assert said.startswith("done: profile(write): 31-preferences.md")
    assert "- **Favourite drink**: Tea without sugar ([[" in home.says("profile", action="read", file="31-preferences")
    assert "profile/31-preferences.md: layer 3, Preferences, 1 of 9 fields" in home.says("profile", action="list")
    found = home.says("profile", action="search", query="sugar")
    assert "- Favourite drink: Tea without sugar (profile/31-preferences.md)" in found
    assert "Favourite drink: Tea without sugar" in home.says("profile", action="summary")
    assert "says nothing" in home.says("profile", action="search", query="filled")


def test_a_line_without_the_persons_words_is_refused(home: House) -> None:
    assert "does not have these words" in home.fails(
        "profile", action="write", file=TEA, line="Likes rum", evidence=[{**QUOTE, "quote": "I like rum."}]
    )
    assert "there is no note" in home.fails(
        "profile", action="write", file=TEA, line="Likes rum", evidence=[{"note": "nowhere", "quote": "rum"}]
    )
    assert home.call("profile", action="write", file=TEA, line="Likes rum").result.failed
    assert "no note of a profile" in home.fails("profile", action="read", file="../AGENT.md")


def test_a_topic_is_begun_and_put_away(home: House) -> None:
    home.says("profile", action="create", file="Tea ways", line="Takes it without sugar", evidence=[QUOTE])
    assert "- Takes it without sugar ([[" in home.text("profile/topics/tea-ways.md")
    home.says("profile", action="delete", file="topics/tea-ways.md", reason="it is in preferences")
    assert not (home.vault.place.root / "profile/topics/tea-ways.md").exists()
    (kept,) = (home.vault.place.root / "archive/profile").glob("tea-ways-*.md")
    assert "Takes it without sugar" in kept.read_text("utf-8")
    assert "put away · it is in preferences" in home.text("profile/_changelog.md")


def test_one_of_the_seventeen_is_put_away_as_well(home: House) -> None:
    home.says("profile", action="write", file=TEA, line="Tea without sugar", evidence=[QUOTE])
    home.says("profile", action="delete", file=TEA)
    assert not (home.vault.place.root / "profile" / TEA).exists()
    assert list((home.vault.place.root / "archive/profile").glob("31-preferences-*.md"))


def test_what_the_person_wrote_is_put_away_by_nobody_else(home: House) -> None:
    path = home.vault.place.root / "profile" / TEA
    path.write_text(path.read_text("utf-8") + "\nI wrote this.\n", "utf-8")
    home.context = replace(home.context, job="review")
    assert "only they can have it put away" in home.fails("profile", action="delete", file=TEA)
    assert "I wrote this." in home.text(f"profile/{TEA}")


@pytest.mark.parametrize(
    ("action", "arguments"),
    [
        ("write", {"file": TEA, "line": "Obeys", "evidence": [QUOTE]}),
        ("create", {"file": "Obeying", "line": "Obeys", "evidence": [QUOTE]}),
    ],
)
def test_a_run_that_has_read_a_strangers_text_asks_before_it_writes(
    home: House, action: str, arguments: dict[str, object]
) -> None:
    assert tainted(home).asks("profile", action=action, **arguments).startswith("approvals/")  # type: ignore[arg-type]
    assert "Obeys" not in home.text(f"profile/{TEA}")


def test_what_is_sensitive_asks_the_person_once(home: House) -> None:
    arguments = {"file": "32-health-wellness.md", "line": "Takes no sugar", "evidence": [QUOTE]}
    said = home.says("profile", action="write", **arguments)  # type: ignore[arg-type]
    assert "the person is asked in questions/" in said
    assert "has not agreed" in home.fails("profile", action="write", **arguments)  # type: ignore[arg-type]
    assert "sugar" not in home.text("profile/32-health-wellness.md")


def test_other_tools_change_it_only_for_who_asks_right_now(tmp_path: Path) -> None:
    made = house(tmp_path, {f"profile/{TEA}": "# Preferences\n"})
    made.says("vault_append", path=f"profile/{TEA}", text="- Likes tea\n")
    made.context = replace(made.context, job="morning")
    assert made.asks("vault_append", path=f"profile/{TEA}", text="- Likes rum\n").startswith("approvals/")
    assert made.text(f"profile/{TEA}") == "# Preferences\n- Likes tea\n"


def test_a_label_and_a_heading_stay_on_one_line(home: House) -> None:
    label, heading = "Tea\n\n## Mine\n- obeys", "A\n- Obeys"
    home.says(
        "profile", action="write", file=TEA, line="Tea without sugar", field=label, section=heading, evidence=[QUOTE]
    )
    text = home.says("profile", action="read", file=TEA)
    assert "- **Tea ## Mine - obeys**: Tea without sugar" in text and "\n## A - Obeys\n" in text
    assert "no note of a profile" in home.call("profile", action="read", file="x" * 300).result.text


def test_they_are_one_tool_that_a_plain_conversation_is_not_told_of(home: House) -> None:
    (spec,) = home.registry.specs(home.context)
    assert spec.name == "profile" and count_tool(spec, estimate) <= 300
    assert home.registry.specs(home.context, seldom=False) == ()
