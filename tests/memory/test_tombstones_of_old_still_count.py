"""A tombstone that an earlier version wrote keeps what it buried from coming back: the fingerprints never change."""

import pytest

from agent.memory.forgetting.tombstones import Tombstones, fingerprints, load_tombstones, marks
from tests.vaults import make_vault

NOTE = """---
id: 01HZZZZZZZ0000000000000001
type: forgotten
created: 2026-11-20T09:00:00+00:00
fingerprints:
  - "0abd8b766550fb4f0c65149304a1f4a1"
  - "0f3f79013071ad374c1f4eeea4456082"
  - "18da0b191076283f1987696aa0e39093"
  - "3173bfb783fbc03c7569465192f31d3e"
  - "477411bd9e272fa067538af36d9a45d1"
  - "59f80ed32c1004696238084c9fdce254"
  - "774cb5b7f68561dead37ed2ef1c8bca3"
  - "80f50b572d268d79aa64121c4e1e44ab"
  - "934249c9474628fbfe64e4de247a2410"
  - "9e64c844fdf4acc52a7e8baf76e67c97"
  - af7a04b1c3bffc314d38fc7580d30067
  - ee0721d46419969154becd6a501adee9
  - f2604bbaf3aec61ef0fb66a6db6d2674
  - ff49337cd49a82c39a80299c776cc5bc
---
Something was forgotten here. Its words are not kept, only fingerprints by which they are known again, so that nothing brings them back. Delete this note if they may be remembered again.
"""  # noqa: E501
BURIED = {
    "Anna's locker code is 4,150, near the river.": ["Anna's locker code is 4150, near the river!"],
    "The party is at 3 pm.": ["The party is at 15:00", "Really, the party is at 3 pm"],
    "表妹住在利兹，做饭要小心。": ["我的表妹住在利兹", "表妹住在利兹了，做饭要小心"],
    "I never eat peanuts": ["Please remember that I never eat peanuts."],
    "Clara owes two euros.": ["So Clara owes 2 euros, really", "clara owes two euros"],
}
OTHERS = [
    "Anna's locker code is 4151",
    "The party is at 5 pm",
    "我的表妹不住在利兹",
    "I eat peanuts",
    "Clara owes 3 euros",
]


@pytest.fixture
def stones(tmp_path_factory: pytest.TempPathFactory) -> Tombstones:
    path = "archive/forgotten/2026-11-20-000001.md"
    return load_tombstones(make_vault(tmp_path_factory.mktemp("vault"), {path: NOTE}), lambda vault, notes: [path])


@pytest.mark.parametrize("buried", BURIED)
def test_what_it_buried_is_known_word_for_word_and_in_the_ways_it_always_was(stones: Tombstones, buried: str) -> None:
    assert stones.is_forgotten(buried)
    assert all(stones.is_forgotten(again) for again in BURIED[buried])


def test_the_fingerprints_of_a_text_are_those_of_the_earlier_version(stones: Tombstones) -> None:
    assert frozenset(mark for text in BURIED for mark in marks(text)) == stones.marks


@pytest.mark.parametrize("other", OTHERS)
def test_what_says_something_else_is_not_barred(stones: Tombstones, other: str) -> None:
    assert not stones.is_forgotten(other)
    assert fingerprints(other)
