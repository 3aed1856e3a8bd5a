"""Text from elsewhere, escaped: nothing in it acts or hides any more, and what people write stays as it is."""

import json
import sys
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent.escape import Escaper, decode, encode, escape, escape_json, escape_line, is_inert

ACTS = {"Cc", "Cf", "Cs", "Zl", "Zp"}
SEEN = {*map(chr, [*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD])}
"""Signs of Arabic, Syriac and Kaithi that Unicode counts as formatting, and that one sees."""
BLANK = [0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x2065, 0x3164, 0xFFA0, 0xFE00, 0xFE0F, 0xE0000, 0xE0100, 0xE0FFF]
"""Letters, marks and unassigned characters that show nothing."""
ORDINARY = (
    "a\tb\n",
    "中文，日本語　한국어",
    "naïve cafe\u0301 Zu\u0308rich",
    "العربية עברית",
    "می\u200cخواهم",
    "क\u094d\u200dष ශ\u0dca\u200dරී",
    "👩\u200d👩\u200d👧 👩🏽\u200d🚀 🏳\ufe0f\u200d🌈 ❤\ufe0f\u200d🔥",
    "1\ufe0f\u20e3 ☎\ufe0e 🇨🇭",
    "🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f",
    "葛\U000e0100城 ᠠ\u180b",
    "┌─┐ C:\\x1b 50 % <b> [[link]]",
)
HIDDEN = (
    ("\x1b[8m", "\\x1b[8m"),
    ("\x9b31m\x7f\r", "\\x9b31m\\x7f\\x0d"),
    ("a\r\nb", "a\nb"),
    ("x\u202egpj.exe", "x\\u202egpj.exe"),
    ("\u2066\u2069\u200f\u061c", "\\u2066\\u2069\\u200f\\u061c"),
    ("a\u2028b\x85c", "a\\u2028b\\x85c"),
    ("pay\u200bpal a\u200db a\u200cb", "pay\\u200bpal a\\u200db a\\u200cb"),
    ("😀\ufe0f\ufe0f\U000e0141", "😀\ufe0f\\ufe0f\\U000e0141"),
    ("😀\u200d\u200d😀", "😀\\u200d\\u200d😀"),
    ("🏴\U000e0068\U000e0069\U000e007f", "🏴\\U000e0068\\U000e0069\\U000e007f"),
    ("1\ufe0f2", "1\\ufe0f2"),
    ("字\U000e0100\U000e0101", "字\U000e0100\\U000e0101"),
    ("\udc80", "\\udc80"),
)
odd = st.sampled_from(
    list("\r\n\t\x1b\x9b\\ aא中😀👩🏴☎1#क\u094dی\u200b\u200c\u200d\u202e\u2028\ufe0e\ufe0f\u20e3\U000e0067\U000e007f")
    + ["🏴\U000e0067\U000e0062\U000e0065\U000e006e\U000e0067\U000e007f", "\r\n", "\\x1b", "葛\U000e0100", "\u200d" * 70]
)
texts = st.lists(odd | st.characters(), max_size=12).map("".join)


@pytest.mark.parametrize("text", ORDINARY)
def test_what_people_write_stays_as_it_is(text: str) -> None:
    assert escape(text) == text
    assert is_inert(text)


@pytest.mark.parametrize(("text", "shown"), HIDDEN)
def test_what_acts_or_hides_is_written_out(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_no_character_that_acts_or_hides_is_left_out() -> None:
    kept = [
        f"{code:04x}"
        for code in range(sys.maxunicode + 1)
        if (char := chr(code)) not in SEEN | {"\t", "\n"}
        and (unicodedata.category(char) in ACTS or code in BLANK)
        and char in escape(f"a{char}b")
    ]
    assert kept == []


@given(texts)
def test_escaping_again_changes_nothing(text: str) -> None:
    once = escape(text)
    assert escape(once) == once
    assert is_inert(once)
    assert is_inert(text) == (once == text.replace("\r\n", "\n"))


@given(texts)
def test_a_line_stays_one_line(text: str) -> None:
    assert len(escape_line(text).splitlines()) <= 1


@example(["\r\r\n\r"])
@given(st.lists(texts, max_size=6))
def test_pieces_are_escaped_as_the_whole_is(pieces: list[str]) -> None:
    escaper = Escaper()
    assert "".join([*map(escaper.feed, pieces), escaper.end()]) == escape("".join(pieces))


@given(texts)
def test_a_character_at_a_time_is_as_good_as_all_at_once(text: str) -> None:
    escaper = Escaper()
    assert "".join([*map(escaper.feed, text), escaper.end()]) == escape(text)


@given(texts)
def test_what_was_encoded_is_read_back(text: str) -> None:
    assert decode(encode(text)) == text
    assert is_inert(encode(text))


@given(st.recursive(texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=5))
def test_a_json_document_says_the_same(value: object) -> None:
    document = escape_json(json.dumps(value, ensure_ascii=False))
    assert json.loads(document) == value
    assert is_inert(document)
