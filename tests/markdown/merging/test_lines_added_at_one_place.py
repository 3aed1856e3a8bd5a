"""Two people who add lines at one place of a paragraph both find them there."""

import pytest

from agent.markdown.merging.words import merge_words


@pytest.mark.parametrize(
    ("base", "first", "second", "merged"),
    [
        ("tea", "tea\nbread", "tea\nmilk", "tea\nbread\nmilk"),
        ("tea", "tea\nbread\nmilk", "tea\nmilk", "tea\nbread\nmilk"),
        ("茶", "茶\n牛奶", "茶\n面包", "茶\n牛奶\n面包"),
        ("a\nb", "a\none\nb", "a\ntwo\nb", "a\none\ntwo\nb"),
    ],
)
def test_all_added_lines_stay(base: str, first: str, second: str, merged: str) -> None:
    assert merge_words(base, first, second) == merge_words(base, second, first) == merged
    assert merge_words(base, merged, second) == merge_words(base, first, merged) == merged


@pytest.mark.parametrize(
    ("first", "second"), [("tea with milk", "tea with lemon"), ("hot tea\nmilk", "cold tea\nbread")]
)
def test_a_line_that_both_changed_is_no_added_line(first: str, second: str) -> None:
    assert merge_words("tea", first, second) is None
