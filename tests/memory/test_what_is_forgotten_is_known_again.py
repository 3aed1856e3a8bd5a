"""A tombstone knows a forgotten text again in other words' company, keeps none of its words, and bars nothing else."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.memory.entry import slug
from agent.memory.forgetting.tombstones import (
    Tombstones,
    compose_tombstone,
    fingerprint,
    load_tombstones,
    marks,
    name_marks,
)
from agent.vault.folders import FORGOTTEN
from tests.fakes import FakeClock
from tests.vaults import make_vault, write

WORDS = st.lists(
    st.sampled_from(["anna", "green", "tea", "river", "bicycle", "绿茶", "咖啡"]), min_size=3, max_size=6, unique=True
)


def forgotten(*texts: str) -> Tombstones:
    return Tombstones(frozenset(mark for text in texts for mark in marks(text)))


@pytest.mark.parametrize(
    "said",
    [
        "Anna likes green tea",
        "anna likes green tea!!",
        "- Anna likes green tea. [[entries/2026/11/a]]",
        "Please remember that Anna likes green tea.",
        "It rained. Anna likes green tea. We left.",
        "By the way, Anna likes green tea",
        "User: Anna likes green tea.\nAssistant: Noted.",
    ],
)
def test_the_same_thing_said_again_is_known(said: str) -> None:
    assert forgotten("Anna likes green tea.").is_forgotten(said)


@pytest.mark.parametrize("said", ["我喜欢绿茶", "请记住：我喜欢绿茶。", "今天下雨了。我喜欢绿茶。"])
def test_the_same_thing_said_again_is_known_in_chinese(said: str) -> None:
    assert forgotten("我喜欢绿茶。").is_forgotten(said)


@pytest.mark.parametrize(
    ("buried", "said"),
    [
        ("Anna likes green tea.", "Anna doesn't like green tea."),
        ("Anna likes green tea.", "Anna likes black tea."),
        ("Thanks a lot. Anna likes green tea.", "Thanks a lot. The train leaves at nine."),
        ("我喜欢绿茶", "我不喜欢绿茶"),
        ("好的。我喜欢绿茶", "好的。明天见"),
        ("Clara lives in Lisbon, near the river.", "Our cabin is old, near the river."),
        ("我对花生过敏，做饭要小心。", "锅很烫，做饭要小心。"),
    ],
)
def test_another_thing_is_not_mistaken_for_it(buried: str, said: str) -> None:
    assert not forgotten(buried).is_forgotten(said)


@pytest.mark.parametrize(
    ("buried", "said"),
    [
        ("Clara lives in Lisbon, near the river.", "Clara lives in Lisbon."),
        ("我对花生过敏，做饭要小心。", "我对花生过敏。"),
    ],
)
def test_a_clause_that_states_something_is_known_by_itself(buried: str, said: str) -> None:
    assert forgotten(buried).is_forgotten(said)


@pytest.mark.parametrize(
    ("buried", "said"),
    [
        ("表妹住在利兹。", "我的表妹住在利兹"),
        ("保险箱的密码是蓝鸟。", "对了，保险箱的密码就是蓝鸟"),
        ("The bonus was 3,900 euros.", "The bonus was 3900 euros"),
        ("The party is at 3 pm.", "The party is at 15:00."),
        ("Clara owes two euros.", "So Clara owes 2 euros, really"),
    ],
)
def test_it_is_known_with_another_particle_or_its_numbers_written_otherwise(buried: str, said: str) -> None:
    assert forgotten(buried).is_forgotten(said)
    assert not forgotten(buried).is_forgotten("表妹不住在利兹。The bonus was 3901 euros. The party is at 5 pm.")


def test_a_link_to_a_note_that_is_named_after_it_is_taken_out_of_a_day(tmp_path: Path) -> None:
    said = "The locksmith hides a spare key below the third flowerpot beside our neighbour's garage"
    stones = Tombstones(marks(said) | name_marks(said))
    link = f"[[sessions/2026/11/2026-11-21-{slug(said)}-00a002]]"
    assert not slug(said).endswith("garage"), "names are cut"
    assert stones.left_of_log(f"- In {link} and [[sessions/2026/11/2026-11-21-hello-00a003]]") == (
        "- In … and [[sessions/2026/11/2026-11-21-hello-00a003]]"
    )
    assert stones.left_of_log(f"- In {link}") == "- In …"


def test_only_the_forgotten_sentence_is_taken_out() -> None:
    stones = forgotten("Anna likes green tea.")
    left = stones.without_forgotten("Anna likes green tea. The train leaves at nine.\nBring the bicycle.")
    assert left == " The train leaves at nine.\nBring the bicycle."
    assert stones.without_forgotten("Please remember that Anna likes green tea!") == ""
    assert stones.without_forgotten("Anna, Ben and Cleo met.") == "Anna, Ben and Cleo met."


def test_the_note_keeps_no_word_of_it(tmp_path: Path) -> None:
    clock = FakeClock()
    vault = make_vault(tmp_path, clock=clock)
    path, data = compose_tombstone(marks("Anna's locker code is 4711"), clock.new_id(), clock.now())
    write(vault.place.root / path, data)
    assert b"4711" not in data and b"locker" not in data and path.startswith(FORGOTTEN)
    assert load_tombstones(vault).is_forgotten("My notes say: Anna's locker code is 4711.")


def test_deleting_the_note_by_hand_lifts_it(tmp_path: Path) -> None:
    clock = FakeClock()
    path, data = compose_tombstone(marks("Anna likes tea"), clock.new_id(), clock.now())
    vault = make_vault(tmp_path, {path: data, f"{FORGOTTEN}mine.md": "no tombstone\n"})
    assert load_tombstones(vault).is_forgotten("Anna likes tea")
    (vault.place.root / path).unlink()
    assert load_tombstones(vault) == Tombstones()


@given(WORDS)
def test_order_case_and_marks_make_no_difference(words: list[str]) -> None:
    said = " ".join(words)
    again = " ".join(reversed(words)).upper() + "!"
    assert fingerprint(said) == fingerprint(again)
