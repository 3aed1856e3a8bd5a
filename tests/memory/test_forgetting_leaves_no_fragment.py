"""Of a sentence that is forgotten nothing stays: no rest of a bracket, no earlier value, no field of a profile."""

from dataclasses import replace
from itertools import product
from pathlib import Path

import pytest

from agent.memory.entry import EntryType
from agent.memory.forgetting.forget import carry_out, plan_text
from agent.memory.forgetting.forgotten_statements import phrase
from agent.vault.change import Stamp
from tests.memory.days import Days, days

SESSION = "sessions/2026/11/2026-11-21 A talk.md"
OTHER = "The bins go out on Monday."
HEADS = ("My rent goes up to 935 euros", "Please remember that my rent is 935 euros from January on")
TAILS = (
    " (corrected on 3 December; before: 920 from January)",
    " (since 2025. It was 920 before) from January on",
    " [it was 920; see the letter (of 3 December)]",
    "; before: 920 from January",
    "; 920 until January",
    ". It was 920 before.",
    ". (Before: 920.)",
    " – before that 920! Previously it was 900.",
)
CHINESE = (
    "我的房租涨到935欧元（12月3日更正；之前：920）。",
    "我的房租是935欧元；之前是920。",
    "我的房租是935欧元。它以前是920。",
    "我的房租是935欧元。（原来：920）",
)


def forgotten(home: Days, text: str, *, entries: tuple[str, ...], session: str) -> str:
    """All that the agent's notes hold after a text is forgotten that these say."""
    for each in entries:
        home.keep(home.entry(each))
    with home.vault.transaction("session: answered", Stamp("agent", session=SESSION)) as change:
        change.create(SESSION, f"---\ntype: session\n---\n# A talk\n\n{session}\n".encode())
    carry_out(home.vault, plan_text(home.vault, text, home.language), home.language)
    paths = [path for path in home.vault.note_paths() if not path.startswith("archive/forgotten/")]
    return "\n".join(path + "\n" + home.text(path).rpartition("---\n")[2] for path in paths)


@pytest.mark.parametrize(("head", "tail"), [*product(HEADS, TAILS)])
def test_what_stands_beside_the_words_of_a_sentence_goes_with_them(tmp_path: Path, head: str, tail: str) -> None:
    told = f"{head}{tail}"
    left = forgotten(days(tmp_path), "my rent", entries=(told,), session=f"{OTHER} {told}\n\n{OTHER}")
    assert left.count(OTHER) == 2
    assert not [word for word in ("935", "920", "900", "rent", "anuary") if word in left], left


@pytest.mark.parametrize("told", CHINESE)
def test_the_same_in_chinese(tmp_path: Path, told: str) -> None:
    left = forgotten(days(tmp_path), "我的房租", entries=(told,), session=f"垃圾周一收。{told}")
    assert "垃圾周一收。" in left and not [word for word in ("935", "920", "房租") if word in left], left


@pytest.mark.parametrize(
    ("said", "others"),
    [
        ("我对芒果过敏", ("过敏: 芒果", "- **过敏**：芒果", "芒果过敏。", "你对芒果过敏，我会避开。")),
        ("I am allergic to mango", ("Allergies: mango", "- **Allergies**: mango", "You are allergic to mango.")),
        ("I live in Porto", ("Home: Porto", "住处: Porto")),
        ("My shoe size is 43", ("Shoe size: 43", "- **Shoe size**: 43 ([[a note]])")),
    ],
)
def test_a_statement_is_known_as_the_field_of_a_profile(tmp_path: Path, said: str, others: tuple[str, ...]) -> None:
    for other in others:
        assert phrase(said).redacted(other).replace("[forgotten]", "").strip(" -*.。\n") == "", other
    left = forgotten(days(tmp_path), said, entries=(said,), session="\n".join((OTHER, *others)))
    assert OTHER in left and not [word for word in ("芒果", "mango", "Porto", "43") if word in left], left


def test_a_correction_goes_with_what_it_corrects_unless_it_says_something_by_itself(tmp_path: Path) -> None:
    home = days(tmp_path)
    depends, alone = "No, it is 935 euros from January", "Anna pays 935 euros from January for it all"
    paths = [
        home.keep(replace(home.entry(f"{said}\n(Before: My rent is 920)"), type=EntryType.FACT))
        for said in (depends, alone)
    ]
    found = plan_text(home.vault, "my rent")
    assert [path for path, _ in found.gone] == paths[:1]
    assert [each.path for each in found.changed] == paths[1:]
    assert b"Before" not in found.changed[0].after and b"Anna pays 935" in found.changed[0].after


@pytest.mark.parametrize(
    "beside",
    [
        "The bins go out on Monday",
        "And the door code is by the phone; call Ben first",
        "wifi: over the stairs",
        "Ben (who has a key) waters the plants",
        "Wir fahren im Mai nach Rom",
        "周末去爬山",
    ],
)
def test_what_says_something_by_itself_stays(beside: str) -> None:
    said = phrase("my rent")
    assert said.without_forgotten(f"My rent is 935. {beside}.").strip() == f"{beside}."
    assert said.without_forgotten(f"{beside}. My rent is 935 (920 before).").strip() == f"{beside}."
    assert said.redacted(f"- {beside}. My rent is 935; 920 before.") == f"- {beside}. [forgotten]"
