"""Server-sent events: the same events come out wherever the bytes were cut."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.errors import Permanent
from agent.llm.sse import MAX_LINE, ServerEvent, parse_events

STREAM = (
    "\ufeff: hello\r\nevent: ping\rdata: 猫\n\n\n\nevent: x\r\ndata:one\r\ndata: two\r\n\r\n"
    "id: 7\nretry: 9\nnonsense\n\ndata: 🐈 \r\rdata: last"
).encode()
EVENTS = [ServerEvent("ping", "猫"), ServerEvent("x", "one\ntwo"), ServerEvent("", "🐈 "), ServerEvent("", "last")]


@given(st.lists(st.integers(0, len(STREAM)), max_size=12))
def test_cuts_change_nothing(cuts: list[int]) -> None:
    places = [0, *sorted(cuts), len(STREAM)]
    pieces = [STREAM[start:end] for start, end in zip(places, places[1:], strict=False)]
    assert list(parse_events(pieces)) == EVENTS


def test_single_bytes_change_nothing() -> None:
    assert list(parse_events(STREAM[place : place + 1] for place in range(len(STREAM)))) == EVENTS


@given(st.lists(st.binary(max_size=40), max_size=8))
def test_no_bytes_are_a_crash(pieces: list[bytes]) -> None:
    list(parse_events(pieces))


def test_bytes_that_are_no_text_are_marked() -> None:
    assert list(parse_events([b"data: a\xffb\n\n"])) == [ServerEvent("", "a\ufffdb")]


def test_a_line_without_end_is_refused_before_it_fills_the_memory() -> None:
    taken = 0

    def endless() -> object:
        nonlocal taken
        while True:
            taken += 1
            yield b"x" * 65536

    with pytest.raises(Permanent, match="line of over 1024 KB"):
        list(parse_events(endless()))  # type: ignore[arg-type]
    assert taken <= MAX_LINE // 65536 + 1
