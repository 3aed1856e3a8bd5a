"""A line that must fit a terminal is cut after a word, and a Chinese character counts as two columns."""

from hypothesis import given
from hypothesis import strategies as st

from agent.markdown.title import clipped, clipped_between_links, columns, shortened


def test_the_cut_is_after_a_word_and_shown() -> None:
    asked = "session: finished: when is my train to Lyon, and where is the hotel?"
    assert shortened(asked, 72) == asked
    assert shortened(asked, 60) == "session: finished: when is my train to Lyon, and where is…"
    assert shortened(asked, 46) == "session: finished: when is my train to Lyon…"


def test_a_long_word_and_a_sentence_without_spaces_are_cut_themselves() -> None:
    assert shortened("vault(edit): Projects/Renovation.md", 24) == "vault(edit): Projects/R…"
    assert (
        shortened("session: finished: 我下周二去里昂的火车几点出发", 44)
        == "session: finished: 我下周二去里昂的火车几点…"
    )


@given(st.text(alphabet="ab 火车,.", max_size=40), st.integers(2, 30))
def test_the_start_of_the_text_is_kept_and_fits(text: str, most: int) -> None:
    short = shortened(text, most)
    assert columns(short) <= most
    assert short == text if columns(text) <= most else text.startswith(short.removesuffix("…"))


@given(st.text("ab[] ", max_size=40), st.integers(1, 40))
def test_no_link_is_cut_in_two(text: str, most: int) -> None:
    found = clipped_between_links(text, most)
    assert len(found) <= most + 1 and (len(text) > most or found == text)
    assert clipped_between_links("see [[one]], [[two]]", 15) == "see [[one]] …"
    assert clipped_between_links("see [[one]] here", 13) == "see [[one]] …"


def test_a_text_is_clipped_to_so_many_characters_in_all() -> None:
    assert clipped("three", 5) == "three" and clipped("three ", 5) == "thre…"
