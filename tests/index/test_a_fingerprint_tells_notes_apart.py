"""The fingerprint of a set of notes is that of its notes one by one, and another one after any change."""

from hashlib import sha1

from hypothesis import assume, given
from hypothesis import strategies as st

from agent.index.fingerprint import fingerprint, with_note

HASHES = st.integers(0, 5).map(lambda number: sha1(bytes([number])).hexdigest())
NOTES = st.dictionaries(st.text(st.characters(exclude_characters="\0"), min_size=1, max_size=8), HASHES | st.just(""))


@given(NOTES, st.randoms())
def test_notes_may_come_one_by_one_in_any_order(notes: dict[str, str], chance: object) -> None:
    found, order = 0, sorted(notes, key=lambda _: chance.random())  # type: ignore[attr-defined]
    for path in order:
        found = with_note(found, path, notes[path])
    assert found == fingerprint(notes)
    for path in sorted(notes):
        found = with_note(found, path, notes[path], -1)
    assert found == 0


@given(NOTES, NOTES)
def test_other_notes_have_another_one(one: dict[str, str], other: dict[str, str]) -> None:
    assume(one != other)
    assert fingerprint(one) != fingerprint(other)


@given(st.lists(HASHES, min_size=2, max_size=2, unique=True))
def test_two_notes_that_change_places_are_noticed(hashes: list[str]) -> None:
    one, other = hashes
    assert fingerprint({"a.md": one, "b.md": other}) != fingerprint({"a.md": other, "b.md": one})
