"""Which notes count as lost: most of the text gone, and found nowhere else in the change."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.vault.write.mass_change import Rewrite, lost_notes, removes_text

WORDS = ("tea", "milk", "rain", "snow", "bread", "cats", "dogs")
LINES = [f"Ann's line {number} about {word}" for number, word in enumerate(WORDS)]
NOTE = "\n".join(["---", "kind: diary", "---", "# A day", "", *LINES, ""])
CHINESE = "# 日记\n\n今天早上下雨，我在家里看书。\n\n下午和安娜一起去喝茶，聊了很久。\n\n晚上做了面条，味道不错。\n"


def lost(*files: tuple[str, str | None, str | None]) -> set[str]:
    """The names of the notes that these files lose from their first text to their second."""
    changes = [Rewrite(f"{name}.md", _bytes(before), _bytes(after)) for name, before, after in files]
    return {path.removesuffix(".md") for path in lost_notes(lambda: changes)}


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


KEPT = {
    "nothing is changed": NOTE,
    "a line is added": NOTE + "one more\n",
    "three of seven lines go": "\n".join(["# A day", *LINES[3:]]),
    "its line ends are changed": NOTE.replace("\n", "\r\n"),
    "its header goes": NOTE.partition("---\n# ")[2],
    "its lines are sorted": "\n".join(["# A day", *reversed(LINES)]),
    "a name is replaced everywhere": NOTE.replace("Ann", "Anna"),
    "its lines become a list": "\n".join(["# A day", *(f"- [ ] {line}" for line in LINES)]),
    "it is wrapped anew": "# A day\n" + " ".join(LINES).replace(" about", "\nabout"),
    "it is one line": " ".join(["A day", *LINES]),
    "its header and every case is changed": NOTE.upper(),
}
LOST = {
    "it is deleted": None,
    "it is empty": "",
    "it is a point": ".",
    "its header is left": "---\nkind: diary\n---\n",
    "its heading is left": "---\nkind: diary\n---\n# A day\n",
    "two lines are left": "\n".join(["# A day", *LINES[:2]]),
    "other text stands there": "\n".join(f"lorem ipsum {number} dolor sit amet" for number in range(9)),
    "each line is cut short": "\n".join(["# A day", *(line[:5] for line in LINES)]),
    "its words are sorted": "\n".join(sorted(NOTE.split())),
    "its body goes into blanks": "---\nkind: diary\n---\n# A day\n" + " \n\t\n" * 20,
}


@pytest.mark.parametrize("after", KEPT.values(), ids=KEPT)
def test_a_note_is_there_while(after: str) -> None:
    assert lost(("a", NOTE, after)) == set()


@pytest.mark.parametrize("after", LOST.values(), ids=LOST)
def test_a_note_is_lost_when(after: str | None) -> None:
    assert lost(("a", NOTE, after)) == {"a"}


def test_a_paragraph_below_its_heading_counts_for_more_than_the_heading() -> None:
    before = "# Note\n\n" + "A long story about a summer by the sea. " * 20
    assert lost(("a", before, "# Note\n\n.\n")) == {"a"}


def test_chinese_text_is_measured_in_signs() -> None:
    assert lost(("a", CHINESE, CHINESE.replace("安娜", "安").replace("下雨", "下雪"))) == set()
    assert lost(("a", CHINESE, "# 日记\n\n无。\n")) == {"a"}


@pytest.mark.parametrize("after", [None, "", "  \n"])
def test_a_blank_note_cannot_be_lost(after: str | None) -> None:
    assert lost(("a", "", after), ("b", " \n\n", after)) == set()


def test_a_note_of_a_header_only_is_lost_when_it_is_deleted() -> None:
    assert lost(("a", "---\nborn: 1984\n---\n", None)) == {"a"}
    assert lost(("a", "---\nborn: 1984\n---\n", "---\nborn: 1985\n---\n")) == set()


def test_what_is_found_elsewhere_in_the_change_is_not_lost() -> None:
    half = len(LINES) // 2
    first, second = "\n".join(LINES[:half]), "\n".join(LINES[half:])
    assert lost(("a", NOTE, None), ("b", None, NOTE)) == set()
    assert lost(("a", NOTE, "see [[b]] and [[c]]"), ("b", None, first), ("c", None, second)) == set()
    assert lost(("a", NOTE, None), ("b", "# B\n", f"# B\n\n{NOTE}")) == set()
    assert lost(("a", NOTE, None), ("b", None, first[: len(first) // 2])) == {"a"}


def test_one_copy_makes_up_for_one_note_only() -> None:
    files: list[tuple[str, str | None, str | None]] = [(f"n{number}", NOTE, None) for number in range(5)]
    assert len(lost(*files, ("kept", None, NOTE))) == 4
    assert len(lost(*files, ("kept", NOTE, NOTE))) == 5, "what was there before makes up for nothing"


def test_a_moved_note_is_known_beside_deleted_ones_of_the_same_pattern() -> None:
    files = [(f"n{number}", NOTE.replace("Ann", f"Person {number}")) for number in range(9)]
    moved = [(f"m{name}", None, text) for name, text in files[::3]]
    gone = [(name, text, None) for name, text in files]
    assert lost(*gone, *moved) == {name for number, (name, _) in enumerate(files) if number % 3}


def test_files_that_are_no_notes_are_not_counted_but_text_in_them_is_there() -> None:
    changes = [Rewrite("a.md", NOTE.encode(), None), Rewrite(".trash/a.md", None, NOTE.encode())]
    assert lost_notes(lambda: changes) == frozenset()
    assert lost_notes(lambda: [Rewrite("photo.png", b"\x89PNG" * 50, None)]) == frozenset()


@given(st.integers(1, 40), st.integers(0, 40), st.randoms())
def test_a_note_is_lost_exactly_when_more_than_half_of_its_lines_are(
    lines: int, gone: int, chance: random.Random
) -> None:
    whole = [f"line{number} says{number} this{number} and that{number}" for number in range(10, 10 + lines)]
    left = list(whole)
    for _ in range(min(gone, lines)):
        left.pop(chance.randrange(len(left)))
    assert (lost(("a", "\n".join(whole), "\n".join(left))) == {"a"}) == (2 * min(gone, lines) > lines)


@given(st.lists(st.text(max_size=200), min_size=1, max_size=8), st.lists(st.text(max_size=200), max_size=8))
def test_no_text_makes_it_fail_and_a_split_note_is_never_lost(before: list[str], after: list[str]) -> None:
    lost(("a", "\n".join(before), "\n".join(after)))
    assert lost(("a", "\n".join(before), None), *((f"b{n}", None, part) for n, part in enumerate(before))) == set()


def test_a_change_that_takes_no_line_away_needs_no_look_at_the_history() -> None:
    assert not removes_text(Rewrite("a.md", b"one\n", b"zero\none\ntwo\n"))
    assert not removes_text(Rewrite("a.md", None, b"one\n"))
    assert removes_text(Rewrite("a.md", b"one\none\n", b"one\n"))
    assert removes_text(Rewrite("a.md", b"one\n", None))
