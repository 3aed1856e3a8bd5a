"""What a note says is read as Obsidian reads it, and code and comments hide it."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown import blocks, contents
from agent.markdown import contents as tags
from agent.markdown.blocks import Heading
from agent.markdown.contents import Contents
from agent.markdown.links import Link
from agent.markdown.note import Note
from agent.markdown.tasks import TaskBox
from tests.markdown.generate import CASES, NOTES, notes


def read(text: str) -> Contents:
    return contents.parse_contents(Note.parse(text.encode()))


def tag_names(text: str) -> list[str]:
    return [*read(text).tags]


def targets(text: str) -> list[str]:
    return [link.target for link in read(text).links]


def check_against_commonmark(text: str, name: str) -> None:
    """Fences, indented code, tables and headings, line by line, against markdown-it."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.disable(["inline", "text_join"])
    kinds = {"fence": "fence", "code_block": "code", "table_open": "table"}
    body = blocks.parse_body(text)
    expected: dict[int, str] = {}
    headings: list[int] = []
    for token in parser.parse(body.text):
        for line in range(*(token.map or (0, 0))):
            if token.type in kinds and body.lines[line].strip():
                expected[line] = kinds[token.type]
        if token.type == "heading_open" and token.level == 0 and token.map:
            headings.append(token.map[0] + 1)
    found = {line: kind for line, kind in enumerate(body.kinds) if kind in kinds.values() and body.lines[line].strip()}
    hidden = {line for line, kind in enumerate(body.kinds) if kind in ("comment", "math")}
    assert found == {line: kind for line, kind in expected.items() if line not in hidden}, name
    assert [heading.line for heading in body.headings] == headings, name


def test_blocks_are_those_of_commonmark_on_whole_notes() -> None:
    for path in NOTES:
        check_against_commonmark(Note.parse(path.read_bytes()).body, str(path))


@pytest.mark.parametrize("text", CASES)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_blocks_are_those_of_commonmark_where_its_rules_meet(text: str, newline: str) -> None:
    check_against_commonmark(text.replace("\n", newline), text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note]]", Link("Note", "")),
        ("[[Note|shown]]", Link("Note", "")),
        ("![[pic.png|300]]", Link("pic.png", "")),
        ("[[Note#Plan#Week 1]]", Link("Note", "Plan#Week 1")),
        ("[[Note#^ab-1|x]]", Link("Note", "^ab-1")),
        ("[[#Here]]", Link("", "Here")),
        ("[[笔记/咖啡|☕]]", Link("笔记/咖啡", "")),
        ("| [[A\\|b]] |", Link("A", "")),
        ("[t](My%20note.md#Part%201)", Link("My note.md", "Part 1")),
        ("[t](<My note.md>)", Link("My note.md", "")),
        ('[t](a.md "title")', Link("a.md", "")),
        ("[t](a_(b).md)", Link("a_(b).md", "")),
        ("![alt](i.png)", Link("i.png", "")),
        ("[`code` t](x.md)", Link("x.md", "")),
        ("[t](https://e.org/#a)", Link("https://e.org/#a", "", external=True)),
        ("see https://e.org/a.", Link("https://e.org/a", "", external=True)),
        ("[ref]: x.md", Link("x.md", "")),
    ],
)
def test_a_link_is_read_as_written(text: str, expected: Link) -> None:
    assert read(text).links == (expected,)


def test_a_picture_in_a_link_is_two_links() -> None:
    assert targets("[![alt](pic.png)](page.md)") == ["page.md", "pic.png"]


def test_links_in_the_header_count_with_their_keys() -> None:
    text = '---\nup: "[[Home]]"\nrelated:\n  - "[[A|a]]"\n  - "[[B]]"\nn: {x: "[[C]]"}\n---\n[[D]]'
    assert [(link.target, link.key) for link in read(text).links] == [
        ("Home", "up"),
        ("A", "related"),
        ("B", "related"),
        ("C", "n"),
        ("D", ""),
    ]


HIDERS = [
    "`{}`",
    "`` ` {} ``",
    "`two\nx {}\nlines`",
    "$$\nx {} $$",
    "%%{}%%",
    "%%\n\n{}\n\n%%",
    "<!-- {} -->",
    "<!--\n{}\n-->",
    "$$\n{}\n$$",
    "```\n{}\n```",
    "~~~~ x\n```\n{}\n~~~~~",
    "- a\n\n  ```\n  {}\n  ```",
    "> ```\n> {}\n> ```",
    "> - a\n>   ```\n>   {}\n>   ```",
    "text\n\n    {}",
    "%%\n```\n{}\n%%\n\n```\n```",
]


@pytest.mark.parametrize("hider", HIDERS)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_code_comments_and_formulas_hide(hider: str, newline: str) -> None:
    text = hider.format("- [ ] do [[Link]] [t](x.md) #tag https://e.org") + "\n\n[[Seen]] #seen\n- [ ] seen"
    found = read(text.replace("\n", newline))
    assert found.tags == ("seen",)
    assert [task.text for task in found.tasks] == ["seen"]
    assert [link.target for link in found.links] == ["Seen"]
    assert found.tasks[0].line == text.count("\n") + 1


def test_an_open_fence_hides_to_the_end() -> None:
    found = read("```\n[[No]] #no\n\n- [ ] no")
    assert (found.links, found.tags, found.tasks) == ((), (), ())


@pytest.mark.parametrize(
    "text",
    ["one ` tick #seen", "100 %% #seen", "costs $5 and $6 #seen", "a <!-- b #seen", "$$ #seen", "```x` #seen"]
    + ["- a\n      #seen", "> ```\n#seen", "- ```\n#seen", "%% #seen", "\\`#x #seen\\`", "````\n```\n````\n#seen"],
)
def test_what_only_looks_like_a_hider_hides_nothing(text: str) -> None:
    assert "seen" in [name.rstrip("\\") for name in tag_names(text)]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("#a #b/c-d_e", ["a", "b/c-d_e"]),
        ("#1984 #y1984 #19-84", ["y1984", "19-84"]),
        ("#标签 #项目/子项，后面 #émoji☕", ["标签", "项目/子项", "émoji☕"]),
        ('(#in) [#also] "#quoted" 「#引」', ["in", "also", "quoted", "引"]),
        ("a#no http://x/#no &#39; ##no [[#No]] [t](#no) [#no](x)", []),
        ("# Heading #yes", ["yes"]),
        ("#a/ #/ #-", ["a", "-"]),
        ("- [ ] task #due", ["due"]),
        ("\\#no", []),
    ],
)
def test_tags_follow_obsidian(text: str, names: list[str]) -> None:
    assert tag_names(text) == names


def test_tags_of_the_header_come_first() -> None:
    assert tag_names("---\ntags: [a, '#b/c', 12, '34', 'x y']\ntag: d, A\n---\n#e") == ["a", "b/c", "x", "y", "d", "e"]
    assert tags.parents("a/b/c") == ("a/b/c", "a/b", "a")


def test_tasks_tell_state_text_block_and_place() -> None:
    text = "---\nx: 1\n---\n- [ ] one ^id-1\n  * [x] `two`\n\t1. [/] three #t\n> [!todo]\n> - [X] four\n"
    text += "- [] no\n- [ ]\n- [ ]no"
    assert read(text).tasks == (
        TaskBox(" ", "one", 4, "id-1"),
        TaskBox("x", "`two`", 5),
        TaskBox("/", "three #t", 6),
        TaskBox("X", "four", 8, quoted=True),
        TaskBox(" ", "", 10),
    )
    assert [task.done for task in read(text).tasks] == [False, True, False, True, False]


def test_headings_are_those_of_the_note_itself() -> None:
    text = "# One #\n\nTwo\nlines\n===\n\n> # quoted\n\n- # listed\n\n#### Four\n- a\n# Last\n#no\n---"
    assert read(text).headings == (
        Heading(1, "One", 1),
        Heading(1, "Two lines", 3),
        Heading(4, "Four", 11),
        Heading(1, "Last", 13),
        Heading(2, "#no", 14),
    )


@given(notes() | st.binary())
def test_reading_never_fails_and_keeps_every_offset(data: bytes) -> None:
    note = Note.parse(data)
    found = contents.parse_contents(note)
    assert len(found.body.visible) == len(note.body)
    assert found.body.visible.count("\n") == note.body.count("\n")
    assert len(found.body.kinds) == len(found.body.lines) == note.body.count("\n") + 1


pieces = st.sampled_from(
    [
        "```",
        "~~~",
        "%%",
        "`",
        "$$",
        "$",
        "<!--",
        "-->",
        "> ",
        "- ",
        "1. ",
        "    ",
        "\t",
        "\n",
        "\n\n",
        "# h",
        "---",
        "===",
    ]
    + ["| a | b |\n|---|---|\n", "- [ ] t", "[[l]]", "[a](b)", "#t", "word", "\\", "\r\n", "^id", "中文", "[!note]"]
)


@given(st.lists(pieces, max_size=30).map("".join))
def test_any_mixture_of_marks_is_read(text: str) -> None:
    found = read(text)
    body = found.body
    assert len(body.visible) == len(body.text)
    assert all(body.lines[task.line - body.first].strip() for task in found.tasks)
    shown = [seen for seen, real in zip(body.visible, body.text, strict=True) if seen != real]
    assert set(shown) <= {"\0"}


HOSTILE: list[tuple[str, Any]] = [
    (mark, mark * (100_000 // len(mark)))
    for mark in ["[", "[[", "[a](", "[a](  ", "`", "`` ", "%%", "a <!--", "$ a", "#", "> ", "- ", "- - \n", "~~~\n"]
    + ["|-|\n", "# h\n", "[[a]]", "- [ ] a\n", "=\n", "\\", "\t", "( ", "[ [a] ", "\0", "\u200f", "a|b\n", "1. ", "*"]
]


@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_hostile_text_is_read_to_its_end(name: str, text: str) -> None:
    found = read(text + "\n\nx\n")
    assert found.body.lines[-2] == "x"
