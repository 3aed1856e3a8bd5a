"""The frames of Lark's long connection: what is written is read again, and nothing is read that is not there."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.attention.channels.lark_frames import DATA, Frame, frame_bytes, parse_frame

NUMBERS = st.integers(0, 2**64 - 1)
TEXTS = st.text(max_size=20)
FRAMES = st.builds(
    Frame,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    NUMBERS,
    st.lists(st.tuples(TEXTS, TEXTS), max_size=4).map(tuple),
    TEXTS,
    TEXTS,
    st.binary(max_size=300),
    TEXTS,
)
PING = bytes.fromhex("08001000 182a 2000 2a0c 0a0474797065 120470696e67".replace(" ", ""))
"""A ping of service 42, byte by byte: SeqID 0, LogID 0, service 42, method 0, one header."""
UNKNOWN = (
    bytes([10 << 3 | 0, 0xFF, 0x01]),
    bytes([11 << 3 | 1]) + b"8 bytes!",
    bytes([12 << 3 | 2, 3]) + b"abc",
    bytes([13 << 3 | 5]) + b"four",
)
"""A field of each kind whose number no frame has."""


@given(FRAMES)
def test_a_frame_is_read_as_it_was_written(frame: Frame) -> None:
    assert parse_frame(frame_bytes(frame)) == frame


@given(FRAMES, st.lists(st.sampled_from(UNKNOWN), max_size=4), st.lists(st.sampled_from(UNKNOWN), max_size=4))
def test_fields_that_are_not_known_are_skipped(frame: Frame, before: list[bytes], after: list[bytes]) -> None:
    assert parse_frame(b"".join(before) + frame_bytes(frame) + b"".join(after)) == frame


@given(FRAMES, st.data())
def test_nothing_is_read_past_the_end(frame: Frame, data: st.DataObject) -> None:
    whole = frame_bytes(frame)
    cut = whole[: data.draw(st.integers(0, len(whole)))]
    try:
        found = parse_frame(cut)
    except ValueError:
        return
    assert found.payload in (b"", frame.payload)
    assert found.headers == frame.headers[: len(found.headers)]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_frame_or_none(data: bytes) -> None:
    try:
        found = parse_frame(data)
    except ValueError:
        return
    assert len(found.payload) + sum(len(each.encode()) for pair in found.headers for each in pair) <= len(data)


def test_a_ping_is_as_the_service_has_it() -> None:
    ping = Frame(service=42, headers=(("type", "ping"),))
    assert frame_bytes(ping) == PING
    assert parse_frame(PING) == ping


def test_a_number_of_ten_bytes_keeps_64_bits() -> None:
    assert parse_frame(b"\x08" + b"\xff" * 9 + b"\x01").sequence == 2**64 - 1
    with pytest.raises(ValueError, match="without an end"):
        parse_frame(b"\x08" + b"\xff" * 10 + b"\x01")


def test_a_header_that_is_no_number_is_none() -> None:
    frame = Frame(method=DATA, headers=(("sum", "2"), ("seq", "-1"), ("big", "9" * 30)))
    assert [frame.number(name) for name in ("sum", "seq", "big", "none")] == [2, 0, 0, 0]
