"""Passages hold every line once, keep code and tables whole, and say where they stand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent.markdown import blocks, passages
from agent.markdown.note import Note
from agent.markdown.passages import Passage, Sizes
from tests.markdown.generate import NOTES, notes
from tests.markdown.test_contents import HOSTILE, pieces


def read(text: str, sizes: Sizes | None = None) -> tuple[Passage, ...]:
    return passages.split_passages(Note.parse(text.encode()), sizes or Sizes())


def check_cover(note: Note, sizes: Sizes) -> None:
    found = passages.split_passages(note, sizes)
    lines = note.text.split("\n")
    first = 1 if note.problem else note.body_line
    covered = [line for passage in found for line in range(passage.first, passage.last + 1)]
    assert covered == sorted(set(covered))
    assert {at for at, line in enumerate(lines, 1) if line.strip() and at >= first} <= set(covered)
    for passage in found:
        assert passage.text.split("\n") == [line.removesuffix("\r") for line in lines[passage.first - 1 : passage.last]]


def test_whole_notes_are_covered_once_and_their_blocks_stay_whole() -> None:
    for path in NOTES:
        note = Note.parse(path.read_bytes())
        check_cover(note, Sizes())
        check_cover(note, Sizes(words=20, least=0))
        body = blocks.parse_body(note.body, note.body_line)
        firsts = {passage.first for passage in passages.split_passages(note, Sizes(words=20, least=0))}
        for at in range(1, len(body.lines)):
            if body.kinds[at] == body.kinds[at - 1] and body.kinds[at] in ("fence", "table"):
                assert body.first + at not in firsts


@given(notes(), st.integers(1, 30), st.integers(0, 3))
def test_generated_notes_are_covered_once(data: bytes, words: int, lines: int) -> None:
    check_cover(Note.parse(data), Sizes(words=words, lines=lines))


@given(st.lists(pieces, max_size=30).map("".join), st.integers(1, 8), st.integers(0, 20))
def test_any_mixture_of_marks_is_covered_once(text: str, words: int, least: int) -> None:
    check_cover(Note.parse(text.encode()), Sizes(words=words, least=least))


def test_short_sections_share_a_passage_below_their_common_heading() -> None:
    text = "---\ncreated: 2026-11-21T14:12:00+08:00\n---\n# Beans\n\nintro\n\n## Shop\n\nopen late\n"
    (only,) = read(text)
    assert (only.headings, only.first, only.last) == (("Beans",), 4, 10)
    first, second = read(text, Sizes(least=0))
    assert first.headings == ("Beans",)
    assert (second.headings, second.text) == (("Beans", "Shop"), "## Shop\n\nopen late")


@pytest.mark.parametrize(
    ("header", "path", "day"),
    [
        ("date: 2026-01-02\ncreated: 2025-01-01", "daily/2024-01-01.md", "2026-01-02"),
        ("created: 2026-01-02 10:00", "a.md", "2026-01-02"),
        ('date: "2026-01-02, a Friday"', "a.md", "2026-01-02"),
        ("x: 1", "daily/2024-02-03.md", "2024-02-03"),
        ("date: soon", "a/12024-02-031.md", ""),
    ],
)
def test_the_day_comes_from_the_header_else_from_the_path(header: str, path: str, day: str) -> None:
    assert passages.day(Note.parse(f"---\n{header}\n---\n".encode()), path) == day


def test_a_long_fence_or_table_is_a_passage_of_its_own() -> None:
    fence = "```\n" + "code and more\n\n" * 200 + "```"
    table = "| a | b |\n|---|---|\n" + "| one | two |\n" * 100
    found = read(f"before\n\n{fence}\n\nbetween\n\n{table}\nafter\n")
    assert [passage.text.split("\n")[0] for passage in found] == ["before", "```", "between", "| a | b |", "after"]
    assert found[1].text == fence


def test_paragraphs_stay_whole_where_they_fit() -> None:
    paragraph = "\n".join(["six words stand in this line"] * 4)
    found = read("\n\n".join([paragraph] * 6), Sizes(words=60))
    assert [passage.text for passage in found] == [f"{paragraph}\n\n{paragraph}"] * 3


def test_chinese_is_measured_by_characters() -> None:
    assert passages.words("我喜欢 light roast 咖啡") == 7
    found = read("\n".join(["今天下午三点去买咖啡豆"] * 40), Sizes(words=110))
    assert [passage.last - passage.first + 1 for passage in found] == [10] * 4


def test_lines_can_be_limited() -> None:
    text = "\n".join("abcdef")
    assert [passage.text for passage in read(text, Sizes(lines=2))] == ["a\nb", "c\nd", "e\nf"]
    assert [passage.text for passage in read(text, Sizes(lines=1, least=0))] == list("abcdef")


def test_a_note_with_a_bad_header_can_be_found_by_all_its_text() -> None:
    found = read("---\ntitle: {{title}}\n---\nbody\n")
    assert "{{title}}" in "".join(passage.text for passage in found)
    assert found[-1].text.endswith("body")
    assert found[-1].last == 4


@pytest.mark.parametrize(("name", "text"), HOSTILE, ids=[name for name, _ in HOSTILE])
def test_hostile_text_is_covered_to_its_end(name: str, text: str) -> None:
    assert read(text + "\n\nthe end")[-1].text.endswith("the end")


SESSION = b"""---
type: session
---
# Roof

%% vault-agent: user {} %%
### 09:00 You

What about the roof?

> [!quote]- search_vault "roof" to 1 note
> %% vault-agent: call {} %%
>
> The slates are cracked.

%% vault-agent: agent {} %%
### 09:01 Agent

It leaks.

> a quote of the person's
"""


def test_of_a_session_what_is_folded_is_no_text_of_its_own() -> None:
    said = "\n".join(each.text for each in passages.split_passages(Note.parse(SESSION)))
    assert "What about the roof?" in said and "It leaks." in said and "a quote of the person's" in said
    assert "slates" not in said and "search_vault" not in said
    other = Note.parse(SESSION.replace(b"type: session", b"type: note"))
    assert "slates" in "\n".join(each.text for each in passages.split_passages(other))
    for each in passages.split_passages(Note.parse(SESSION)):
        rows = SESSION.decode().split("\n")[each.first - 1 : each.last]
        assert each.text == "\n".join(rows)
