"""Traditional or Simplified characters, wide or plain letters: patterns and words take one for the other."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.skills.matching.matcher import MatchState, MatchTask, match
from agent.skills.reading.patterns import compile_pattern, normalize, searchable
from tests.skills.shelves import shelf, skill, triggers, words

IN_BOTH = "乾吒夥後徵拚捱摺於榘菸薹袷醣麴麽"
"""Traditional characters that GB 2312, made for Simplified ones, has too."""
CANTONESE = "咗哋冇嘅啲嘢喺咁畀睇咩乜佢噉"
"""Characters of Cantonese that have no Simplified form."""
TEXTS = st.text(st.sampled_from("週周記记於乾ＡａＺ９é e\u0301整理，？(a|") | st.characters(), max_size=20)


@pytest.mark.parametrize(
    ("said", "written"),
    [
        ("週記", "周记"),
        ("關於會議紀錄", "关于会议纪录"),
        ("乾淨", "干净"),
        ("ＴＬＤＲ９", "TLDR9"),
        ("cafe\u0301", "café"),
    ],
)
def test_either_way_of_writing_finds_the_other(said: str, written: str) -> None:
    assert normalize(said) == normalize(written) == written
    assert compile_pattern(said).is_in(searchable(written))
    assert compile_pattern(written).is_in(searchable(said))


@given(TEXTS)
def test_each_character_stands_for_itself(text: str) -> None:
    once = normalize(text)
    assert len(once) == len(unicodedata.normalize("NFC", text))
    assert normalize(once) == once


def test_signs_of_a_pattern_keep_their_meaning() -> None:
    assert not compile_pattern("(週|月)報？").is_in(searchable("(周|月)报?"))
    assert compile_pattern("(週|月)報？").is_in(searchable("月报？"))


def test_words_are_found_either_way() -> None:
    found = skill("a", triggers("nothing", more="  context_signals:\n    keywords: [會議, 周报, ＡＢＣ]\n"))
    (only,) = match(MatchTask("会议 週報 abc"), shelf(found), MatchState(), words).matches
    assert [signal.weight for signal in only.signals] == [0.15]


def test_characters_of_both_scripts_are_simplified_and_those_of_cantonese_stay() -> None:
    assert not set(IN_BOTH) & set(normalize(IN_BOTH))
    assert normalize(CANTONESE) == CANTONESE
