"""Shortening: within its room, always alike, and never in secret."""

from hypothesis import example, given
from hypothesis import strategies as st

from agent.context.budget import Window, estimate, shorten
from tests.context.talk import by_fours

TEXTS = st.one_of(st.text(max_size=3_000), st.lists(st.text(max_size=80), max_size=60).map("\n".join))


@given(TEXTS, st.integers(0, 400))
@example("词" * 900, 100)
@example("x" * 4_000, 1)
def test_it_fits_its_room_and_a_second_time_changes_nothing(text: str, room: int) -> None:
    for count in (by_fours, estimate):
        short = shorten(text, room, count)
        assert count(short) <= room
        assert shorten(short, room, count) == short
        if count(text) <= room:
            assert short == text


def test_the_beginning_and_the_end_stay_and_a_note_says_how_much_is_missing() -> None:
    text = "\n".join(f"line {number} of a long result" for number in range(500))
    short = shorten(text, 200, by_fours)
    lines = short.splitlines()
    assert lines[0] == "line 0 of a long result"
    assert lines[-1] == "line 499 of a long result"
    assert all(line in text or line.startswith("[… left out here: about ") for line in lines)


def test_a_frame_around_a_strangers_text_stays_closed() -> None:
    for body in ("word " * 9_000, "x" * 40_000, "one\ntwo\n" * 5_000):
        short = shorten(f'<untrusted source="https://example.org">\n{body}\n</untrusted>', 150, by_fours)
        assert short.startswith('<untrusted source="https://example.org">')
        assert short.endswith("</untrusted>")


def test_the_results_of_two_steps_leave_half_of_the_budget() -> None:
    window = Window(32_768, 4_096)
    for results in range(1, 30):
        assert 2 * results * window.result_room(results) <= window.budget // 2 + 1
