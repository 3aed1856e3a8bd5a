"""Traditional or Simplified characters, wide or plain letters: patterns and words take one for the other."""

import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.skills.folded import CANTONESE, SHARED, folded
from agent.skills.matcher import State, Task, match
from agent.skills.patterns import compile_pattern, searchable
from tests.skills.shelves import shelf, skill, triggers, words

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
    assert folded(said) == folded(written) == written
    assert compile_pattern(said).is_in(searchable(written))
    assert compile_pattern(written).is_in(searchable(said))


@given(TEXTS)
def test_each_character_stands_for_itself(text: str) -> None:
    once = folded(text)
    assert len(once) == len(unicodedata.normalize("NFC", text))
    assert folded(once) == once


def test_signs_of_a_pattern_keep_their_meaning() -> None:
    assert not compile_pattern("(週|月)報？").is_in(searchable("(周|月)报?"))
    assert compile_pattern("(週|月)報？").is_in(searchable("月报？"))


def test_words_are_found_either_way() -> None:
    found = skill("a", triggers("nothing", more="  context_signals:\n    keywords: [會議, 周报, ＡＢＣ]\n"))
    (only,) = match(Task("会议 週報 abc"), shelf(found), State(), words).matches
    assert [signal.weight for signal in only.signals] == [0.15]


def test_what_is_simplified_already_loads_nothing() -> None:
    code = (
        "import sys; from agent.skills.folded import folded; folded('周报 café ＡＢ“，—🍵'); "
        "assert 'opencc' not in sys.modules; folded('週報'); assert 'opencc' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)


def test_the_list_of_what_both_have_is_whole() -> None:
    """What GB 2312 can hold is told apart without the library: by this list."""
    both = []
    for character in map(chr, range(0x3400, 0xA000)):
        try:
            character.encode("gb2312")
        except UnicodeEncodeError:
            continue
        if folded(f"週{character}")[1] != character:
            both.append(character)
    assert "".join(both) == SHARED
    assert folded(f"週{CANTONESE}")[1:] == CANTONESE


def test_the_skills_of_the_package_load_nothing() -> None:
    code = (
        "import sys; from tests.skills.test_builtin_skills_fit_their_tasks import used; "
        "assert used('帮我写个周报'); assert 'opencc' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, cwd=Path(__file__).parents[2])
