"""What is added at the end of a note is there what it would be alone, and what stands above stays what it was."""

from random import Random

import pytest
from markdown_it import MarkdownIt

from agent.errors import UserError
from agent.markdown.appending import add_to_section, append_block

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])

BLOCKS = (
    "a paragraph",
    "two lines\nof one",
    "# A heading",
    "Underlined\n===",
    "---",
    "===",
    "***",
    "> a quote",
    "> a quote\ngoes on lazily",
    "> - an item\n>   in a quote",
    "> ```\n> code in a quote",
    "    indented code",
    "```python\ncode\n```",
    "~~~\ncode\n~~~",
    "| a | b |\n| - | - |\n| 1 | 2 |",
    "<div>\ntext",
    "<!-- a\ncomment -->",
    "<pre>\ntext\n</pre>",
    "[name]: https://example.org",
    "text with `code` and **bold**",
    "1986\\. A year",
)
LISTS = (
    "- one\n- two",
    "* one\n  * inner",
    "1. one\n2. two",
    "1) one\n\n   more of it",
    "- ```\n  code in an item",
    "+ one\n\n      code in an item",
)
OPEN = (
    "```\ncode",
    "~~~~ text\ncode\n~~~",
    "<!-- open\ncomment",
    "<script>\nlet a",
    "<pre>\ntext\n\nmore",
    "<?php\n\nx",
)


def blocks(text: str) -> list[tuple[str, str, str]]:
    """The parsed blocks: kind, tag and content of each token."""
    return [(each.type, each.tag, each.content.rstrip("\n")) for each in PARSER.parse(text)]


def text(rng: Random, *, last: tuple[str, ...] = BLOCKS + LISTS) -> str:
    """Some blocks, with a blank line between them."""
    some = [rng.choice(BLOCKS + LISTS[:4]) for _ in range(rng.randrange(3))]
    joined = "# Note\n"
    for each in [*some, rng.choice(last)]:
        joined = append_block(joined.encode(), each.encode()).decode()
    return joined


def without_separators(found: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    return [each for each in found if each != ("html_block", "", "<!-- -->")]


@pytest.mark.parametrize("trials", [400, pytest.param(20_000, marks=pytest.mark.chaos)])
def test_blocks_are_those_of_both(trials: int) -> None:
    rng = Random("append")
    for _ in range(trials):
        before, added = text(rng), rng.choice(BLOCKS + OPEN)
        end = rng.choice(("", "\n", "\n\n", "\n \n"))
        after = append_block((before.rstrip("\n") + end).encode(), added.encode()).decode()
        assert after.startswith(before.rstrip("\n") + end)
        assert without_separators(blocks(after)) == without_separators(blocks(before)) + blocks(added), (before, added)


@pytest.mark.parametrize("trials", [100, pytest.param(5_000, marks=pytest.mark.chaos)])
def test_what_is_open_is_closed_first(trials: int) -> None:
    rng = Random("open")
    for _ in range(trials):
        before, added = text(rng, last=OPEN), rng.choice(BLOCKS + LISTS)
        after = append_block(before.encode(), added.encode()).decode()
        own = blocks(added)
        assert after.startswith(before) and (not own or blocks(after)[-len(own) :] == own), (before, added)
        kinds = [(kind, tag) for kind, tag, _ in without_separators(blocks(before))]
        assert [(kind, tag) for kind, tag, _ in without_separators(blocks(after))][: len(kinds)] == kinds


@pytest.mark.parametrize("before", LISTS)
@pytest.mark.parametrize("added", LISTS)
def test_a_list_below_another_kind_of_list_is_its_own(before: str, added: str) -> None:
    after = blocks(append_block(f"{before}\n".encode(), added.encode()).decode())
    if before[0] != added[0] or before[:2] == "1." != added[:2]:
        assert after == blocks(f"{before}\n") + blocks(added)


@pytest.mark.parametrize(
    ("before", "added", "after"),
    [
        ("# P\n\nChecked today.\n", "---\n\n## Next\ntext", "# P\n\nChecked today.\n\n---\n\n## Next\ntext\n"),
        ("- one\n  - inner", "- two", "- one\n  - inner\n- two\n"),
        ("- one\n\n", "- two", "- one\n\n- two\n"),
        ("* one\n", "- two", "* one\n\n- two\n"),
        ("| a |\n| - |\n| 1 |\n", "| 2 |\n", "| a |\n| - |\n| 1 |\n| 2 |\n"),
        ("| a |\n| - |\n", "total", "| a |\n| - |\n\ntotal\n"),
        ("| a |\n| - |\n", "| b |\n| - |\n", "| a |\n| - |\n\n| b |\n| - |\n"),
        ("text\r\n", "more\nlines", "text\r\n\r\nmore\r\nlines\r\n"),
        ("---\na: 1\n---\n", "text", "---\na: 1\n---\ntext\n"),
        ("", "---\na: 1\n---\ntext", "---\na: 1\n---\ntext\n"),
        ("- one\n", "    code", "- one\n\n<!-- -->\n\n    code\n"),
        ("%%\nhidden\n", "seen", "%%\nhidden\n%%\n\nseen\n"),
        ("text\n%% hidden %%\n", "seen", "text\n%% hidden %%\n\nseen\n"),
        ("$$\na = b\n", "text", "$$\na = b\n$$\n\ntext\n"),
        ("It costs\n$$ a lot\n", "text", "It costs\n$$ a lot\n\ntext\n"),
        ("```\ncode", "text", "```\ncode\n```\n\ntext\n"),
    ],
)  # fmt: skip
def test_what_is_written(before: str, added: str, after: str) -> None:
    assert append_block(before.encode(), added.encode()) == after.encode()


def test_a_line_that_would_make_a_header_of_the_note_is_refused() -> None:
    with pytest.raises(UserError, match="would end a header"):
        append_block(b"---\nmine: this is text\n", b"text\n\n---\n")


def test_what_is_added_to_a_section_swallows_nothing_below_it() -> None:
    note = b"# N\n\n## One\n\ntext\n\n## Two\n\nmine\n"
    after = add_to_section(note, b"## One", b"```\ncode").decode()
    assert after == "# N\n\n## One\n\ntext\n\n```\ncode\n```\n\n## Two\n\nmine\n"
    assert add_to_section(b"# N\n\n```\ncode\n", b"## One", b"text") == b"# N\n\n```\ncode\n```\n\n## One\n\ntext\n"
